/** `<sluice-result>`: for screen readers and strict pages. */
import { beforeEach, expect, test, vi } from "vitest";
import { refusedBy, violations } from "../support.js";
import { all, begin, choose, MIXED, PATIENT, shown } from "./fixtures.js";

beforeEach(begin);

test.each(["split", "diff", "raw"] as const)("axe finds nothing in %s", async (view) => {
  const element = await shown(MIXED, { clamped: true });
  await choose(element, view);
  await vi.waitFor(() => expect(all(element, view === "split" ? "li" : ".line").length).toBeGreaterThan(4), PATIENT);
  expect(await violations(element)).toEqual([]);
});

test("a page without inline styles shows all of it", async () => {
  const refused = await refusedBy(async () => {
    const element = await shown(MIXED);
    await choose(element, "diff");
    await vi.waitFor(() => expect(all(element, ".line").length).toBeGreaterThan(4), PATIENT);
  });
  expect(refused).toEqual([]);
});
