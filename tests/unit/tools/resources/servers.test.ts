/** Resources of a real server, over both transports and in both eras, through the tools that a planner has. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSluice } from "../../../../web/src/index.js";
import type { Transformed } from "../../../../web/src/core/types.js";
import type { ResourceEvent } from "../../../../web/src/tools/event.js";
import { ResourceReader } from "../../../../web/src/tools/resources/reader.js";
import { resourceTools } from "../../../../web/src/tools/resources/tools.js";
import type { SourceConnection } from "../../../../web/src/tools/source.js";
import { longestRun } from "../../core/samples.js";
import {
  expectedHash,
  SETTINGS,
  useFixture,
  call,
  hashOf,
  opened,
  scripted,
  setting,
  until,
  type Setting,
} from "../sources/mcp/setting.js";

const ADA = { user_id: "ada" };
const WATCHED = "test://watched-resource";

const fixture = useFixture();

/** A server's resources, as ToolNode has them. */
interface Served extends AsyncDisposable {
  readonly at: Setting;
  readonly connection: SourceConnection;
  readonly reader: ResourceReader;
  readonly events: readonly ResourceEvent[];
  /** URIs that the server was asked for. */
  readonly asked: readonly string[];
  readonly read: (args: Readonly<Record<string, unknown>>) => Promise<Transformed>;
  readonly list: (kind: "resources" | "resources_templates") => Promise<Transformed>;
}

