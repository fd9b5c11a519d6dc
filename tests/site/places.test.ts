/** Every place of the playground in two widths: what axe finds in both themes, and whether it fits a phone (checks 2 and 14). */
import { mkdirSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { tooSmall, tooWide, violations } from "./page-checks.js";
import { leave, PLACES, WINDOWS } from "./places.js";
import { visitor } from "./visit.js";
import { isFull } from "../support/full.js";

/** A folder for pictures of all places, for people to look at; undefined takes none. */
const SHOTS = process.env["SLUICE_SHOTS"];

describe.each(WINDOWS)("in $width px", ({ width, options }) => {
  const seen = visitor(options);
  const isPhone = width < 500;

  afterEach(() => leave(seen.page));

  // A brief run sees the phone alone, where more may go wrong.
  test.runIf(isFull || isPhone).each(PLACES)(
    "$name is accessible in either theme, and fits",
    { timeout: 180_000 },
    async ({ name, show }) => {
      const { page } = seen;
      await show(page);
      expect(isPhone ? await tooWide(page) : []).toEqual([]);
      expect(isPhone ? await tooSmall(page) : []).toEqual([]);
      const shoot = async (theme: string): Promise<void> => {
        if (SHOTS === undefined) return;
        mkdirSync(SHOTS, { recursive: true });
        await page.screenshot({ path: `${SHOTS}/${width}-${name.toLowerCase().replaceAll(" ", "-")}-${theme}.png` });
      };
      expect(await violations(page, shoot)).toEqual([]);
    },
  );

  test.runIf(isFull || isPhone)("and the console stays silent", () => {
    expect(seen.complaints).toEqual([]);
  });
});
