/** Tools of a manual by the type of their call template: each is called, or is named in an event. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocketServer, type WebSocket } from "ws";
import { MemoryArtifactStore } from "../../../../../web/src/artifacts/memory.js";
import type { ExternalToolConfig } from "../../../../../web/src/tools/config/config.js";
import type { ToolNodeEvent } from "../../../../../web/src/tools/event.js";
import { ToolNode } from "../../../../../web/src/tools-node.js";
import { ToolNode as WebToolNode } from "../../../../../web/src/tools.js";
import { onlyBytes, PNG, sha256 } from "../../../core/samples.js";
import { listening } from "../mcp/http-server.js";
import { serverScript } from "../mcp/server-script.js";
import { api, failure, sendJson, type Handler } from "../api.js";

type Templates = Record<string, Record<string, unknown>>;

/** A manual whose call templates say their type themselves. */
function manual(tools: Templates): Record<string, unknown> {
  return {
    utcp_version: "1.1.0",
    tools: Object.entries(tools).map(([name, { inputs = {}, ...tool_call_template }]) => ({
      name,
      inputs,
      tool_call_template,
    })),
  };
}

interface Connected {
  readonly node: ToolNode;
  readonly store: MemoryArtifactStore;
  readonly leftOut: readonly ToolNodeEvent[];
}

async function connected(config: Partial<ExternalToolConfig>, Class: typeof ToolNode = ToolNode): Promise<Connected> {
  const store = new MemoryArtifactStore({ retention: null });
  const events: ToolNodeEvent[] = [];
  const options = { store, onEvent: (event: ToolNodeEvent) => events.push(event) };
  const node = new Class({ name: "api", transport: "utcp", connection: "", ...config }, options);
  onTestFinished(() => node.close());
  await node.connect();
  return { node, store, leftOut: events.filter(({ kind }) => kind === "left_out") };
}

const inline = (tools: Templates, more: Partial<ExternalToolConfig> = {}): Promise<Connected> =>
  connected({ connection: JSON.stringify(manual(tools)), ...more });

/** A manual at the address of the server that answers its tools. */
async function fetched(
  tools: (origin: string) => Templates,
  handle: Handler = (_, response) => sendJson(response, {}),
  more: Partial<ExternalToolConfig> = {},
): Promise<Connected & { readonly seen: Awaited<ReturnType<typeof api>>["seen"] }> {
  const server = await api((request, response) => {
    if (request.path === "/utcp") sendJson(response, manual(tools(server.origin)));
    else handle(request, response);
  });
  return { ...(await connected({ connection: `${server.origin}/utcp`, ...more })), seen: server.seen };
}

async function folderForTest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-utcp-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const names = (node: ToolNode): string[] =>
  node.getTools().flatMap(({ name }) => (name.includes(".artifact_") ? [] : [name]));

const filtered = (url: string): Templates => ({
  watch: { call_template_type: "sse", url, body_field: "filter", header_fields: ["X-Id"] },
});

/** Sends an event that has no end. */
function endless(response: ServerResponse): void {
  const more = (): void => void (response.writable && response.write("x".repeat(1 << 20), () => setImmediate(more)));
  response.write("data: ");
  more();
}

