/** Resources of servers that mean harm, or make mistakes: over standard streams, in both eras. */
import { describe, expect, test } from "vitest";
import { NoOpArtifactStore } from "../../../../../web/src/artifacts/no-op.js";
import type { ArtifactStore } from "../../../../../web/src/artifacts/store.js";
import type { ResourceEvent } from "../../../../../web/src/tools/event.js";
import { ResourceReader } from "../../../../../web/src/tools/resources/reader.js";
import { resourceTools } from "../../../../../web/src/tools/resources/tools.js";
import type { ToolNodeError } from "../../../../../web/src/tools/errors.js";
import type { SourceConnection } from "../../../../../web/src/tools/source.js";
import { amount } from "../../../../support/full.js";
import { call, opened, scripted, setting, until, type Setting } from "./setting.js";

type Era = "legacy" | "modern";

/** A program; `handlers` is the text of an object of functions of `params`, `say` and `id`, by method. */
function program(handlers: string): string {
  return `
import { createInterface } from "node:readline";
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const say = (method, params) => write({ method, params });
const capabilities = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } };
const modern = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo: { name: "hostile", version: "1" } }),
  "server/discover": () => ({ ...modern, supportedVersions: ["2026-07-28"], capabilities }),
  "subscriptions/listen": ({ notifications }, say, id) => {
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    say("notifications/subscriptions/acknowledged", { notifications, _meta });
    if (notifications.resourceSubscriptions) methods["resources/subscribe"]?.({ uri: notifications.resourceSubscriptions[0] }, say);
  },
  "resources/unsubscribe": () => ({}),
  "tools/list": () => ({ ...modern, tools: [{ name: "ping", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ resultType: "complete", content: [{ type: "text", text: "pong" }] }),
  ...(${handlers}),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const result = methods[method]?.(params, say, id);
  if (method === "subscriptions/listen") continue;
  if (typeof result?.code === "number") write({ id, error: { message: "SECRET", ...result } });
  else if (result === undefined) write({ id, error: { code: -32601, message: "no" } });
  else write({ id, result });
}`;
}

interface Hostile extends AsyncDisposable {
  readonly at: Setting;
  readonly connection: SourceConnection;
  readonly reader: ResourceReader;
  readonly events: readonly ResourceEvent[];
}

async function hostile(era: Era, handlers: string, store?: ArtifactStore): Promise<Hostile> {
  const at = await setting(store);
  const source = scripted(at, program(handlers), { era });
  const events: ResourceEvent[] = [];
  const connection = await opened(
    {
      open: (options) =>
        source.open({
          ...options,
          onNotice: (notice) => {
            at.notices.push(notice);
            reader.notice(notice);
          },
        }),
    },
    at,
  );
  const reader: ResourceReader = new ResourceReader({
    namespace: "fix",
    store: at.store,
    use: ({ signal = new AbortController().signal }, work) => work(connection.resources, signal),
    onEvent: (event) => events.push(event),
  });
  return { at, connection, reader, events, [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose]() };
}

const uris = (events: readonly ResourceEvent[]): readonly string[] =>
  events.flatMap((event) => (event.kind === "updated" ? [event.uri] : []));

