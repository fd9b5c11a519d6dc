/** `sluice proxy --timeout`: a tool that is silent for too long is answered for, by the real command in front of real processes. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { CallLimits } from "../../../../web/src/mcp/call-limit.js";
import { interceptorDeps, McpInterceptor } from "../../../../web/src/mcp/interceptor.js";
import { passClientLines, passServerLines } from "../../../../web/src/mcp/stdio/lines.js";
import { overAfter, timeoutResult, waitNotices, type WaitNotice } from "../../../../web/src/mcp/wait-notices.js";
import { Room, sluice, start } from "../command.js";

type Message = Readonly<Record<string, unknown>>;

/** A server whose tools are silent, each in its own way; it writes to standard error which calls were cancelled. */
const SERVER = `
const { createInterface } = require("node:readline");
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const done = (id) => send({ id, result: { content: [{ type: "text", text: "done " + id }] } });
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const serverInfo = { name: "silent", version: "1" };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "notifications/cancelled") {
    console.error("cancelled " + params.requestId);
    // What comes too late is for nobody.
    done(params.requestId);
  } else if (method === "tools/call" && params.name === "prompt") done(id);
  else if (method === "tools/call" && params.name === "works") {
    const { progressToken } = params._meta ?? {};
    let step = 0;
    const timer = setInterval(() => {
      step += 1;
      send({ method: "notifications/progress", params: { progressToken, progress: step, message: "step " + step } });
      if (step === 4) {
        clearInterval(timer);
        if (params.arguments?.ends !== false) done(id);
      }
    }, 500);
  }
});
`;

const call = (id: number, name: string, more: object = {}): Message => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {}, ...more },
});

const INITIALIZE: Message = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

const isOver = (id: number, seconds: number, last: string | null): object => {
  const value = timeoutResult(seconds, last);
  const content = [{ type: "text", text: JSON.stringify(value) }];
  return { jsonrpc: "2.0", id, result: { content, structuredContent: value, isError: true } };
};

test("a silent call is answered, the server is told, and other calls and what makes progress go on", async () => {
  await using room = await Room.open();
  const server = await room.write("server.cjs", SERVER);
  const child = start(["proxy", "--timeout", "1", "--store", room.path("store"), "--", process.execPath, server]);
  onTestFinished(() => void child.kill());
  const [heard, errors]: [Message[], string[]] = [[], []];
  createInterface({ input: child.stdout }).on("line", (line) => void heard.push(JSON.parse(line) as Message));
  createInterface({ input: child.stderr }).on("line", (line) => void errors.push(line));
  const say = (message: Message): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  say(INITIALIZE);
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  for (const message of [call(1, "hangs"), call(2, "prompt"), call(3, "works")]) say(message);
  await vi.waitFor(() => expect(heard.filter(({ id }) => id === 3)).toHaveLength(1), { timeout: 10_000 });
  // Its client asked for no progress, and got none.
  expect(heard.slice(1).map(({ id }) => id)).toEqual([2, 1, 3]);
  expect(heard[2]).toEqual(isOver(1, 1, null));
  expect(JSON.stringify(heard[3])).toContain("done 3");
  // With a token of its own progress is passed on, and the last is told.
  say(call(4, "works", { arguments: { ends: false }, _meta: { progressToken: "mine" } }));
  await vi.waitFor(() => expect(heard.filter(({ id }) => id === 4)).toHaveLength(1), { timeout: 10_000 });
  expect(heard.at(-1)).toEqual(isOver(4, 1, "step 4"));
  expect(heard.filter(({ method }) => method === "notifications/progress")).toHaveLength(4);
  await vi.waitFor(() => expect(errors).toEqual(expect.arrayContaining(["cancelled 1", "cancelled 4"])));
  expect(errors.join("\n")).toContain(`sluice: hangs: ${overAfter(1).message}`);
  child.stdin.end();
  await once(child, "close");
});