describe("sse", () => {
  const events =
    'event: row\ndata: {"n": 1.50}\n\n: still there\n\ndata: no JSON\ndata: two lines\n\nevent: row\ndata: 2\n\n';
  const stream: Handler = (_, response) => {
    response.setHeader("content-type", "text/event-stream");
    // In pieces that keep to no line.
    for (const piece of events.match(/[^]{1,7}/g) ?? []) response.write(piece);
    response.end();
  };

  test("gives the data of each event until the stream ends, JSON as it is written", async () => {
    const { node } = await fetched((url) => ({ watch: { call_template_type: "sse", url: `${url}/{topic}` } }), stream);
    const { text } = await node.call("watch", { topic: "a b", since: 7 });
    expect(text).toBe('[{"n": 1.50},"no JSON\\ntwo lines",2]');
  });

  test("of one type, where the template wants only that; none are an empty list", async () => {
    const { node } = await fetched(
      (url) => ({
        rows: { call_template_type: "sse", url, event_type: "row" },
        others: { call_template_type: "sse", url, event_type: "other" },
      }),
      stream,
    );
    expect((await node.call("rows")).value).toEqual([{ n: 1.5 }, 2]);
    expect((await node.call("others")).value).toEqual([]);
  });

  test("asks by GET, and by POST with a body", async () => {
    const { node, seen } = await fetched(filtered, stream);
    await node.call("watch", { "X-Id": "7", q: "x" });
    await node.call("watch", { filter: { a: 1 } });
    expect(seen.slice(1)).toMatchObject([
      { method: "GET", headers: { accept: "text/event-stream", "x-id": "7" }, body: "" },
      { method: "POST", body: '{"a":1}' },
    ]);
    expect(seen[1]?.query.get("q")).toBe("x");
  });

  test("bytes in an event are stored, and one that is too long is an error", async () => {
    const picture = PNG.toString("base64");
    const { node, store } = await fetched(
      (url) => ({
        picture: { call_template_type: "sse", url: `${url}/picture` },
        endless: { call_template_type: "sse", url: `${url}/endless` },
      }),
      ({ path }, response) => {
        response.setHeader("content-type", "text/event-stream");
        if (path === "/picture") response.end(`data: {"picture": "${picture}"}\n\n`);
        else endless(response);
      },
    );
    const { artifacts } = await node.call("picture");
    expect(sha256(await onlyBytes(store, artifacts))).toBe(sha256(PNG));
    expect(await failure(node.call("endless"))).toMatchObject({
      code: "E_TOOL_SERVER",
      isRetryable: false,
      message: expect.stringContaining("more than 8 MiB") as string,
    });
  });
});

describe("streamable_http", () => {
  test.each<[string, string, unknown]>([
    ["text/event-stream", "data: 1\n\ndata: two\n\n", [1, "two"]],
    ["application/x-ndjson", '{"n": 1}\n\n{"n": 2}\nno JSON', [{ n: 1 }, { n: 2 }, "no JSON"]],
    ["application/json", '{"n": 1}', { n: 1 }],
    ["text/plain", "data: 1\n\n", "data: 1\n\n"],
  ])("an answer of the type %s", async (type, body, value) => {
    const { node } = await fetched(
      (url) => ({ get: { call_template_type: "streamable_http", url } }),
      (_, response) => void response.setHeader("content-type", type).end(body),
    );
    expect((await node.call("get")).value).toEqual(value);
  });

  test("has the defaults of UTCP: no argument is the body", async () => {
    const { node, seen } = await fetched((url) => ({
      plain: { call_template_type: "streamable_http", url, http_method: "POST" },
      body: { call_template_type: "streamable_http", url, http_method: "POST", body_field: "body" },
    }));
    await node.call("plain", { body: "x" });
    await node.call("body", { body: "x" });
    expect(seen[1]?.query.get("body")).toBe("x");
    expect(seen[2]).toMatchObject({ body: "x", headers: { "content-type": "application/octet-stream" } });
  });
});

interface Meeting {
  readonly url: string;
  readonly came: { readonly request: IncomingMessage; message?: string }[];
}

/** A server that says what it was told, unless it is told what to do. */
async function meeting(answer: (socket: WebSocket, message: string) => void, check?: () => boolean): Promise<Meeting> {
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    handleProtocols: (offered) => [...offered][0] ?? false,
    ...(check !== undefined && { verifyClient: check }),
  });
  await once(server, "listening");
  const came: { request: IncomingMessage; message?: string }[] = [];
  server.on("connection", (socket, request) => {
    const one: { request: IncomingMessage; message?: string } = { request };
    came.push(one);
    socket.on("message", (data: Buffer) => {
      one.message = data.toString();
      answer(socket, one.message);
    });
  });
  onTestFinished(async () => {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, came };
}

const echo = (socket: WebSocket, message: string): void => socket.send(message);

const socketAt = ({ url }: Meeting): Record<string, unknown> => ({ call_template_type: "websocket", url });