async function served(transport: "stdio" | "http", era: "legacy" | "modern"): Promise<Served> {
  const config = { resources: { auto_read_if_size_under_bytes: 10_000_000 } };
  const { store, notices } = await setting();
  const sluice = await createSluice({ store, config });
  const at = { store, notices, sluice };
  const source = fixture(at, transport, era);
  const events: ResourceEvent[] = [];
  const asked: string[] = [];
  const connection = await opened(
    {
      open: (options) => source.open({ ...options, onNotice: (notice) => reader.notice(notice) }),
    },
    at,
  );
  const resources = connection.resources && counted(connection.resources, asked);
  const reader: ResourceReader = new ResourceReader({
    namespace: "fix",
    store,
    config: config.resources,
    use: ({ signal = new AbortController().signal }, work) => work(resources, signal),
    onEvent: (event) => events.push(event),
  });
  const tools = resourceTools({ reader, namespace: "fix", source: "mcp", sluice });
  const tool = (name: string, args: Readonly<Record<string, unknown>>): Promise<Transformed> => {
    const found = tools.find((each) => each.name === `fix.${name}`);
    if (found === undefined) throw new Error(`There is no ${name}.`);
    return found.call(args, { scope: ADA });
  };
  return {
    at,
    connection,
    reader,
    events,
    asked,
    read: (args) => tool("resources_read", args),
    list: (kind) => tool(`${kind}_list`, {}),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** The same connection always, and a list of what is read of it. */
function counted(resources: NonNullable<SourceConnection["resources"]>, asked: string[]): typeof resources {
  return new Proxy(resources, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]) => {
        if (name === "read") asked.push(String(args[0]));
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

describe.each(SETTINGS)("%s", (_name, transport, era) => {
  let server: Served;
  beforeAll(async () => {
    server = await served(transport, era);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("lists resources and templates", async () => {
    const { value } = await server.list("resources");
    expect(value).toMatchObject({ resources: expect.arrayContaining([expect.objectContaining({ uri: WATCHED })]) });
    const templates = await server.list("resources_templates");
    expect(templates.text).toContain("test://file/{kind}/{bytes}");
  });

  test("gives bytes as an artifact, and asks the server once", async () => {
    const args = { template: "test://file/{kind}/{bytes}", arguments: { kind: "pdf", bytes: 300_000 } };
    const first = await server.read(args);
    expect(longestRun(first.text)).toBeLessThan(100);
    expect(first.value).toMatchObject({
      contents: [{ uri: "test://file/pdf/300000", artifact: { mime_type: "application/pdf", size_bytes: 300_000 } }],
    });
    expect(first.text).toContain("PDF");
    expect(await hashOf(first, server.at)).toBe(await expectedHash(server.connection, "pdf", 300_000));
    expect((await server.read(args)).text).toBe(first.text);
    expect(server.asked.filter((uri) => uri === "test://file/pdf/300000")).toHaveLength(1);
  });

  test("shows a short text, and names a long one", async () => {
    expect((await server.read({ uri: "test://static-text" })).value).toMatchObject({
      contents: [{ text: "This is the content of the static text resource.", artifact: { mime_type: "text/plain" } }],
    });
    const long = await server.read({ uri: "test://words/50000" });
    expect(long.value).toMatchObject({ contents: [{ artifact: { size_bytes: 50_000 } }] });
    expect(long.text.length).toBeLessThan(1_000);
  });

  test("lets no bytes pass that stand in a text", async () => {
    const { text, artifacts } = await server.read({ uri: "ui://fixture/view" });
    expect(longestRun(text)).toBeLessThan(100);
    expect(artifacts.some(({ mime_type }) => mime_type === "image/png")).toBe(true);
  });

  test("says that there is no such resource, and asks again next time", async () => {
    await expect(server.read({ uri: "test://none" })).rejects.toMatchObject({ category: "non_retryable" });
    await expect(server.read({ uri: "test://none" })).rejects.toMatchObject({ category: "non_retryable" });
    expect(server.asked.filter((uri) => uri === "test://none")).toHaveLength(2);
  });

  test("tells of changes while somebody wants to know, and reads what changed anew", async () => {
    const { reader, events, asked, connection } = server;
    const reads = (): number => asked.filter((uri) => uri === WATCHED).length;
    await Promise.all([reader.subscribe(WATCHED), reader.subscribe(WATCHED)]);
    await server.read({ uri: WATCHED });
    await server.read({ uri: WATCHED });
    expect(reads()).toBe(1);
    const seen = events.length;
    await call(connection, "touch", { uri: WATCHED });
    await until(() => (events.length > seen ? true : undefined));
    expect(events.at(-1)).toEqual({ kind: "updated", namespace: "fix", uri: WATCHED });
    await server.read({ uri: WATCHED });
    expect(reads()).toBe(2);
    await reader.unsubscribe(WATCHED);
    await reader.unsubscribe(WATCHED);
    const before = events.length;
    await call(connection, "touch", { uri: WATCHED });
    await call(connection, "greet", { name: "Ada" });
    expect(events).toHaveLength(before);
  });
});

/** A server over stdio whose tool links to a text of its own; in the era that begins with `initialize`. */
const LINKING = `
import { createInterface } from "node:readline";
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name: "linking", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "find", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "resource_link", uri: "file:///note", name: "note", size: 12 }] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, mimeType: "text/plain", text: "all is well" }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method](params) }));
}`;

test("a link is read over the very connection that its result comes by, and once", async () => {
  const config = { auto_read_if_size_under_bytes: 1_000 };
  const { store, notices } = await setting();
  const at = { store, notices, sluice: await createSluice({ store, config: { resources: config } }) };
  await using connection = await opened(scripted(at, LINKING, { era: "legacy" }), at);
  const asked: string[] = [];
  const resources = connection.resources && counted(connection.resources, asked);
  const reader = new ResourceReader({
    namespace: "fix",
    store,
    config,
    use: ({ signal = new AbortController().signal }, work) => work(resources, signal),
  });
  const readResource = reader.linkReader({ scope: ADA }, 5);
  const more = { scope: ADA, ...(readResource && { readResource }) };
  for (let time = 0; time < 2; time += 1) {
    const { reduced } = await call(connection, "find", {}, more);
    expect(reduced.value).toMatchObject({ content: [{ uri: "file:///note", fetched: true, text: "all is well" }] });
  }
  expect(asked).toEqual(["file:///note"]);
});
