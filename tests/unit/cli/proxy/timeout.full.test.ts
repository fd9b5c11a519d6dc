/** The limit on the silence of tools: its notices, and what the option takes. What a proxy does is in `timeout-ways`. */
import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { CallLimits } from "../../../../web/src/mcp/call-limit.js";
import { McpInterceptor } from "../../../../web/src/mcp/interceptor.js";
import { interceptorDeps } from "../../../../web/src/mcp/interceptor-options.js";
import { passClientLines, passServerLines } from "../../../../web/src/mcp/stdio/lines.js";
import { overAfter, timeoutResult, waitNotices, type WaitNotice } from "../../../../web/src/mcp/wait-notices.js";
import { sluice } from "../command.js";

type Message = Readonly<Record<string, unknown>>;

const call = (id: number, name: string, more: object = {}): Message => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {}, ...more },
});

const isOver = (id: number, seconds: number, last: string | null): object => {
  const value = timeoutResult(seconds, last);
  const content = [{ type: "text", text: JSON.stringify(value) }];
  return { jsonrpc: "2.0", id, result: { content, structuredContent: value, isError: true } };
};

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

test.each([
  [["--timeout", "0"], "--timeout takes a number of seconds from 1 to 300"],
  [["--timeout", "soon"], "--timeout takes a number of seconds from 1 to 300"],
])("%j is refused with what is right", async (args, sentence) => {
  const { code, stderr } = await sluice(["proxy", ...args, "--", process.execPath]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});