describe("websocket", () => {
  test("sends the arguments, or the template's message with them in their places", async () => {
    const { url, came } = await meeting(echo);
    const ws = { call_template_type: "websocket", url };
    const { node } = await inline(
      {
        plain: ws,
        text: { ...ws, message: "CMD UTCP_ARG_command_UTCP_ARG;${KEY}" },
        json: { ...ws, message: '{"q": "UTCP_ARG_q_UTCP_ARG", "n": UTCP_ARG_n_UTCP_ARG}' },
        object: { ...ws, message: { type: "ask", q: ["UTCP_ARG_q_UTCP_ARG"] } },
      },
      { env: { KEY: "k3y" } },
    );
    const q = '", "admin": "UTCP_ARG_n_UTCP_ARG';
    expect((await node.call("plain", { a: [1, "x"] })).value).toEqual({ a: [1, "x"] });
    expect((await node.call("text", { command: "run ${KEY}" })).value).toBe("CMD run ${KEY};k3y");
    expect((await node.call("json", { q, n: 5 })).value).toEqual({ q, n: 5 });
    expect((await node.call("object", { q })).value).toEqual({ type: "ask", q: [q] });
    expect(await failure(node.call("text", {}))).toMatchObject({ code: "E_TOOL_CLIENT" });
    expect(came).toHaveLength(4);
  });

  test("tells headers, subprotocol and who asks with the handshake", async () => {
    const { url, came } = await meeting(echo);
    const auth = { auth_type: "basic", username: "me", password: "${pw}" };
    const more = { headers: { "x-static": "yes" }, header_fields: ["X-Id"], protocol: "utcp-v1", auth };
    const { node } = await inline(
      { ask: { call_template_type: "websocket", url, ...more } },
      { auth_config: { pw: 'p"w' } },
    );
    expect((await node.call("ask", { "X-Id": "7", q: 1 })).value).toEqual({ q: 1 });
    expect(came[0]?.request.headers).toMatchObject({
      "x-static": "yes",
      "x-id": "7",
      "sec-websocket-protocol": "utcp-v1",
      authorization: `Basic ${btoa('me:p"w')}`,
    });
  });

  test("reads the first message that comes back as the template says", async () => {
    const { url } = await meeting((socket, message) => {
      if (message === "bytes") socket.send(PNG);
      else socket.send('{"n": 1}');
      socket.send("another");
    });
    const ws = { call_template_type: "websocket", url, message: "go" };
    const { node, store } = await inline({
      none: ws,
      json: { ...ws, response_format: "json" },
      text: { ...ws, response_format: "text" },
      bytes: { ...ws, message: "bytes" },
    });
    expect((await node.call("none")).value).toEqual({ n: 1 });
    expect((await node.call("json")).value).toEqual({ n: 1 });
    expect((await node.call("text")).value).toBe('{"n": 1}');
    const { artifacts } = await node.call("bytes");
    expect(sha256(await onlyBytes(store, artifacts))).toBe(sha256(PNG));
  });

  test("that ends, refuses, or answers too much is an error; and a call given up leaves nothing open", async () => {
    const ending = await meeting((socket) => socket.close());
    const refusing = await meeting(echo, () => false);
    const large = await meeting((socket) => socket.send("x".repeat(17 * 1024 * 1024)));
    const silent = await meeting(() => undefined);
    const { node } = await inline(
      { ending: socketAt(ending), refusing: socketAt(refusing), large: socketAt(large), silent: socketAt(silent) },
      { retry_policy: { max_attempts: 1 } },
    );
    expect(await failure(node.call("ending"))).toMatchObject({ code: "E_TOOL_CONNECTION" });
    expect(await failure(node.call("refusing"))).toMatchObject({ code: "E_TOOL_AUTH", status: 401 });
    expect(await failure(node.call("large"))).toMatchObject({ code: "E_TOOL_SERVER", isRetryable: false });
    const giving = new AbortController();
    const call = failure(node.call("silent", {}, { signal: giving.signal }));
    await expect.poll(() => silent.came[0]?.message).toBe("{}");
    const closed = once(silent.came[0]?.request.socket as NodeJS.EventEmitter, "close");
    giving.abort(new Error("enough"));
    expect(await call).toMatchObject({ message: "enough" });
    await closed;
  });

  test("of a fetched manual is on its own origin, or not offered", async () => {
    const { url } = await meeting(echo);
    const server = await api((request, response) => {
      const own = server.origin.replace("http", "ws");
      const ws = { call_template_type: "websocket" };
      sendJson(response, manual({ near: { ...ws, url: own }, far: { ...ws, url } }));
      expect(request.path).toBe("/utcp");
    });
    const { node, leftOut } = await connected({ connection: `${server.origin}/utcp` });
    expect(names(node)).toEqual(["api.near"]);
    expect(leftOut).toMatchObject([
      {
        count: 1,
        tools: [{ name: "far", type: "websocket", reason: expect.stringContaining("allowed_hosts") as string }],
      },
    ]);
    const allowed = await connected({ connection: `${server.origin}/utcp`, allowed_hosts: [new URL(url).host] });
    expect((await allowed.node.call("far", { a: 1 })).value).toEqual({ a: 1 });
  });
});