test("the host is told meanwhile, as progress where it asked for that and else in its log", async () => {
  const told: [string, WaitNotice][] = [];
  const limit = {
    timeoutSeconds: 0.8,
    notifyAfter: [0.2, 0.4, 0.6],
    onNotice: (tool: string, notice: WaitNotice): void => void told.push([tool, notice]),
  };
  const interceptor = new McpInterceptor({ ...(await interceptorDeps({})), limit });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const heard: Message[] = [];
  const toServer: Message[] = [];
  const client = async (text: string): Promise<void> => void heard.push(JSON.parse(text) as Message);
  const put = async (bytes: Uint8Array): Promise<void> =>
    void toServer.push(JSON.parse(Buffer.from(bytes).toString()) as Message);
  const sink = { forward: async () => undefined, complete: async () => undefined };
  void passServerLines(output, interceptor, {
    client: sink,
    nonProtocol: sink,
    reply: (text) => void put(Buffer.from(text)),
  });
  output.write('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"here"}}\n');
  const passed = passClientLines(input, interceptor, { server: put, client });
  input.write(`${JSON.stringify(call(1, "a"))}\n${JSON.stringify(call(2, "b", { _meta: { progressToken: 7 } }))}\n`);
  await vi.waitFor(() => expect(heard).toHaveLength(8), { timeout: 5000 });
  const messages = [...waitNotices(limit.notifyAfter, 0.8)].map(({ message }) => message);
  const logged = messages.map((data) => ({
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "warning", logger: "sluice", data },
  }));
  expect(heard.filter(({ method }) => method === "notifications/message")).toEqual(logged);
  const progress = heard
    .filter(({ method }) => method === "notifications/progress")
    .map(({ params }) => params as Message);
  expect(progress.map(({ progressToken, message }) => [progressToken, message])).toEqual(
    messages.map((each) => [7, each]),
  );
  const steps = progress.map((each) => Number(each["progress"]));
  expect(steps).toEqual([...new Set(steps)].sort((left, right) => left - right));
  expect(heard.filter(({ id }) => id === 1)).toEqual([isOver(1, 0.8, null)]);
  expect(toServer.slice(2).map(({ method, params }) => [method, (params as Message)["requestId"]])).toEqual([
    ["notifications/cancelled", 1],
    ["notifications/cancelled", 2],
  ]);
  expect(told.filter(([tool]) => tool === "a").map(([, notice]) => notice)).toEqual([
    ...waitNotices(limit.notifyAfter, 0.8),
    overAfter(0.8),
  ]);
  input.end();
  await passed;
});

test("an answer that takes long to arrive is not silence", async () => {
  let receiving = true;
  const limits = new CallLimits({
    timeoutSeconds: 0.2,
    notifyAfter: [],
    onNotice: () => undefined,
    isReceiving: () => receiving,
  });
  let isOverNow = false;
  const request = { text: "", id: "1", key: "1", method: "tools/call", params: { name: "a" }, isModern: false };
  const limited = limits.watch(request, () => (isOverNow = true));
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(isOverNow).toBe(false);
  receiving = false;
  await vi.waitFor(() => expect(isOverNow).toBe(true));
  const messages: string[] = [];
  for await (const { toClient } of limited) messages.push(toClient);
  expect(messages.map((message) => JSON.parse(message) as Message)).toEqual([isOver(1, 0.2, null)]);
});

test("a server at an address is waited for no longer either", async () => {
  await using room = await Room.open();
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const piece of request) body += String(piece);
      const { id, method, params } = JSON.parse(body || "{}") as { id?: number; method?: string; params?: Message };
      if (method === "tools/call") return;
      if (method !== "initialize") {
        response.writeHead(202).end();
        return;
      }
      const serverInfo = { name: "silent", version: "1" };
      const result = { protocolVersion: params?.["protocolVersion"], capabilities: { tools: {} }, serverInfo };
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const child = start(["proxy", "--timeout", "1", "--store", room.path("store"), "--url", url]);
  onTestFinished(() => void child.kill());
  const heard: Message[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => void heard.push(JSON.parse(line) as Message));
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  child.stdin.write(`${JSON.stringify(call(1, "hangs"))}\n`);
  await vi.waitFor(() => expect(heard).toHaveLength(2), { timeout: 5000 });
  expect(heard[1]).toEqual(isOver(1, 1, null));
});

test.each([
  [["--timeout", "0"], "--timeout takes a number of seconds from 1 to 300"],
  [["--timeout", "soon"], "--timeout takes a number of seconds from 1 to 300"],
])("%j is refused with what is right", async (args, sentence) => {
  const { code, stderr } = await sluice(["proxy", ...args, "--", process.execPath]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});
