/** What a first visit loads before its first result: the demo's PDF, gated, with the sentences about it. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { FIRST_VISIT, MARGIN } from "../../scripts/size.mjs";
import { exactly, visitor } from "./visit.js";

const seen = visitor();

test("a first visit loads less than its budget before the first result", async () => {
  // The fonts are fetched behind it.
  await expect.poll(() => seen.requests.some((url) => url.endsWith(".woff2"))).toBe(true);
  const before = seen.requests.slice(
    0,
    seen.requests.findIndex((url) => url.endsWith(".woff2")),
  );
  const weight = { page: 0, all: 0 };
  for (const url of new Set(before)) {
    const size = gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length;
    weight.all += size;
    if (!/worker-|\.wasm/.test(url)) weight.page += size;
  }
  // Other versions of compilers and bundlers make other bytes.
  expect(weight.page).toBeLessThan(FIRST_VISIT.page * MARGIN);
  expect(weight.all).toBeLessThan(FIRST_VISIT.all * MARGIN);
});

test("what it sees is what the connected demo gives", async () => {
  const { page } = seen;
  const view = page.locator("playground-try");
  const first = await exactly(view);
  await page.getByRole("button", { name: "A PDF of 4 MB", disabled: false }).click();
  await expect.poll(() => view.getByRole("complementary").getByRole("listitem").count()).toBe(2);
  await view.getByText("done").nth(1).waitFor();
  const id = /demo_[0-9a-f]{12}/;
  expect((await exactly(view))?.replace(id, "")).toBe(first?.replace(id, ""));
  expect(first).toMatch(id);
});