const mcpAt = (url: string): Record<string, unknown> => ({
  call_template_type: "mcp",
  config: { mcpServers: { s: { url } } },
});

describe("mcp", () => {
  test("over HTTP is called over one connection, with the template's headers", async () => {
    await using server = await listening("legacy", () => false);
    const mcpServers = { files: { url: server.url, headers: { "x-key": "${KEY}" } } };
    const template = { call_template_type: "mcp", config: { mcpServers } };
    const { node } = await inline({ "api.files.hello": template, other: template }, { env: { KEY: "k3y" } });
    expect(names(node)).toEqual(["api.hello", "api.other"]);
    expect((await node.call("hello")).value).toBe("hello");
    expect((await node.call("other")).value).toBe("hello");
    const calls = server.came.filter(({ rpc }) => rpc?.method === "tools/call");
    expect(calls.map(({ rpc }) => rpc?.params?.name)).toEqual(["hello", "other"]);
    expect(calls.map(({ request }) => request.headers["x-key"])).toEqual(["k3y", "k3y"]);
    expect(server.came.filter(({ rpc }) => rpc?.method === "initialize")).toHaveLength(1);
  });

  test("a server elsewhere is not offered, and no redirect leads there", async () => {
    await using other = await listening("legacy", () => false);
    await using server = await listening("legacy", ({ request, response }) => {
      if (request.url === "/utcp") {
        sendJson(response, manual({ near: mcpAt(server.url), far: mcpAt(other.url) }));
      } else response.writeHead(307, { location: other.url }).end();
      return true;
    });
    const { node, leftOut } = await connected({ connection: new URL("/utcp", server.url).href });
    expect(names(node)).toEqual(["api.near"]);
    expect(leftOut).toMatchObject([{ tools: [{ name: "far", type: "mcp" }] }]);
    expect(await failure(node.call("near"))).toMatchObject({ message: expect.stringContaining("redirects") as string });
    expect(other.came).toHaveLength(0);
  });

  test("of several servers the name says which", async () => {
    const [a, b] = [{ url: "http://127.0.0.1:1/a" }, { url: "http://127.0.0.1:1/b" }];
    const template = { call_template_type: "mcp", config: { mcpServers: { a, b } } };
    const { node, leftOut } = await inline({ "a.x": template, "api.b.y": template, z: template });
    expect(names(node)).toEqual(["api.x", "api.y"]);
    expect(leftOut).toMatchObject([
      { tools: [{ name: "z", reason: "its name does not say which of its servers it belongs to" }] },
    ]);
  });

  test("a program is started only for a manual of the host's own that says so", async () => {
    const it = `return JSON.stringify({ content: [{ type: "text", text: process.env.OWN }] });`;
    const path = join(await folderForTest(), "server.mjs");
    await writeFile(path, serverScript({ tools: { it } }));
    const server = { command: process.execPath, args: [path], env: { OWN: "from a program" } };
    const template = { call_template_type: "mcp", config: { mcpServers: { s: server } } };
    const { node } = await inline({ it: template }, { allowed_communication_protocols: ["mcp"] });
    expect((await node.call("it")).value).toBe("from a program");
    expect(await failure(inline({ it: template }))).toMatchObject({
      code: "E_TOOL_CONFIG",
      message: expect.stringContaining("allowed_communication_protocols does not name mcp") as string,
    });
    const all = { allowed_communication_protocols: ["mcp", "cli", "text", "file"] } as const;
    expect(await failure(fetched(() => ({ it: template }), undefined, all))).toMatchObject({
      message: expect.stringContaining("only a manual in the configuration itself") as string,
    });
  });
});

