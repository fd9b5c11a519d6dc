/** What the tests take for a complaint of a page. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { visit } from "./visit.js";

test("the icon that a browser looks for by itself is none, another file that is not there is one", async () => {
  const server = createServer(({ url }, response) => {
    if (url === "/") response.setHeader("content-type", "text/html").end("<!doctype html><title>A page</title>");
    else response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await using seen = await visit({ url, waits: false });
  // The headless shell does not look for one.
  const statuses = ["favicon.ico", "missing.png"].map((name) =>
    seen.page.evaluate(async (path) => (await fetch(path)).status, name),
  );
  expect(await Promise.all(statuses)).toEqual([404, 404]);
  await expect.poll(() => seen.complaints).toEqual([expect.stringContaining("404")]);
});
