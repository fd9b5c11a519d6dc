/** The site on other hosts: a newer version while the older one is open, and below another path. */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { SITE } from "../../scripts/site.mjs";
import { type Elsewhere, listen } from "../package/tools/elsewhere.js";
import { controlled, firstResult, visit } from "./visit.js";
import { preview } from "vite";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

let folder: string;
let host: Elsewhere;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-site-"));
  await cp(SITE, folder, { recursive: true });
  host = await listen(() => (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const name = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    readFile(join(folder, name)).then(
      (bytes) => response.setHeader("content-type", TYPES[extname(name)] ?? "application/octet-stream").end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  return async () => {
    await host[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  };
});

/** Makes the page another one, and has the service worker know. */
async function publish(version: string): Promise<void> {
  const [page, worker] = [join(folder, "index.html"), join(folder, "sw.js")];
  await writeFile(page, (await readFile(page, "utf8")).replace("<html", `<html data-version="${version}"`));
  const script = await readFile(worker, "utf8");
  const [entry = ""] = /\{url:.index\.html.[^{}]*\}/.exec(script) ?? [];
  const changed = entry.replace(/[0-9a-f]{16}/, (revision) =>
    revision.replace(/^./, (first) => (first === "0" ? "1" : "0")),
  );
  expect(changed).not.toBe(entry);
  await writeFile(worker, script.replace(entry, changed));
}

test("is offered, and taken when somebody wants it: never while they work", async () => {
  await using seen = await visit({ url: `${host.origin}/` });
  const { page } = seen;
  await controlled(page);
  const version = (): Promise<string | undefined> => page.evaluate(() => document.documentElement.dataset["version"]);
  const update = page.locator("playground-bar").getByRole("button", { name: "Update" });
  await publish("next");

  await page.reload();
  await firstResult(page);
  await update.waitFor();
  expect(await version()).toBeUndefined();

  await update.click();
  await page.waitForFunction(() => document.documentElement.dataset["version"] === "next");
  await firstResult(page);
  await controlled(page);
  expect(await update.count()).toBe(0);
  expect(seen.complaints).toEqual([]);
});

test("works from any path, and its addresses stay below it", async () => {
  const folderHost = await preview({
    configFile: false,
    base: "/deep/folder/",
    build: { outDir: SITE },
    preview: { host: "127.0.0.1", port: 0 },
    logLevel: "error",
  });
  try {
    const url = folderHost.resolvedUrls?.local[0] ?? "";
    await using seen = await visit({ url });
    const { page, complaints, requests } = seen;
    await controlled(page);
    await page.reload();
    const address = await page.locator("sluice-artifact a").first().getAttribute("href");
    expect(address?.startsWith(`${url}s/`)).toBe(true);
    expect(await page.evaluate(async (href) => (await fetch(href)).status, address ?? "")).toBe(200);
    expect(requests.filter((each) => !each.startsWith(url) && !each.startsWith("blob:"))).toEqual([]);
    expect(complaints).toEqual([]);
  } finally {
    await folderHost.close();
  }
});
