/** Every place, in both themes and in two widths: what axe says of it, and what it looks like (check 14). */
import { mkdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { violations } from "./accessible.js";
import { leave, PLACES, WINDOWS } from "./places.js";
import { served, visit, type Served, type Visit } from "./visit.js";

/** Pictures are for people to look at. */
const SHOTS = "build/shots";

let site: Served;

beforeAll(async () => {
  mkdirSync(SHOTS, { recursive: true });
  site = await served();
});
afterAll(() => site[Symbol.asyncDispose]());

describe.each(WINDOWS)("in $width px", ({ width, options }) => {
  let seen: Visit;

  beforeAll(async () => {
    seen = await visit(site, options);
  });
  afterEach(() => leave(seen.page));
  afterAll(() => seen[Symbol.asyncDispose]());

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
