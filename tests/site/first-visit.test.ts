/** What somebody sees who comes for the first time (checks 1, 3, 4 and 5). */
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { SITE_URL, visitor } from "./visit.js";

const seen = visitor();

/** Gzipped bytes of what was fetched: everything, and what the page itself is made of. */
const weight = { all: 0, shell: 0 };

beforeAll(async () => {
  // The service worker is fetched after the first result, and the site by it.
  const before = seen.requests.slice(0, seen.requests.findIndex((url) => url.endsWith("/sw.js")) >>> 0);
  for (const url of new Set(before)) {
    const size = gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length;
    weight.all += size;
    if (!/worker-|\.wasm/.test(url)) weight.shell += size;
  }
});

describe("without any set-up", () => {
  test("a result is on screen, and three ways to begin", async () => {
    const { page } = seen;
    await page.locator("sluice-artifact").first().getByText("image/png").waitFor();
    for (const name of [/Run the 4 MB PDF demo/, /Drop a CallToolResult/, /Connect my server/]) {
      expect(await page.getByRole("button", { name }).count()).toBe(1);
    }
  });

  test("nothing complains, and nothing is asked of any other origin", () => {
    expect(seen.complaints).toEqual([]);
    expect(seen.requests.filter((url) => !url.startsWith(SITE_URL) && !url.startsWith("blob:"))).toEqual([]);
  });

  test("the shell is below 120 KB gzipped, and all before the first result below 433 KB", () => {
    expect(weight.shell).toBeLessThan(120_000);
    expect(weight.all).toBeLessThan(433_000);
  });
});
