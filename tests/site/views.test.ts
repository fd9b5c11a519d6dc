/** Every place, in both themes and in two widths: what axe says of it, and what it looks like (check 14). */
import { mkdirSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { violations } from "./accessible.js";
import { leave, PLACES, WINDOWS } from "./places.js";
import { hosted, visitor } from "./visit.js";

/** Pictures are for people to look at. */
const SHOTS = "build/shots";

const site = hosted();

beforeAll(() => void mkdirSync(SHOTS, { recursive: true }));

describe.each(WINDOWS)("in $width px", ({ width, options }) => {
  const seen = visitor({ site, ...options });

  afterEach(() => leave(seen.page));

  test.each(PLACES)("axe finds nothing in $name, in either theme", { timeout: 180_000 }, async ({ name, show }) => {
    const { page } = seen;
    await show(page);
    const picture = `${SHOTS}/${width}-${name.toLowerCase().replaceAll(" ", "-")}`;
    expect(await violations(page, (theme) => page.screenshot({ path: `${picture}-${theme}.png` }))).toEqual([]);
  });

  test("and nothing complained all the time", () => {
    expect(seen.complaints).toEqual([]);
  });
});
