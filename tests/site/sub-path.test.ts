/** The site in a folder of a host, as static files are put. */
import { preview } from "vite";
import { expect, test } from "vitest";
import { SITE } from "../../scripts/site.mjs";
import { controlled, served, visit } from "./visit.js";

test("works from any path, and its addresses stay below it", async () => {
  await using site = await served();
  const host = await preview({
    configFile: false,
    base: "/deep/folder/",
    build: { outDir: SITE },
    preview: { host: "127.0.0.1", port: 0 },
    logLevel: "error",
  });
  try {
    const url = host.resolvedUrls?.local[0] ?? "";
    await using seen = await visit(site, { url });
    const { page, complaints, requests } = seen;
    await controlled(page);
    await page.reload();
    const address = await page.locator("sluice-artifact a").first().getAttribute("href");
    expect(address?.startsWith(`${url}s/`)).toBe(true);
    expect(await page.evaluate(async (href) => (await fetch(href)).status, address ?? "")).toBe(200);
    expect(requests.filter((each) => !each.startsWith(url) && !each.startsWith("blob:"))).toEqual([]);
    expect(complaints).toEqual([]);
  } finally {
    await host.close();
  }
});
