/** `sluice proxy --url` on standard streams: what a client there is told of HTTP. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ReferenceServer } from "../../unit/tools/sources/mcp/reference-server.js";
import { isRunning } from "../faults/host.js";
import { type Message, request } from "../script.js";
import { COMMAND } from "../../unit/cli/command.js";
import { calling, json, upstream } from "./proxies.js";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-http-"));
});

afterAll(() => rm(folder, { recursive: true }));

/** Sends lines, ends the input, and gives what came until the proxy ended. */
async function spoken(
  url: string,
  lines: readonly (string | Message)[],
  args: readonly string[] = [],
): Promise<{ messages: Message[]; code: number | null }> {
  const child = spawn(process.execPath, [COMMAND, "proxy", "--store", folder, "--url", url, ...args], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const closed = once(child, "close") as Promise<[number | null]>;
  child.stdin.end(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  const [code] = await closed;
  const messages = out.split("\n").filter((line) => line !== "");
  return { messages: messages.map((line) => JSON.parse(line) as Message), code };
}

const OPENING = request("2025", "begin", "initialize", { protocolVersion: "2025-06-18" });

/** Answers `initialize` with a session, and notifications with nothing; gives what is left. */
function opened(message: Message, response: Parameters<typeof json>[0]): boolean {
  if (message["id"] === undefined) response.writeHead(202).end();
  else if (message["method"] === "initialize") {
    const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } };
    json(response, { jsonrpc: "2.0", id: message["id"], result }, { "mcp-session-id": "one" });
  } else return false;
  return true;
}

it("finishes what is pending when the input ends, and ends the session", async () => {
  const seen: IncomingMessage[] = [];
  await using server = await upstream(async (incoming, response, body) => {
    seen.push(incoming);
    if (incoming.method !== "POST") {
      response.writeHead(incoming.method === "GET" ? 405 : 200).end();
      return;
    }
    const message = JSON.parse(body) as Message;
    if (opened(message, response)) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
    // As somebody writes it who likes to read it.
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message["id"], result: { content: [] } }, undefined, 2));
  });
  const { messages, code } = await spoken(server.url, [OPENING, calling(7, "slow")], ["--header", "X-Key: k"]);
  expect(messages.map(({ id }) => id)).toEqual(["begin", 7]);
  expect(code).toBe(0);
  expect(seen.map(({ method }) => method)).toEqual(["POST", "POST", "DELETE"]);
  const told = { "mcp-session-id": "one", "mcp-protocol-version": "2025-06-18", "x-key": "k" };
  expect(seen.slice(1).map(({ headers }) => headers)).toMatchObject([told, told]);
});

it("says in a sentence that the server wants authorization", async () => {
  await using server = await upstream((_incoming, response) => void response.writeHead(401).end("{}"));
  const { messages } = await spoken(server.url, [calling(1, "any")]);
  expect(messages).toMatchObject([
    { id: 1, error: { message: expect.stringContaining('--header "Authorization') as unknown } },
  ]);
});

it("says that the session has ended, that nobody is there, and what the server says itself", async () => {
  const own = { code: -32_601, message: "Method not found", data: { a: [1.5] } };
  await using server = await upstream((incoming, response, body) => {
    if (incoming.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(body) as Message;
    if (opened(message, response)) return;
    response.writeHead(message["id"] === 1 ? 404 : 400, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message["id"] === 1 ? null : message["id"], error: own }));
  });
  const { messages } = await spoken(server.url, [OPENING, calling(1, "lost"), calling(2, "refused")]);
  expect(messages.find(({ id }) => id === 1)).toMatchObject({
    error: { message: "The server no longer knows this session: connect again." },
  });
  expect(messages.find(({ id }) => id === 2)).toEqual({ jsonrpc: "2.0", id: 2, error: own });
  const nobody = await spoken("http://127.0.0.1:1/mcp", [calling(1, "any")]);
  const message =
    "The server cannot be reached: nothing is listening there; check its address, and that it is running.";
  expect(nobody.messages).toMatchObject([{ error: { message } }]);
});

