import { describe, expect, it } from "vitest";
import { DEMO_URL, demoFetch } from "../../../web/playground/demo/server.js";
import { connected } from "./connected.js";

type Fetch = typeof globalThis.fetch;

describe("demoFetch", () => {
  it("knows nothing but the demo server", async () => {
    const { status } = await demoFetch()("https://demo.sluice.invalid/other");

    expect(status).toBe(404);
  });

  it("makes no session of what does not begin one", async () => {
    const response = await post(demoFetch(), { jsonrpc: "2.0", id: 1, method: "tools/list" });

    expect(response.status).toBe(400);
    expect(response.headers.get("mcp-session-id")).toBeNull();
  });

  it("ends a session that is deleted", async () => {
    const fetch = demoFetch();
    const id = await begun(fetch);

    const { status } = await fetch(DEMO_URL, { method: "DELETE", headers: { "mcp-session-id": id } });

    expect(status).toBe(200);
    expect(await pinged(fetch, id)).toBe(404);
  });

  it("keeps a bounded number of sessions, and lets those go that were silent longest", async () => {
    const fetch = demoFetch();
    const first = await begun(fetch);
    const second = await begun(fetch);
    for (let i = 2; i < 16; i += 1) await begun(fetch);
    expect(await pinged(fetch, first)).toBe(200);

    const last = await begun(fetch);

    expect(await pinged(fetch, second)).toBe(404);
    expect(await pinged(fetch, first)).toBe(200);
    expect(await pinged(fetch, last)).toBe(200);
  });

  it("serves clients whose sessions had to go", async () => {
    const fetch = demoFetch();
    const clients = [];
    for (let i = 0; i < 20; i += 1) clients.push(await connected(fetch));

    const answers = await Promise.all(clients.map(({ node }) => node.call("small_talk")));

    expect(answers.map(({ isError }) => isError)).toEqual(clients.map(() => false));
  });

  it("ends an answer when its request is given up", async () => {
    const fetch = demoFetch();
    const id = await begun(fetch);
    const giveUp = new AbortController();
    const listening = await fetch(DEMO_URL, {
      headers: { accept: "text/event-stream", "mcp-session-id": id },
      signal: giveUp.signal,
    });

    const rest = listening.body?.getReader().read();
    giveUp.abort();

    await expect(rest).rejects.toMatchObject({ name: "AbortError" });
    const again = await fetch(DEMO_URL, { headers: { accept: "text/event-stream", "mcp-session-id": id } });
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });
});

function post(fetch: Fetch, message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(DEMO_URL, {
    method: "POST",
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json", ...headers },
    body: JSON.stringify(message),
  });
}

async function begun(fetch: Fetch): Promise<string> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const response = await post(fetch, { jsonrpc: "2.0", id: 1, method: "initialize", params });
  expect(await response.text()).toContain('"sluice-demo"');
  return response.headers.get("mcp-session-id") ?? "";
}

async function pinged(fetch: Fetch, id: string): Promise<number> {
  const response = await post(fetch, { jsonrpc: "2.0", id: 2, method: "ping" }, { "mcp-session-id": id });
  await response.text();
  return response.status;
}
