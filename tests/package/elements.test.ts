/** The elements on a page without a bundler, as their page in the documentation shows it, and on a server. */
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchChromium, recordComplaints } from "../support/chromium.js";
import { ROOT, run } from "./run.js";

const app = inject("app");
const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

let browser: Browser;
let server: Server;

beforeAll(async () => {
  const [, example = ""] = /```html\n([\s\S]*?)```/.exec(await readFile(join(ROOT, "docs/elements.md"), "utf8")) ?? [];
  await writeFile(join(app, "elements.html"), example);
  server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
    readFile(join(app, path)).then(
      (bytes) => response.setHeader("content-type", TYPES[extname(path)] ?? "application/octet-stream").end(bytes),
      () => response.writeHead(404).end(),
    );
  }).listen(0, "127.0.0.1");
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  server.close();
});

test("the example of the documentation shows a card, and the table in it", async () => {
  const page = await browser.newPage();
  const complaints = recordComplaints(page, { isStrict: true });
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/elements.html`);
  await page.locator("sluice-artifact").getByText("cities.csv").first().waitFor();
  await page.locator("sluice-viewer").getByText("717710").waitFor();
  expect(complaints).toEqual([]);
});

test("a server imports them, twice if it has to, and has no DOM of them", async () => {
  const program = `
    const elements = await import("mcp-sluice/ui");
    const again = await import(import.meta.resolve("mcp-sluice/ui") + "?again");
    const dom = ["customElements", "HTMLElement", "document", "window"].filter((name) => globalThis[name] !== undefined);
    console.log(JSON.stringify([Object.keys(elements), again.SluiceMeter !== elements.SluiceMeter, dom]));
  `;
  const { stdout, stderr } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: app });
  expect(stderr).toBe("");
  const names: unknown = expect.arrayContaining(["SluiceArtifact", "SluiceMeter", "SluiceViewer"]);
  expect(JSON.parse(stdout)).toEqual([names, true, []]);
});

test("a page that loads them twice, as two parts of an app may, keeps those of the first time", async () => {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/elements.html`);
  // As text: Vitest rewrites imports in functions.
  const isFirst = await page.evaluate(`(async () => {
    const path = "/node_modules/mcp-sluice/dist/ui/index.js";
    const [first] = [await import(path), await import(path + "?again")];
    return customElements.get("sluice-meter") === first.SluiceMeter;
  })()`);
  expect(isFirst).toBe(true);
});
