import { describe, expect, it, vi } from "vitest";
import { DEMO_URL } from "../../../web/playground/demo/example.js";
import { demoFetch } from "../../../web/playground/demo/server.js";
import { connected, type DemoClient } from "./connected.js";

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

  it.each(["", "[]", "null", "{", '{"jsonrpc":"2.0","id":1,"method":5}', '{"jsonrpc":"2.0"}'])(
    "refuses what is no message: %s",
    async (body) => {
      const fetch = demoFetch();
      const id = await begun(fetch);

      for (const headers of [{}, { "mcp-session-id": id }]) {
        const response = await fetch(DEMO_URL, { method: "POST", headers, body });

        expect(response.status).toBe(400);
        expect(await response.text()).toContain('"error"');
      }
    },
  );

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

describe("the demo server's resources", () => {
  it("are listed on several pages", async () => {
    const { node } = await connected();

    const { items } = await node.listResources();

    expect(items.map(({ uri }) => uri)).toEqual([
      "note://today",
      "metrics://live",
      "catalogue://products.csv",
      "report://sales/Q1",
      "report://sales/Q2",
      "report://sales/Q3",
      "report://sales/Q4",
    ]);
  });

  it("have templates whose variables are completed", async () => {
    const { node } = await connected();

    const { items } = await node.listResourceTemplates();

    expect(items.map(({ uri_template }) => uri_template)).toEqual([
      "report://sales/{quarter}",
      "table://{region}/{year}",
    ]);
    expect(await node.complete("report://sales/{quarter}", "quarter", "")).toEqual(["Q1", "Q2", "Q3", "Q4"]);
    expect(await node.complete("table://{region}/{year}", "region", "s")).toEqual(["South"]);
    expect(await node.complete("table://{region}/{year}", "year", "2024")).toEqual(["2024"]);
  });

  it.each([
    ["note://today", "text", "text/plain"],
    ["metrics://live", "text", "application/json"],
    ["catalogue://products.csv", "text", "text/csv"],
    ["table://West/2024", "text", "text/csv"],
    ["report://sales/Q3", "artifact", "application/pdf"],
  ])("are read: %s", async (uri, kind, mime_type) => {
    const { node } = await connected();

    const { contents } = await node.readResource(uri);

    expect(contents).toEqual([expect.objectContaining({ kind, uri, mime_type })]);
  });

  it.each(["report://sales/Q5", "table://Nowhere/2024", "table://West/1999", "note://yesterday"])(
    "are not made up: %s",
    async (uri) => {
      const { node } = await connected();

      await expect(node.readResource(uri)).rejects.toThrow("no resource with this URI");
    },
  );

  it("tell of a note that was written", async () => {
    const client = await connected();
    const { node } = client;
    await node.readResource("note://today");
    await node.subscribe("note://today");

    await node.call("write_note", { text: "It rains." });

    await vi.waitFor(() => expect(updated(client)).toEqual(["note://today"]));
    expect((await node.readResource("note://today")).contents).toEqual([
      expect.objectContaining({ text: "It rains." }),
    ]);
  });

  it("tell of new metrics while somebody is subscribed", async () => {
    const client = await connected();
    const { node } = client;
    await node.subscribe("metrics://live");

    await vi.waitFor(() => expect(updated(client)).toContain("metrics://live"));

    await node.unsubscribe("metrics://live");
    const { contents } = await node.readResource("metrics://live");
    expect(contents).toEqual([expect.objectContaining({ text: expect.stringMatching(/"reading": [1-9]/) })]);
  });
});

function updated({ events }: DemoClient): string[] {
  return events.flatMap((event) =>
    event.kind === "resource" && event.event.kind === "updated" ? [event.event.uri] : [],
  );
}