const cli = { call_template_type: "cli", commands: [{ command: "printf %s UTCP_ARG_word_UTCP_END" }] };

const mixed = (url: string): Templates => ({
  get: { call_template_type: "http", url },
  "api.rm": cli,
  note: { call_template_type: "text", content: "x" },
  query: { call_template_type: "graphql", url },
});

describe("what this machine has", () => {
  test("is offered of a manual of the host's own that names the types", async () => {
    const folder = await folderForTest();
    await writeFile(join(folder, "picture.png"), PNG);
    const inputs = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
    const { node, store, leftOut } = await inline(
      {
        say: { ...cli, inputs },
        note: { call_template_type: "text", content: '{"n": 1}' },
        picture: { call_template_type: "file", file_path: join(folder, "picture.png") },
        old: { call_template_type: "text", file_path: join(folder, "nothing.txt") },
      },
      { allowed_communication_protocols: ["cli", "text", "file"] },
    );
    expect(leftOut).toEqual([]);
    expect((await node.call("say", { word: "a b" })).value).toBe("a b");
    expect((await node.call("note")).value).toEqual({ n: 1 });
    const { artifacts } = await node.call("picture");
    expect(artifacts[0]).toMatchObject({ filename: "picture.png" });
    expect(sha256(await onlyBytes(store, artifacts))).toBe(sha256(PNG));
    const missing = await failure(node.call("old"));
    expect(missing).toMatchObject({ code: "E_TOOL_CONFIG" });
    expect(String(missing)).not.toContain(folder);
  });

  test("is named in an event where it is not: by default, of a fetched manual, and of what nobody knows", async () => {
    const { node, leftOut } = await inline(mixed("http://127.0.0.1:1"));
    expect(names(node)).toEqual(["api.get"]);
    const notAllowed = "allowed_communication_protocols does not name its type";
    expect(leftOut).toEqual([
      {
        kind: "left_out",
        count: 3,
        tools: [
          { name: "api.rm", type: "cli", reason: notAllowed },
          { name: "note", type: "text", reason: notAllowed },
          { name: "query", type: "graphql", reason: "call templates of this type are not supported" },
        ],
      },
    ]);
    const far = await fetched(mixed, undefined, { allowed_communication_protocols: ["http", "cli", "text"] });
    expect(names(far.node)).toEqual(["api.get"]);
    const fetchedReason = "only a manual in the configuration itself may name things on this machine";
    expect(far.leftOut).toMatchObject([{ tools: [{ reason: fetchedReason }, { reason: fetchedReason }, {}] }]);
  });

  test("cannot be had in browsers, and a list of types leaves out those that it does not name", async () => {
    const tools = { a: { call_template_type: "http", url: "http://127.0.0.1:1" }, b: cli };
    const all = {
      connection: JSON.stringify(manual(tools)),
      allowed_communication_protocols: ["cli", "http"],
    } as const;
    const web = await connected(all, WebToolNode as unknown as typeof ToolNode);
    expect(web.leftOut).toMatchObject([
      { tools: [{ name: "b", reason: expect.stringContaining("only be called in Node") as string }] },
    ]);
    const { node, leftOut } = await inline(tools, { allowed_communication_protocols: ["cli"] });
    expect(names(node)).toEqual(["api.b"]);
    expect(leftOut).toMatchObject([{ tools: [{ name: "a", type: "http" }] }]);
  });

  test("an event tells of 20 tools, and how many there are", async () => {
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`t${n}`, cli]));
    const { leftOut } = await inline({ get: { call_template_type: "http", url: "http://127.0.0.1:1" }, ...many });
    expect(leftOut).toMatchObject([{ count: 80 }]);
    expect((leftOut[0] as Extract<ToolNodeEvent, { kind: "left_out" }>).tools).toHaveLength(20);
  });
});
