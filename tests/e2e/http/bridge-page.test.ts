/** `sluice bridge`, as a browser lets pages use it. */
import type { ServerResponse } from "node:http";
import { chromium } from "playwright-core";
import { expect, it } from "vitest";
import { findChromium } from "../../../scripts/chromium.mjs";
import { bridge, upstream } from "./proxies.js";

const html = (_request: unknown, response: ServerResponse): void =>
  void response.setHeader("content-type", "text/html").end("<!doctype html><title>A page</title>");

/** Runs on the page: a session from its beginning to its end. */
const visit = async (url: string): Promise<unknown> => {
  const send = (message: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const version = "2025-11-25";
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "page", version: "1.0.0" } };
  const begun = await send({ id: 0, method: "initialize", params });
  const headers = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": version };
  await send({ method: "notifications/initialized" }, headers);
  const stream = await fetch(url, { headers: { ...headers, accept: "text/event-stream" } });
  const call = { id: 1, method: "tools/call", params: { name: "large", arguments: { bytes: 20_000_000 } } };
  // What only the later era sends, which a browser asks for first.
  const answer = await send(call, { ...headers, "mcp-param-region": "eu", "mcp-name": "large" });
  const { length } = await answer.text();
  await stream.body?.cancel();
  const ended = await fetch(url, { method: "DELETE", headers });
  return { session: headers["mcp-session-id"], stream: stream.status, length, ended: ended.status };
};

it("a page has a session from its beginning to its end, and then a page from elsewhere has none", async () => {
  await using offered = await bridge();
  await using ours = await upstream(html);
  await using theirs = await upstream(html);
  const browser = await chromium.launch({ executablePath: findChromium() ?? "chromium" });
  try {
    const page = await browser.newPage();
    await page.goto(ours.url);
    const found = (await page.evaluate(visit, offered.url)) as Record<string, unknown>;
    expect(found).toMatchObject({ stream: 200, ended: 200 });
    expect(found["session"]).toMatch(/^[\w-]{36}$/);
    expect(found["length"]).toBeGreaterThan(26_000_000);
    await page.goto(theirs.url);
    await expect(page.evaluate(visit, offered.url)).rejects.toThrow("Failed to fetch");
  } finally {
    await browser.close();
  }
});
