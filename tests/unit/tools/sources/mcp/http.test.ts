import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import {
  ToolAuthError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
} from "../../../../../web/src/tools/errors.js";
import { answer, ERAS, isCall, listening, refuse } from "./http-server.js";
import { call, opened, over, setting, until } from "./setting.js";

/** A server that listens. */
interface ServingEvents extends AsyncDisposable {
  readonly url: string;
  /** What it was told of who asks. */
  readonly tokens: ReadonlySet<unknown>;
  /** Breaks the streams of all who are connected. */
  drop(): void;
}

/**
 * Serves two tools. `blob`: an image of `size` bytes, and nothing ever where that is less than 0. `steps`: progress and
 * the result in one write.
 */
async function servingEvents(): Promise<ServingEvents> {
  const transports = new Map<string, SSEServerTransport>();
  const tokens = new Set<unknown>();
  const drops: (() => void)[] = [];
  const http = createServer((request, response) => {
    tokens.add(request.headers.authorization);
    const url = new URL(request.url ?? "", "http://localhost");
    if (request.method === "GET" && url.pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      drops.push(() => response.destroy());
      void toolServer(response).connect(transport);
    } else if (request.method === "POST" && url.pathname === "/messages") {
      void transports.get(url.searchParams.get("sessionId") ?? "")?.handlePostMessage(request, response);
    } else {
      response.writeHead(request.method === "POST" ? 405 : 404).end();
    }
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`,
    tokens,
    drop: () => drops.forEach((drop) => drop()),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

function toolServer(stream: ServerResponse): Server {
  const server = new Server({ name: "old", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: ["blob", "steps"].map((name) => ({ name, inputSchema: { type: "object" as const } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { _meta, sendNotification }) => {
    if (params.name === "steps") {
      const progressToken = _meta?.progressToken ?? "none";
      stream.cork();
      for (const progress of [1, 2]) {
        await sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: 2 } });
      }
      setTimeout(() => stream.uncork(), 50);
      return { content: [{ type: "text", text: "done" }] };
    }
    const size = Number(params.arguments?.["size"]);
    if (size < 0) return new Promise(() => undefined);
    const data = Buffer.alloc(size, 1).fill("\u0089PNG\r\n\u001a\n", 0, 8, "latin1").toString("base64");
    return { content: [{ type: "image", mimeType: "image/png", data }] };
  });
  return server;
}

const bearer = async (): Promise<Record<string, string>> => ({ authorization: "Bearer secret" });

describe.each(ERAS)("who asks, %s", (era) => {
  it("is said with every request, as it is at the time", async () => {
    await using server = await listening(era, () => false);
    const at = await setting();
    let token = 0;
    const authorize = async (): Promise<Record<string, string>> => ({ authorization: `Bearer ${(token += 1)}` });
    const connection = await opened(over(at, { url: server.url }), at, { authorize });
    await call(connection, "hello");
    await connection[Symbol.asyncDispose]();
    const said = server.came.map(({ request }) => request.headers.authorization);
    expect(said).not.toContain(undefined);
    expect(new Set(said).size).toBe(said.length);
  });

  it("is not told to another origin", async () => {
    await using other = await listening(era, () => false);
    await using server = await listening(era, (came) =>
      isCall(came) ? refuse(came, 307, { location: other.url }) : false,
    );
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url }), at, { authorize: bearer });
    await expect(call(connection, "hello")).rejects.toThrow(ToolNodeError);
    expect(other.came.map(({ request }) => request.headers.authorization)).not.toContain("Bearer secret");
  });

  it("that is refused is an error, at the start and later, and the connection lives on", async () => {
    let good = "first";
    await using server = await listening(era, (came) =>
      came.request.headers.authorization === good ? false : refuse(came, 401, { "www-authenticate": "Bearer" }),
    );
    const at = await setting();
    let token = "none";
    const authorize = async (): Promise<Record<string, string>> => ({ authorization: token });
    const source = over(at, { url: server.url });
    await expect(opened(source, at, { authorize })).rejects.toThrow(ToolAuthError);
    token = "first";
    await using connection = await opened(source, at, { authorize });
    good = "second";
    const refused = call(connection, "hello");
    await expect(refused).rejects.toMatchObject({ code: "E_TOOL_AUTH", status: 401 });
    await expect(refused).rejects.not.toThrow(/secret/);
    token = "second";
    expect((await call(connection, "hello")).reduced.value).toBe("hello");
    expect(connection.isOpen).toBe(true);
  });

  it("that cannot be said is the error of whoever was to say it", async () => {
    await using server = await listening(era, () => false);
    const at = await setting();
    const reason = new ToolAuthError("Connect the account first.");
    const source = over(at, { url: server.url });
    let failing = true;
    const authorize = async (): Promise<Record<string, string>> => {
      if (failing) throw reason;
      return {};
    };
    await expect(opened(source, at, { authorize })).rejects.toBe(reason);
    failing = false;
    await using connection = await opened(source, at, { authorize });
    failing = true;
    await expect(call(connection, "hello")).rejects.toBe(reason);
  });
});

it("a session is ended with its connection", async () => {
  await using server = await listening("legacy", () => false);
  const at = await setting();
  const connection = await opened(over(at, { url: server.url }), at);
  await connection[Symbol.asyncDispose]();
  const ends = server.came.filter(({ request }) => request.method === "DELETE");
  expect(ends.map(({ request }) => request.headers["mcp-session-id"])).toEqual(["session"]);
});

it("arguments that a tool declares for headers are repeated there", async () => {
  await using server = await listening("modern", (came) => {
    if (came.rpc?.method !== "tools/list") return false;
    const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    answer(came, { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: [{ name: "hello", inputSchema }] });
    return true;
  });
  const at = await setting();
  await using connection = await opened(over(at, { url: server.url }), at);
  await connection.tools(new AbortController().signal);
  await call(connection, "hello", { region: "eu" });
  const asked = server.came.find(isCall);
  expect(asked?.request.headers).toMatchObject({ "mcp-param-region": "eu", "mcp-name": "hello" });
  expect(JSON.stringify(asked?.rpc)).not.toContain("sluice/");
});

const bearerOf2024 = async (): Promise<Record<string, string>> => ({ authorization: "Bearer secret" });

describe("a server of 2024-11-05", () => {
  it.each(["http", "sse"] as const)("is spoken to as it can, asked for %s", async (transport) => {
    await using server = await servingEvents();
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url, transport }), at, { authorize: bearerOf2024 });
    expect(await connection.tools(new AbortController().signal)).toMatchObject([{ name: "blob" }, { name: "steps" }]);
    const sizes = [30_000, 2_000_000, 40_000];
    const results = await Promise.all(
      sizes.map((size) => call(connection, "blob", { size }, { scope: { user_id: String(size) } })),
    );
    expect(results.map(({ reduced }) => reduced.artifacts.map((ref) => [ref.size_bytes, ref.scope.user_id]))).toEqual(
      sizes.map((size) => [[size, String(size)]]),
    );
    expect(server.tokens).toEqual(new Set(["Bearer secret"]));
  });

  it("is heard to its last progress, also where that comes in one piece with the result", async () => {
    await using server = await servingEvents();
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url, transport: "sse" }), at);
    const heard: unknown[] = [];
    await call(connection, "steps", {}, { onProgress: (progress) => heard.push(progress) });
    expect(heard).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
  });

  it("whose stream breaks is gone, and says so to whoever waits", async () => {
    await using server = await servingEvents();
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url, transport: "sse" }), at);
    const waiting = call(connection, "blob", { size: -1 }).catch((error: unknown) => error);
    await call(connection, "blob", { size: 100 });
    server.drop();
    expect(await waiting).toBeInstanceOf(ToolConnectionError);
    expect(connection.isOpen).toBe(false);
  });
});

describe.each(ERAS)("what fails, %s", (era) => {
  it.each([
    [429, ToolRateLimitError],
    [503, ToolServerError],
    [500, ToolServerError],
    [403, ToolAuthError],
  ])("a call answered with %i", async (code, Class) => {
    await using server = await listening(era, (came) =>
      isCall(came) ? refuse(came, code, { "retry-after": "7" }) : false,
    );
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url }), at);
    const failed = await call(connection, "hello").catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Class);
    expect(failed).toMatchObject({ status: code, retryAfterSeconds: 7 });
    expect(String(failed)).not.toContain("secret");
    expect(connection.isOpen).toBe(true);
  });

  const HALF = '"result":{"content":[{"type":"text","text":"half';
  it.each([
    ["a stream that ends before the answer", "text/event-stream", `data: {"jsonrpc":"2.0","id":0,${HALF}`, "end"],
    ["a stream that breaks", "text/event-stream", ": nothing yet\n\n", "destroy"],
    ["an answer that ends before it is complete", "application/json", `{"jsonrpc":"2.0","id":0,${HALF}`, "end"],
    ["an answer that breaks before it is complete", "application/json", `{"jsonrpc":"2.0","id":0,${HALF}`, "destroy"],
  ] as const)("%s", async (_name, type, written, how) => {
    await using server = await listening(era, (came) => {
      if (!isCall(came)) return false;
      came.response.writeHead(200, { "content-type": type });
      came.response.write(written.replace('"id":0', `"id":${came.rpc?.id}`), () => came.response[how]());
      return true;
    });
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url }), at);
    const failed = await call(connection, "hello").catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ToolConnectionError);
    expect((failed as ToolConnectionError).neverSent).not.toBe(true);
  });

  it("a server that is not there, and one that has gone", async () => {
    const at = await setting();
    const server = await listening(era, () => false);
    const source = over(at, { url: server.url });
    await using connection = await opened(source, at);
    await server[Symbol.asyncDispose]();
    await expect(call(connection, "hello")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
    await expect(opened(source, at)).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
  });

  it("a server that does not answer, given up", async () => {
    const at = await setting();
    const closed: string[] = [];
    let silent = isCall;
    await using server = await listening(era, (came) => {
      if (!silent(came)) return false;
      came.response.once("close", () => closed.push(String(came.rpc?.method)));
      return true;
    });
    const source = over(at, { url: server.url });
    const connection = await opened(source, at);
    const abort = new AbortController();
    const reason = new Error("enough");
    const asked = call(connection, "hello", {}, { signal: abort.signal });
    await until(() => server.came.find(isCall));
    abort.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(await until(() => closed[0])).toBe("tools/call");
    const told = server.came.filter(({ rpc }) => rpc?.method === "notifications/cancelled");
    expect(told).toHaveLength(era === "legacy" ? 1 : 0);
    await connection[Symbol.asyncDispose]();
    silent = () => true;
    const opening = new AbortController();
    const before = server.came.length;
    const failed = opened(source, at, { signal: opening.signal });
    await until(() => server.came[before]);
    opening.abort(reason);
    await expect(failed).rejects.toBe(reason);
  });
});

it("a session that the server has forgotten is an error, and the connection is of no more use", async () => {
  let isForgotten = false;
  await using server = await listening("legacy", (came) => (isForgotten && isCall(came) ? refuse(came, 404) : false));
  const at = await setting();
  await using connection = await opened(over(at, { url: server.url }), at);
  isForgotten = true;
  await expect(call(connection, "hello")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
  expect(connection.isOpen).toBe(false);
});

it("an address without an MCP server is refused as its answer says", async () => {
  await using server = await listening("legacy", (came) => refuse(came, 404));
  const at = await setting();
  await expect(opened(over(at, { url: server.url }), at)).rejects.toMatchObject({ code: "E_TOOL_CLIENT", status: 404 });
});