it("goes on in a new session with a server that was started anew", async () => {
  await using server = await ReferenceServer.open();
  const child = spawn(process.execPath, [COMMAND, "proxy", "--store", folder, "--url", server.url], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const closed = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answerTo = async (message: string | Message): Promise<Message> => {
    const line = typeof message === "string" ? message : JSON.stringify(message);
    const { id } = JSON.parse(line) as Message;
    child.stdin.write(`${line}\n`);
    for (;;) {
      const { value = "{}", done = false } = await lines.next();
      const said = JSON.parse(value) as Message;
      if (done || said["id"] === id) return said;
    }
  };
  const client = { capabilities: {}, clientInfo: { name: "test", version: "1" } };
  await answerTo(request("2025", "begin", "initialize", { protocolVersion: "2025-06-18", ...client }));
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  expect(JSON.stringify(await answerTo(calling(1, "echo", { message: "before" })))).toContain("before");
  await server.restart();
  const several = [2, 3].map((id) => calling(id, "echo", { message: `after ${id}` }));
  child.stdin.write(`${JSON.stringify(several[0])}\n`);
  expect(JSON.stringify([await answerTo(several[1] as Message)])).toContain("after 3");
  await server.restart();
  expect(JSON.stringify(await answerTo(calling(4, "echo", { message: "again" })))).toContain("again");
  child.stdin.end();
  await closed;
});

it("begins no second session for one request, and none where the server now speaks another revision", async () => {
  const gone = { code: -32_000, message: "Bad Request: No valid session ID provided" };
  const seen: (string | undefined)[] = [];
  let version = "2025-06-18";
  await using server = await upstream((incoming, response, body) => {
    if (incoming.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(body) as Message;
    if (message["method"] === "initialize") {
      const result = { protocolVersion: version, capabilities: {}, serverInfo: { name: "s", version: "1" } };
      json(response, { jsonrpc: "2.0", id: message["id"], result }, { "mcp-session-id": `s${seen.length}` });
      seen.push(incoming.headers["mcp-session-id"] as string | undefined);
    } else if (message["id"] === undefined) response.writeHead(202).end();
    else {
      if (message["id"] === 2) version = "2025-03-26";
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message["id"], error: gone }));
    }
  });
  const { messages } = await spoken(server.url, [OPENING, calling(1, "lost")]);
  const told = { error: { message: "The server no longer knows this session: connect again." } };
  expect(messages).toMatchObject([{ id: "begin" }, { id: 1, ...told }]);
  expect(seen).toEqual([undefined, undefined]);
  const other = await spoken(server.url, [OPENING, calling(2, "lost")]);
  expect(other.messages).toMatchObject([{ id: "begin" }, { id: 2, ...told }]);
  expect(seen).toHaveLength(4);
});

it("answers for a server that breaks off", async () => {
  await using server = await upstream((incoming, response) => {
    if (incoming.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"half');
    setTimeout(() => response.destroy(), 50);
  });
  const { messages, code } = await spoken(server.url, [calling(1, "any")]);
  expect(messages).toMatchObject([{ id: 1, error: { message: "The server's answer ended before it was complete." } }]);
  expect(code).toBe(0);
});

it("goes on with a stream from where it broke off", async () => {
  await using server = await upstream((incoming, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (incoming.headers["last-event-id"] === "a/1") {
      response.end('id: a/2\ndata: {"jsonrpc":"2.0","id":1,\ndata: "result":{}}\n\n');
    } else {
      response.end('retry: 10\nid: a/1\ndata:\n\nid: a/9\ndata: {"jsonrpc":"2.0","id":1,"resu');
    }
  });
  const { messages } = await spoken(server.url, [calling(1, "any")]);
  expect(messages).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
});

it("says in headers what revision a request is of, and hangs up on what is cancelled", async () => {
  const seen: IncomingMessage[] = [];
  let hungUp: Promise<unknown> = Promise.resolve();
  await using server = await upstream((incoming, response) => {
    seen.push(incoming);
    hungUp = once(response, "close");
    response.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n");
  });
  const child = spawn(process.execPath, [COMMAND, "proxy", "--store", folder, "--url", server.url]);
  child.stdin.write(`${request("2026", 1, "tools/call", { name: "Zoë" })}\n`);
  while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  child.stdin.end(
    `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })}\n`,
  );
  await hungUp;
  const [code] = (await once(child, "exit")) as [number | null];
  expect(code).toBe(0);
  expect(seen.map(({ headers }) => headers)).toMatchObject([
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "=?base64?Wm/Dqw==?=" },
  ]);
});

