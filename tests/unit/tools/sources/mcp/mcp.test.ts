/** MCP servers as sources: connecting and calling, lists in pages, and requests that never leave. */
import { describe, expect, it } from "vitest";
import { createSluice } from "../../../../../web/src/index.js";
import type { FetchLike } from "../../../../../web/src/mcp/http/gate-fetch.js";
import { ToolClientError, ToolConnectionError } from "../../../../../web/src/tools/errors.js";
import {
  expectedHash,
  SETTINGS,
  useConnection,
  useFixture,
  call,
  hashOf,
  opened,
  over,
  setting,
  until,
} from "./setting.js";
import { listening } from "./http-server.js";

const PDF = 300_000;

const fixture = useFixture();

describe.each(SETTINGS)("%s", (_name, transport, era) => {
  const own = useConnection((at) => fixture(at, transport, era));

  it("lists tools with their schemas whole, and no other tools", async () => {
    const tools = await own.connection.tools(new AbortController().signal);
    expect(tools.some(({ name }) => name.includes("artifact_read"))).toBe(false);
    const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.input_schema;
    expect(schema).toMatchObject({ $defs: { address: { $anchor: "addressDef" } }, if: {}, else: {} });
    expect(tools.find(({ name }) => name === "structured")?.output_schema).toMatchObject({
      required: ["name", "size", "data"],
    });
    expect(tools.every(({ isRepeatable }) => !isRepeatable)).toBe(true);
  });

  it("stores a block's bytes, and gives a reference and a sentence", async () => {
    const { reduced, isError } = await call(own.connection, "embedded_blob", { bytes: PDF });
    expect(isError).toBe(false);
    expect(reduced.text).toMatch(/"id":"fix_[0-9a-f]{12}"/);
    expect(reduced.text).toContain("PDF");
    expect(await hashOf(reduced, own.at)).toBe(await expectedHash(own.connection, "pdf", PDF));
  });

  it("stores what is in structured content, whatever the schema says", async () => {
    await own.connection.tools(new AbortController().signal);
    for (const tool of ["structured", "structured_only"]) {
      const { reduced } = await call(own.connection, tool, { bytes: PDF });
      expect(reduced.text).not.toContain("JVBERi");
      expect(await hashOf(reduced, own.at)).toBe(await expectedHash(own.connection, "pdf", PDF));
    }
  });

  it("gates also what is for an app alone", async () => {
    await own.connection.tools(new AbortController().signal);
    const { reduced } = await call(own.connection, "app_bytes", { bytes: PDF });
    expect(await hashOf(reduced, own.at)).toBe(await expectedHash(own.connection, "pdf", PDF));
  });

  it("gives what is small as it is, in either dialect", async () => {
    const observed = await call(own.connection, "test_simple_text");
    expect(observed.reduced.value).toBe("This is a simple text response for testing.");
    const { reduced } = await call(own.connection, "test_simple_text", {}, { dialect: "mcp" });
    expect(reduced.value).toMatchObject({ content: [{ type: "text" }] });
    expect(reduced.changed).toBe(false);
  });

  it("keeps links", async () => {
    const { reduced } = await call(own.connection, "link", { count: 2 });
    expect(reduced.text).toContain("fixture://files/2.pdf");
    expect(reduced.text).toContain('"fetched":false');
  });

  it("reads links where it is given what reads them", async () => {
    const uris: string[] = [];
    const sluice = await createSluice({
      store: own.at.store,
      config: { resources: { auto_read_if_size_under_bytes: 1000 } },
    });
    await using other = await opened(fixture({ ...own.at, sluice }, transport, era), own.at);
    const readResource = async (uri: string): Promise<unknown> => {
      uris.push(uri);
      return { contents: [{ uri, text: "what is behind the link" }] };
    };
    const { reduced } = await call(other, "link", {}, { readResource });
    expect(uris).toEqual(["fixture://files/1.pdf"]);
    expect(reduced.text).toContain("what is behind the link");
  });

  it("says that a tool failed, and gives its result reduced", async () => {
    const { reduced, isError } = await call(own.connection, "is_error", { bytes: PDF });
    expect(isError).toBe(true);
    expect(await hashOf(reduced, own.at)).toBe(await expectedHash(own.connection, "png", PDF));
    expect((await call(own.connection, "test_error_handling")).isError).toBe(true);
  });

  it("throws an error of the protocol, with the server's reason", async () => {
    const failed = call(own.connection, "protocol_error", { code: -32602, message: "city must be Oslo or Bergen" });
    await expect(failed).rejects.toThrow(ToolClientError);
    await expect(failed).rejects.toThrow(/ It says: ".*city must be Oslo or Bergen"$/);
    await expect(call(own.connection, "no_such_tool")).rejects.toThrow(/"no_such_tool"/);
  });

  it("tells of progress", async () => {
    const told: unknown[] = [];
    await call(own.connection, "progress", { steps: 3 }, { onProgress: (progress) => told.push(progress) });
    expect(told).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
  });

  it("gives up a call with the reason, and lives on", async () => {
    const abort = new AbortController();
    const slow = call(own.connection, "slow", {}, { signal: abort.signal });
    const reason = new Error("no longer wanted");
    // What is answered was sent after it.
    await call(own.connection, "greet", { name: "Ada" });
    abort.abort(reason);
    await expect(slow).rejects.toBe(reason);
    await expect(call(own.connection, "slow", {}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect((await call(own.connection, "greet", { name: "Ada" })).reduced.value).toBe("Hello, Ada!");
  });

  it("keeps calls apart that run at the same time", async () => {
    const sizes = Array.from({ length: 20 }, (_, index) => 5000 + index);
    const results = await Promise.all(
      sizes.map(async (bytes) => {
        const scope = { session_id: String(bytes % 3) };
        const { reduced } = await call(own.connection, "embedded_blob", { bytes }, { scope });
        expect(reduced.artifacts[0]?.scope.session_id).toBe(scope.session_id);
        return reduced.artifacts[0]?.size_bytes;
      }),
    );
    expect(results).toEqual(sizes);
  });

  it("declines what nobody can be asked", async () => {
    const tool = era === "legacy" ? "elicit" : "multi_input";
    expect((await call(own.connection, tool)).reduced.text).toMatch(/\{\\*"action\\*":\\*"decline\\*"/);
    expect((await call(own.connection, "greet", { name: "Ada" })).isError).toBe(false);
  });

  it("tells of a change of the tools", async () => {
    own.at.notices.length = 0;
    await call(own.connection, "test_trigger_tool_change");
    expect(await until(() => own.at.notices[0])).toEqual({ kind: "tools_changed" });
  });

  it("tells of a resource that it is subscribed to, and of no other", async () => {
    const { resources } = own.connection;
    const signal = AbortSignal.timeout(10_000);
    await resources?.subscribe("test://watched-resource", signal);
    await resources?.subscribe("test://static-text", signal);
    own.at.notices.length = 0;
    await call(own.connection, "touch");
    expect(await until(() => own.at.notices[0])).toEqual({ kind: "resource_updated", uri: "test://watched-resource" });
    await resources?.unsubscribe("test://watched-resource", signal);
    own.at.notices.length = 0;
    await call(own.connection, "touch");
    await call(own.connection, "touch", { uri: "test://static-text" });
    expect(await until(() => own.at.notices[0])).toEqual({ kind: "resource_updated", uri: "test://static-text" });
    await resources?.unsubscribe("test://static-text", signal);
  });

  it("lists resources and templates, and completes a template's variable", async () => {
    const { resources } = own.connection;
    const signal = AbortSignal.timeout(10_000);
    const listed = await resources?.list(signal);
    expect(listed?.find(({ uri }) => uri === "test://static-binary")).toEqual({
      uri: "test://static-binary",
      name: "static-binary",
      description: "A static image",
      mime_type: "image/png",
    });
    const templates = await resources?.templates(signal);
    expect(templates?.map(({ uri_template }) => uri_template)).toContain("test://file/{kind}/{bytes}");
    expect(await resources?.complete("test://template/{id}/data", "id", "par", signal)).toEqual([
      "paris",
      "park",
      "party",
    ]);
  });

  it("reads a resource: short text as it is, long text and bytes as artifacts", async () => {
    const reading = { scope: { session_id: "r" }, inlineChars: 1000, signal: AbortSignal.timeout(10_000) };
    const short = await own.connection.resources?.read("test://static-text", reading);
    expect(short).toMatchObject({
      contents: [
        {
          kind: "text",
          uri: "test://static-text",
          mime_type: "text/plain",
          text: "This is the content of the static text resource.",
        },
      ],
      ...(era === "modern" && { ttl_ms: 60_000, cache_scope: "private" }),
    });
    const bytes = await own.connection.resources?.read("test://file/pdf/300000", reading);
    const [file] = bytes?.contents ?? [];
    expect(file).toMatchObject({ kind: "artifact", mime_type: "application/pdf", size_bytes: PDF });
    const id = file?.kind === "artifact" ? file.id : "";
    expect((await own.at.store.get(id, reading.scope))?.length).toBe(PDF);
    expect(await own.at.store.exists(id, { session_id: "another" })).toBe(false);
    const words = await own.connection.resources?.read("test://words/5000", reading);
    expect(words?.contents).toMatchObject([{ kind: "artifact", mime_type: "text/plain", size_bytes: 5000 }]);
    const more = await own.connection.resources?.read("test://words/30000", { ...reading, inlineChars: 100_000 });
    expect(more?.contents).toMatchObject([{ kind: "text", text: "word ".repeat(6000) }]);
    await expect(own.connection.resources?.read("test://nowhere", reading)).rejects.toThrow(ToolClientError);
  });
});

it.each(["stdio", "http"] as const)("finds out the later era by itself: %s", async (transport) => {
  const at = await setting();
  await using connection = await opened(fixture(at, transport), at);
  const read = await connection.resources?.read("test://static-text", {
    scope: {},
    inlineChars: 10,
    signal: AbortSignal.timeout(5000),
  });
  expect(read?.ttl_ms).toBe(60_000);
});

/** As browsers fail, when they fail. */
function failing(fails: (headers: Headers) => boolean, cause?: Error): { fetch: FetchLike; asked: string[] } {
  const asked: string[] = [];
  const fetch: FetchLike = async (url, init) => {
    const headers = new Headers(init?.headers);
    asked.push(headers.get("mcp-method") ?? "earlier era");
    if (fails(headers)) throw new TypeError("Failed to fetch", { cause });
    return globalThis.fetch(url, init);
  };
  return { fetch, asked };
}

describe("a request that a browser does not let leave", () => {
  it("with headers of the later era only: the server is spoken to in the earlier one", async () => {
    await using server = await listening("legacy", () => false);
    const at = await setting();
    const { fetch } = failing((headers) => headers.has("mcp-method"));
    await using connection = await opened(over(at, { url: server.url, fetch }), at);
    expect((await call(connection, "hello")).reduced.value).toBe("hello");
  });

  it("in either era is a failed connection", async () => {
    const at = await setting();
    const { fetch, asked } = failing(() => true);
    const refused = opened(over(at, { url: "http://127.0.0.1:9/mcp", fetch }), at);
    await expect(refused).rejects.toThrow(ToolConnectionError);
    expect(asked).toEqual(["server/discover", "earlier era"]);
  });

  it("for a reason that is told is not tried in another way", async () => {
    const at = await setting();
    const { fetch, asked } = failing(() => true, Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
    const refused = opened(over(at, { url: "http://127.0.0.1:9/mcp", fetch }), at);
    await expect(refused).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
    expect(asked).toEqual(["server/discover"]);
  });
});