describe.each<Era>(["legacy", "modern"])("%s", (era) => {
  test.each([100, 250, 600])("%i short blobs are as many artifacts", async (count) => {
    await using server = await hostile(
      era,
      `{ "resources/read": () => ({ ...modern, contents: Array.from({ length: ${count} }, (_, index) => ({
        uri: "a:" + index, mimeType: "application/octet-stream",
        blob: Buffer.from(Uint8Array.from({ length: 300 }, (_, at) => (at * 37 + index) % 256)).toString("base64"),
      })) }) }`,
    );
    const { contents } = await server.reader.readResource("a:b");
    expect(contents).toHaveLength(count);
    for (const [index, content] of contents.entries()) {
      if (content.kind !== "artifact") throw new Error(`${content.uri} is a text`);
      const bytes = Buffer.from((await server.at.store.get(content.id, {})) ?? "");
      expect(bytes.equals(Uint8Array.from({ length: 300 }, (_, at) => (at * 37 + index) % 256))).toBe(true);
      expect(content.mime_type).toBe("application/octet-stream");
    }
  });

  test("a long text begins in what a model sees of it where there is no store", async () => {
    await using server = await hostile(
      era,
      `{ "resources/read": () => ({ ...modern, contents: [{ uri: "a:b", text: "the sea ".repeat(9000) }] }) }`,
      new NoOpArtifactStore({ warn: () => undefined }),
    );
    const { reader, at } = server;
    const tools = resourceTools({ reader, namespace: "fix", source: "mcp", sluice: at.sluice });
    const told = (await tools.find(({ name }) => name === "fix.resources_read")?.call({ uri: "a:b" }))?.text ?? "";
    expect(told.length).toBeGreaterThan(10_000);
    expect(told.length).toBeLessThan(11_000);
    expect(told).toContain("content not stored");
  });

  test("a list with wrong entries is the list of the others", async () => {
    await using server = await hostile(
      era,
      `{
        "resources/list": () => ({ ...modern, resources: [
          { uri: "ok:1", name: "one", description: "first", size: 5, icons: 5, annotations: "x" },
          { uri: "a:b" }, { uri: "a:b", name: "n", mimeType: 5 }, { uri: "a:b", name: "n", description: null },
          { uri: 5, name: "n" }, { name: "n" }, null, 5, "x", [], { uri: "a:\\u202e", name: "n" }, { uri: "a:b", name: "n", size: "5" },
          { uri: "ok:2", name: "two", mimeType: "text/plain", title: "Two" },
        ] }),
        "resources/templates/list": () => ({ ...modern, resourceTemplates: [
          { uriTemplate: "ok:{a}", name: "all" }, { uriTemplate: "ok:{b}" }, { uri: "a:b", name: "n" }, { uriTemplate: 5, name: "n" },
        ] }),
      }`,
    );
    expect(await server.reader.listResources()).toMatchObject({
      items: [
        { uri: "ok:1", name: "one", description: "first", size_bytes: 5 },
        { uri: "ok:2", name: "two", mime_type: "text/plain", title: "Two" },
      ],
      left_out: 11,
    });
    expect(await server.reader.listResourceTemplates()).toMatchObject({
      items: [{ uri_template: "ok:{a}", name: "all" }],
      left_out: 3,
    });
  });

  test("a list that is none is still no list", async () => {
    await using server = await hostile(era, `{ "resources/list": () => ({ ...modern, resources: null }) }`);
    await expect(server.reader.listResources()).rejects.toMatchObject({ code: "E_TOOL_SERVER" });
  });

  test.each([
    [-32002, undefined],
    [-32002, { uri: "a:b" }],
    [-32602, { uri: "a:b" }],
    [-32602, undefined],
    [-32602, { uri: 7 }],
  ])("a URI that the server refuses with %i and %j is one that it does not have", async (code, data) => {
    const refused = `() => (${JSON.stringify({ code, data })})`;
    await using server = await hostile(era, `{ "resources/read": ${refused}, "resources/subscribe": ${refused} }`);
    const ways = [() => server.reader.readResource("a:b"), () => server.reader.subscribe("a:b")];
    // Later a server is not asked for each resource.
    for (const way of era === "legacy" ? ways : ways.slice(0, 1)) {
      const error: unknown = await way().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "E_TOOL_CLIENT", category: "non_retryable" });
      expect((error as ToolNodeError).isNotFound).toBe(true);
      // The client makes one code of both where `data.uri` says what they mean.
      const told = data?.uri === "a:b" ? -32602 : code;
      expect((error as Error).message).toBe(
        `The source "fix" has no resource with this URI (JSON-RPC ${told}): check the URI, or list the resources again.`,
      );
    }
  });

  test("of what a server says that changed a host hears what it asked for, and nothing else", async () => {
    await using server = await hostile(
      era,
      `{ "resources/subscribe": ({ uri }, say) => {
        for (const each of [null, {}, { uri: 5 }, { uri: "" }, { uri: "x".repeat(100_000) }, { uri: "a:\\u001b" }, { uri: "a:\\u202e" }, { uri: "a:other" }, { uri }])
          say("notifications/resources/updated", each);
        return {};
      } }`,
    );
    await server.reader.subscribe("a:b");
    await until(() => (server.events.length > 0 ? true : undefined));
    expect((await call(server.connection, "ping")).reduced.value).toBe("pong");
    expect(uris(server.events)).toEqual(["a:b"]);
  });

  test("tens of thousands of notices keep nobody waiting", { timeout: 60_000 }, async () => {
    await using server = await hostile(
      era,
      `{ "resources/subscribe": ({ uri }, say) => {
        for (let index = 0; index < ${amount(20_000, 50_000)}; index += 1)
          say("notifications/resources/updated", { uri: index % 2 === 0 ? uri : "a:" + index });
        for (let index = 0; index < 2000; index += 1) say("notifications/tools/list_changed");
        for (let index = 0; index < 2000; index += 1) say("notifications/resources/list_changed");
        return {};
      } }`,
    );
    const subscribed = server.reader.subscribe("a:b");
    expect((await call(server.connection, "ping")).reduced.value).toBe("pong");
    await subscribed;
    await until(() => (uris(server.events).length > 0 ? true : undefined));
    // Of one change ten a second are told, however long it takes.
    expect(new Set(uris(server.events))).toEqual(new Set(["a:b"]));
    expect(server.events.length).toBeLessThan(2000);
    expect(server.at.notices.filter(({ kind }) => kind === "tools_changed").length).toBeLessThan(500);
  });
});
