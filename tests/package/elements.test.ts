/** The elements on a page without a bundler, as their page in the documentation shows it. */
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { findChromium } from "../../scripts/chromium.mjs";
import { ROOT } from "./run.js";

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
  browser = await chromium.launch({ executablePath: findChromium() ?? "chromium" });
});
afterAll(async () => {
  await browser.close();
  server.close();
});

test("the example of the documentation shows a card, and the table in it", async () => {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", ({ message }) => complaints.push(message));
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/elements.html`);
  await page.locator("sluice-artifact").getByText("cities.csv").first().waitFor();
  await page.locator("sluice-viewer").getByText("717710").waitFor();
  // Nobody asked for the page's icon but the browser.
  expect(complaints.filter((text) => !/404/.test(text))).toEqual([]);
});
