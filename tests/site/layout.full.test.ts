/**
 * Twelve views, guarded by their layout: the boxes of what a page is made of, in order, and the colours of tokens. Where a change
 * of it is wanted, `npx vitest run --project=site tests/site/layout.full.test.ts -u` writes the file anew.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { leave, PLACES } from "./places.js";
import { visitor } from "./visit.js";

const VIEWS = [
  "Try",
  "Try with a call that failed",
  "Tools",
  "Resources",
  "Resources with one opened",
  "My Files without files",
  "Chat without questions",
  "Chat with an answer, and what the model saw",
  "Guardrails",
  "Log",
  "the drawer with a table",
  "the servers",
];

/** One part: what it is, its name, where it begins and how wide it is, in steps of 8 CSS pixels. */
type Part = readonly [kind: string, name: string, x?: number, width?: number];

/** The landmarks, dialogs and headings that can be seen, in the order of the page. Text has another width on each machine. */
async function layoutOf(page: Page): Promise<readonly Part[]> {
  return page.evaluate(() => {
    const WANTED =
      "header, nav, main, aside, form, dialog, h1, h2, h3, section[aria-label], section[aria-labelledby], [role=region], [role=tablist], [role=tabpanel]";
    const parts: Part[] = [];
    const look = (root: ParentNode): void => {
      for (const element of root.querySelectorAll<HTMLElement>("*")) {
        const box = element.getBoundingClientRect();
        const isSeen = box.width > 1 && element.checkVisibility({ visibilityProperty: true });
        if (isSeen && element.matches(WANTED)) {
          const isText = /^h\d$/.test(element.localName);
          const name = element.getAttribute("aria-label") ?? (isText ? element.textContent.trim().slice(0, 40) : "");
          const step = (pixels: number): number => Math.round(pixels / 8) * 8;
          const kind = element.getAttribute("role") ?? element.localName;
          parts.push(isText ? [kind, name] : [kind, name, step(box.x), step(box.width)]);
        }
        if (element.shadowRoot !== null) look(element.shadowRoot);
      }
    };
    look(document);
    return parts;
  });
}

/** A line for each part, as the formatter leaves it. */
function listed(parts: readonly Part[]): string {
  const lines = parts.map((part) => `  [${part.map((value) => JSON.stringify(value)).join(", ")}]`);
  return `[\n${lines.join(",\n")}\n]\n`;
}

async function coloursOf(page: Page): Promise<Readonly<Record<string, string>>> {
  return page.evaluate(() => {
    const host = document.querySelector("sluice-playground");
    const probe = document.createElement("span");
    host?.shadowRoot?.append(probe);
    const names =
      "text text-soft surface surface-raised surface-sunken line accent accent-soft sent stored stored-soft seen seen-soft good warn bad";
    const colours = names.split(" ").map((name) => {
      probe.style.color = `var(--${name})`;
      return [name, getComputedStyle(probe).color] as const;
    });
    probe.remove();
    return Object.fromEntries(colours);
  });
}

describe("the layout at 1440 pixels", () => {
  const seen = visitor({ reducedMotion: "reduce" });

  test.each(VIEWS)("of %s", async (name) => {
    const { page } = seen;
    const place = PLACES.find((each) => each.name === name);
    await place?.show(page);
    await page.waitForTimeout(200);
    const parts = await layoutOf(page);
    expect(parts.length).toBeGreaterThan(3);
    await expect(listed(parts)).toMatchFileSnapshot(`layout/${name.replaceAll(/\W+/g, "-")}.json`);
    await leave(page);
  });

  test.each(["light", "dark"] as const)("has the colours of its tokens: %s", async (colorScheme) => {
    const { page } = seen;
    await page.emulateMedia({ colorScheme });
    await expect(`${JSON.stringify(await coloursOf(page), null, 2)}\n`).toMatchFileSnapshot(
      `layout/colours-${colorScheme}.json`,
    );
  });
});
