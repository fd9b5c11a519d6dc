/**
 * Checks of a page: accessibility in both themes, and whether it fits a narrow window and can be touched.
 * @module
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright-core";

/** As text: what the driver evaluates, the page's policy lets pass. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const COLOUR_RULES = ["color-contrast", "link-in-text-block"] as const;

/**
 * One line for each violation. `seen` is called in each theme. The themes differ in colours alone, so all rules run in the first
 * one, and in the second those that look at colours.
 */
export async function violations(
  page: Page,
  seen: (theme: "light" | "dark") => Promise<unknown> = async () => undefined,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [colorScheme, rules] of [["light"], ["dark", COLOUR_RULES]] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await seen(colorScheme);
    found.push(...(await inThisTheme(page, rules)).map((line) => `${colorScheme}: ${line}`));
  }
  return found;
}

async function inThisTheme(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(SOURCE);
  return page.evaluate(async (only) => {
    const { axe: checker } = globalThis as unknown as { axe: typeof axe };
    // A frame of a preview has no scripts.
    const { violations: all } = await checker.run(document, {
      iframes: false,
      ...(only !== undefined && { runOnly: { type: "rule", values: [...only] } }),
    });
    return all.flatMap(({ id, nodes }) => nodes.map(({ html, target }) => `${id}: ${target.join(" ")}: ${html}`));
  }, rules);
}

/** CSS pixels that a finger needs. */
export const FINGER = 44;

/** Something on a page, and a length of it in CSS pixels. */
export interface Extent {
  readonly name: string;
  readonly pixels: number;
}

/** What can be scrolled sideways and is neither a piece of code nor a preview, and how far. */
export async function tooWide(page: Page): Promise<readonly Extent[]> {
  return page.evaluate(() => {
    const found: Extent[] = [];
    const look = (root: ParentNode, path: string): void => {
      for (const element of root.querySelectorAll<HTMLElement>("*")) {
        const { overflowX } = getComputedStyle(element);
        const pixels = /auto|scroll/.test(overflowX) ? element.scrollWidth - element.clientWidth : 0;
        if (pixels > 1 && !element.matches("pre")) {
          found.push({ name: `${path} ${element.localName}.${element.className}`, pixels });
        }
        if (element.shadowRoot !== null && element.localName !== "sluice-viewer") {
          look(element.shadowRoot, `${path} ${element.localName}`);
        }
      }
    };
    look(document, "");
    const pixels = document.documentElement.scrollWidth - innerWidth;
    if (pixels > 0) found.push({ name: "the page", pixels });
    return found;
  });
}

/** What is touched, and how high it is; a label is touched for its field. */
export async function targets(page: Page): Promise<readonly Extent[]> {
  return page.evaluate(() => {
    const touched = "a[href], button, input, select, textarea, summary, [role=menuitem], [role=option], [role=tab]";
    const found: Extent[] = [];
    const look = (root: ParentNode): void => {
      for (const element of root.querySelectorAll<HTMLElement>("*")) {
        if (element.shadowRoot !== null) look(element.shadowRoot);
        // A link within a text is as high as its line (WCAG 2.2, 2.5.8).
        if (element.matches(".formatted a")) continue;
        if (!element.matches(touched) || !element.checkVisibility({ visibilityProperty: true })) continue;
        const { height } = (element.closest("label") ?? element).getBoundingClientRect();
        const name = element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 40);
        if (height > 0) found.push({ name: `${element.localName} "${name}"`, pixels: height });
      }
    };
    look(document);
    return found;
  });
}

/** What is touched, and is not as high as a finger needs. */
export async function tooSmall(page: Page): Promise<readonly Extent[]> {
  return (await targets(page)).filter(({ pixels }) => Math.round(pixels) < FINGER);
}
