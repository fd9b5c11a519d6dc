/**
 * What axe finds in the page as it is, in both themes.
 * @module
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright-core";

/** As text: what the driver evaluates, the page's policy lets pass. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** One line for each thing that axe finds; none is as it should be. `seen` is called in each theme. */
export async function violations(
  page: Page,
  seen: (theme: "light" | "dark") => Promise<unknown> = async () => undefined,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await seen(colorScheme);
    found.push(...(await inThisTheme(page)).map((line) => `${colorScheme}: ${line}`));
  }
  return found;
}

async function inThisTheme(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(SOURCE);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as { axe: typeof axe };
    // A frame of a preview has no scripts.
    const { violations: all } = await checker.run(document, { iframes: false });
    return all.flatMap(({ id, nodes }) => nodes.map(({ html, target }) => `${id}: ${target.join(" ")}: ${html}`));
  });
}