it("does not wait for an answer that nobody waits for", async () => {
  const asked: unknown[] = [];
  await using server = await upstream((...each) => void asked.push(each));
  const proxy = [process.execPath, COMMAND, "proxy", "--store", folder, "--url", server.url];
  const host = spawn("sh", ["-c", 'exec 3<&0; "$@" <&3 & echo $!; wait', "sh", ...proxy], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const [line] = (await once(host.stdout, "data")) as [Buffer];
  host.stdin.write(`${JSON.stringify(calling(1, "never"))}\n`);
  await expect.poll(() => asked.length, { timeout: 30_000 }).toBe(1);
  host.kill("SIGKILL");
  host.stdin.end();
  await expect.poll(() => isRunning(Number(line)), { timeout: 30_000 }).toBe(false);
});

it("ends its session also when it is told to end", async () => {
  const seen: unknown[] = [];
  await using server = await upstream((incoming, response, body) => {
    seen.push(incoming.method);
    if (incoming.method === "POST") opened(JSON.parse(body) as Message, response);
    else response.writeHead(200).end();
  });
  const child = spawn(process.execPath, [COMMAND, "proxy", "--store", folder, "--url", server.url]);
  child.stdin.write(`${OPENING}\n`);
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([143, null]);
  expect(seen).toEqual(["POST", "DELETE"]);
});

it("follows where the same server points, and nowhere else", async () => {
  await using other = await upstream((_incoming, response) => json(response, { jsonrpc: "2.0", id: 1, result: {} }));
  await using server = await upstream(({ url }, response) => {
    if (url === "/mcp/") return json(response, { jsonrpc: "2.0", id: 1, result: { here: true } });
    response.writeHead(307, { location: url === "/mcp" ? "/mcp/" : other.url }).end();
  });
  const here = await spoken(server.url, [calling(1, "any")]);
  expect(here.messages).toEqual([{ jsonrpc: "2.0", id: 1, result: { here: true } }]);
  const elsewhere = await spoken(server.url.replace("/mcp", "/away"), [calling(1, "any")]);
  expect(elsewhere.messages).toMatchObject([
    { id: 1, error: { message: expect.stringContaining("HTTP 307: it redirects to another server") } },
  ]);
});

/** A server with a tool for a host's app alone, which answers calls as it is told. */
async function appServer(answer: (message: Message, response: ServerResponse) => void): ReturnType<typeof upstream> {
  return upstream((incoming, response, body) => {
    if (incoming.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(body) as Message;
    if (opened(message, response)) return;
    const tools = [{ name: "app", inputSchema: { type: "object" }, _meta: { ui: { visibility: ["app"] } } }];
    if (message["method"] === "tools/list") json(response, { jsonrpc: "2.0", id: message["id"], result: { tools } });
    else answer(message, response);
  });
}

const LIST = request("2025", "list", "tools/list");
/** The first half of an answer to the app, longer than what is looked at before it is decided about. */
const HALF = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${"app ".repeat(100_000)}`;

it("holds no other answer back for an app's that stalls half-way", async () => {
  let goOn: (() => void) | undefined;
  await using server = await appServer((message, response) => {
    if (message["id"] !== 1) return json(response, { jsonrpc: "2.0", id: message["id"], result: { content: [] } });
    response.writeHead(200, { "content-type": "application/json" });
    response.write(HALF);
    goOn = () => response.end('"}]}}');
    return undefined;
  });
  const child = spawn(process.execPath, [COMMAND, "proxy", "--store", folder, "--url", server.url], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const closed = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  const told = async (...messages: (string | Message)[]): Promise<string> => {
    for (const each of messages) child.stdin.write(`${typeof each === "string" ? each : JSON.stringify(each)}\n`);
    return next();
  };
  await told(OPENING);
  await told(LIST);
  child.stdin.write(`${JSON.stringify(calling(1, "app"))}\n`);
  await expect.poll(() => goOn).toBeDefined();
  // Enough turns for what has come of it to have passed.
  for (const id of [2, 3, 4]) expect(await told(calling(id, "other"))).toContain(`"id":${id}`);
  goOn?.();
  expect(await next()).toBe(`${HALF}"}]}}`);
  child.stdin.end();
  await closed;
});

it("sends nothing of an app's answer that breaks off, but the error that stands for it", async () => {
  await using server = await appServer((_message, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(HALF, () => response.destroy());
  });
  const { messages } = await spoken(server.url, [OPENING, LIST, calling(1, "app")]);
  expect(messages.filter(({ id }) => id === 1)).toEqual([
    expect.objectContaining({
      error: expect.objectContaining({ message: "The server's answer ended before it was complete." }) as unknown,
    }),
  ]);
});
