import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { ToolNodeError } from "../../../../../web/src/tools/errors.js";
import type { ToolProgress } from "../../../../../web/src/tools/context.js";
import {
  expectedHash,
  useConnection,
  useFixture,
  call,
  hashOf,
  opened,
  over,
  serving,
  setting,
  useTaskServer,
} from "./setting.js";
import { answer, type Came, isCall, listening, refuse } from "./http-server.js";
import { DISCOVERABLE } from "./server-script.js";

const fixture = useFixture();
const tasks = useTaskServer();

describe.each(["stdio", "http"] as const)("2025-11-25, the official SDK's server, %s", (transport) => {
  const own = useConnection((at) => tasks(at, transport));

  it("are followed to their result, which goes through the gate", async () => {
    const told: ToolProgress[] = [];
    const onProgress = (progress: ToolProgress): void => void told.push(progress);
    const { reduced, isError } = await call(own.connection, "file", { bytes: 300_000 }, { onProgress });
    expect(isError).toBe(false);
    expect(reduced.artifacts).toMatchObject([{ mime_type: "application/pdf", size_bytes: 300_000 }]);
    expect(reduced.text).not.toContain("JVBERi");
    expect(told.map(({ progress }) => progress)).toEqual(told.map((_, index) => index + 1));
    expect(told.map(({ message }) => message)).toContain("Reading[31m…");
  });

  it("that fail have a result that says so, or an error without the server's words", async () => {
    const { reduced, isError } = await call(own.connection, "fail");
    expect({ isError, text: reduced.text }).toMatchObject({
      isError: true,
      text: expect.stringContaining("wrong") as string,
    });
    const broken = call(own.connection, "broken");
    await expect(broken).rejects.toMatchObject({ name: expect.stringMatching(/^Tool/) as string });
    await expect(broken).rejects.not.toThrow(/secret/);
  });

  it("that the server ends are told of as that", async () => {
    await expect(call(own.connection, "dropped")).rejects.toMatchObject({ category: "cancelled" });
  });

  it("are cancelled at the server when nobody wants them any more", async () => {
    const before = Number((await call(own.connection, "cancelled")).reduced.value);
    const abort = new AbortController();
    const reason = new Error("enough");
    const hanging = call(own.connection, "hang", {}, { signal: abort.signal, onProgress: () => abort.abort(reason) });
    await expect(hanging).rejects.toBe(reason);
    await expect.poll(async () => (await call(own.connection, "cancelled")).reduced.value).toBe(String(before + 1));
  });

  it("ask the person behind the call, also while others are under way", async () => {
    const asked: unknown[] = [];
    const asking = (user_id: string): Promise<unknown> => {
      const pause = async (reason: string, payload: Readonly<Record<string, unknown>>): Promise<unknown> => {
        asked.push([reason, payload["pause_type"], payload["message"], payload["tool"]]);
        return { [user_id]: `I am ${user_id}`, more: "not asked for" };
      };
      return call(own.connection, "ask", { fields: user_id }, { pause, scope: { user_id } }).then(
        ({ reduced }) => reduced.value,
      );
    };
    expect(await Promise.all([asking("ada"), asking("bob")])).toEqual(
      ["ada", "bob"].map((name) => ({ action: "accept", content: { [name]: `I am ${name}` } })),
    );
    expect(asked).toContainEqual(["await_input", "elicitation", "What ada?", "ask"]);
    expect((await call(own.connection, "ask")).reduced.value).toEqual({ action: "decline" });
  });

  it("that need not be tasks are called as ever", async () => {
    expect((await call(own.connection, "optional")).reduced.value).toBe("as you like");
  });

  it("are known as what they are where others have listed the tools", async () => {
    const alone = await setting();
    await using other = await opened(tasks(alone, transport), alone);
    const [one, two] = await Promise.all([call(other, "file", { bytes: 5000 }), call(other, "fail")]);
    expect([one.isError, two.isError]).toEqual([false, true]);
  });
});

describe.each(["stdio", "http"] as const)("2026-07-28, the fixture, %s", (transport) => {
  const own = useConnection((at) => fixture(at, transport, "modern"));

  it("are followed to their result, which goes through the gate", async () => {
    const told: number[] = [];
    const onProgress = ({ progress }: ToolProgress): void => void told.push(progress);
    const { reduced, isError } = await call(own.connection, "render", { bytes: 300_000 }, { onProgress });
    expect(isError).toBe(false);
    expect(await hashOf(reduced, own.at)).toBe(await expectedHash(own.connection, "png", 300_000));
    expect(told).toEqual([1]);
  });

  it("that fail have a result that says so, or an error by its code", async () => {
    const { reduced, isError } = await call(own.connection, "failing_job");
    expect({ isError, value: reduced.value }).toMatchObject({ isError: true, value: { content: "the job failed" } });
    const broken = call(own.connection, "protocol_error_job");
    await expect(broken).rejects.toMatchObject({ code: "E_TOOL_SERVER" });
    await expect(broken).rejects.toThrow(/ It says: "the job broke"$/);
  });

  it("ask a person while they go on, everything at once or one after the other", async () => {
    const messages: unknown[] = [];
    const pause = async (_reason: string, { message }: Readonly<Record<string, unknown>>): Promise<unknown> => {
      messages.push(message);
      return { confirm: true };
    };
    const one = await call(own.connection, "confirm_delete", { filename: "a.txt" }, { pause });
    expect(one.reduced.text).toContain("confirm");
    const two = await call(own.connection, "multi_input", {}, { pause });
    const accepted = { action: "accept", content: { confirm: true } };
    expect(two.reduced.value).toEqual({ first: accepted, second: accepted });
    expect(messages).toEqual(["Delete a.txt?", "First?", "Second?"]);
    const declined = await call(own.connection, "multi_input");
    expect(declined.reduced.value).toEqual({ first: { action: "decline" }, second: { action: "decline" } });
  });

  it("may be made of a call that asked first", async () => {
    const { reduced } = await call(own.connection, "test_tool_with_task", {}, { pause: async () => ({ name: "Ada" }) });
    expect(reduced.value).toBe("Hello, Ada!");
  });

  it("are cancelled at the server when nobody wants them any more", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    const args = { seconds: 600, label: "x" };
    const slow = call(own.connection, "slow_compute", args, {
      signal: abort.signal,
      onProgress: () => abort.abort(reason),
    });
    await expect(slow).rejects.toBe(reason);
    expect((await call(own.connection, "greet", { name: "Ada" })).reduced.value).toBe("Hello, Ada!");
  });
});

it("a task ends with the connection, and it is said that this was closed", async () => {
  const at = await setting();
  const [first, second] = [await opened(tasks(at, "http"), at), await opened(tasks(at, "http"), at)];
  const before = Number((await call(second, "cancelled")).reduced.value);
  const begun = new AbortController();
  const hanging = call(first, "hang", {}, { onProgress: () => begun.abort() }).catch((error: unknown) => error);
  await once(begun.signal, "abort");
  await first[Symbol.asyncDispose]();
  expect(await hanging).toMatchObject({ code: "E_TOOL", message: expect.stringContaining("was closed") as string });
  expect(Number((await call(second, "cancelled")).reduced.value)).toBe(before + 1);
  await second[Symbol.asyncDispose]();
});

it("a server that goes while it works on a task is no reason to begin another", async () => {
  const at = await setting();
  await using connection = await opened(tasks(at, "stdio"), at);
  const { pid } = (await call(connection, "pid")).reduced.value as { readonly pid: number };
  const onProgress = (): void => void process.kill(pid, "SIGKILL");
  const failed = await call(connection, "hang", {}, { onProgress }).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: "E_TOOL_CONNECTION" });
  expect(failed).not.toHaveProperty("neverSent", true);
});

/** A server of 2026-07-28 that makes a task of each call; a task's name is the status that it comes to. */
const LOOKS = `
  const { taskId } = message.params ?? {};
  const status = { resultType: "complete", taskId, status: taskId, pollIntervalMs: -5 };
  if (message.method === "tasks/get") return answer(message.id, JSON.stringify(status)), true;
  ${DISCOVERABLE}`;

/** What a server of 2025-11-25 says of itself that runs `work` as a task and in no other way, and `heard` as ever. */
const TASKING = JSON.stringify({
  protocolVersion: "2025-11-25",
  capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
  serverInfo: { name: "tasking", version: "1" },
});
const LISTED = JSON.stringify({
  tools: [
    { name: "work", inputSchema: { type: "object" }, execution: { taskSupport: "required" } },
    { name: "heard", inputSchema: { type: "object" } },
  ],
});

const making = (task: object): string => `return ${JSON.stringify(JSON.stringify({ resultType: "task", ...task }))};`;

describe("a task", () => {
  it.each([
    ["without a name", { status: "working" }, { code: "E_TOOL_SERVER", category: "non_retryable" }],
    [
      "with a name that nobody can say",
      { taskId: "x".repeat(10_000) },
      { code: "E_TOOL_SERVER", category: "non_retryable" },
    ],
    ["that is done and gives nothing", { taskId: "completed" }, { code: "E_TOOL_SERVER", category: "non_retryable" }],
    ["that failed and does not say how", { taskId: "failed" }, { code: "E_TOOL_SERVER", category: "non_retryable" }],
    ["that the server ended", { taskId: "cancelled" }, { code: "E_TOOL", category: "cancelled" }],
  ])("%s is an error", async (_name, task, error) => {
    await using connection = await serving({ tools: { work: making(task) }, before: LOOKS });
    await expect(call(connection, "work")).rejects.toMatchObject(error);
  });

  it("of an unknown status goes on until it is given up", async () => {
    await using connection = await serving({ tools: { work: making({ taskId: "dreaming" }) }, before: LOOKS });
    const abort = new AbortController();
    const reason = new Error("enough");
    let looks = 0;
    const onProgress = (): void => {
      looks += 1;
      if (looks === 3) abort.abort(reason);
    };
    await expect(call(connection, "work", {}, { signal: abort.signal, onProgress })).rejects.toBe(reason);
  });

  it("is looked at no more often than the server wants", async () => {
    await using connection = await serving({
      tools: { work: making({ taskId: "working" }) },
      before: LOOKS.replace("-5", "300"),
    });
    const times: number[] = [];
    const abort = new AbortController();
    const onProgress = (): void => {
      if (times.push(performance.now()) === 4) abort.abort(new Error("enough"));
    };
    await expect(call(connection, "work", {}, { signal: abort.signal, onProgress })).rejects.toThrow("enough");
    // Timers may be early by a part of a millisecond.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(890);
  });

  const done = { resultType: "complete", status: "completed", result: { content: [{ type: "text", text: "done" }] } };
  it.each([
    [1, "done"],
    [3, undefined],
  ])("at which %i looks fail: %s", async (failures, value) => {
    let looks = 0;
    const answering = (came: Came): boolean => {
      if (isCall(came)) {
        answer(came, { resultType: "task", taskId: "t", status: "working", pollIntervalMs: 100 });
        return true;
      }
      if (came.rpc?.method !== "tasks/get") return false;
      looks += 1;
      if (looks <= failures) return refuse(came, 503);
      answer(came, { ...done, taskId: "t" });
      return true;
    };
    await using server = await listening("modern", answering);
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url }), at);
    const came = await call(connection, "hello").catch((thrown: unknown) => thrown);
    expect(came instanceof ToolNodeError).toBe(value === undefined);
    // By its status the call would be made again.
    expect(came).not.toHaveProperty("status");
    const error = { code: "E_TOOL_SERVER", category: "retryable_server" };
    expect(came).toMatchObject(value === undefined ? error : { reduced: { text: `"${value}"` } });
    const ended = (): number => server.came.filter(({ rpc }) => rpc?.method === "tasks/cancel").length;
    await expect.poll(ended).toBe(value === undefined ? 1 : 0);
  });
});

const taskOf = (status: string): string =>
  JSON.stringify({ taskId: "t", status, ttl: null, createdAt: "", lastUpdatedAt: "", pollInterval: 100 });

it("a task that ends without the result that was asked for takes that request back (2025-11-25)", async () => {
  await using connection = await serving({
    prelude: "let asked, hear; const heard = new Promise((resolve) => (hear = resolve));",
    before: `
      const { method } = message;
      if (method === "initialize") return answer(message.id, '${TASKING}'), true;
      if (method === "tools/list") return answer(message.id, '${LISTED}'), true;
      if (method === "tasks/result") return (asked = message.id), true;
      if (method === "tasks/get") return answer(message.id, '${taskOf("cancelled")}'), true;
      if (method === "notifications/cancelled" && message.params.requestId === asked) hear();`,
    tools: {
      work: `return '{"task":${taskOf("input_required")}}';`,
      heard: `await heard; return '{"content":[{"type":"text","text":"heard"}]}';`,
    },
  });
  await expect(call(connection, "work")).rejects.toMatchObject({ category: "cancelled" });
  expect((await call(connection, "heard")).reduced.value).toBe("heard");
});

it.each([
  ["something that is no result", { resultType: "odd" }],
  ["nothing but that it has to be asked again, for ever", { resultType: "input_required", requestState: "more" }],
])("a call that is answered with %s is an error", async (_name, result) => {
  const tool = `return ${JSON.stringify(JSON.stringify(result))};`;
  await using connection = await serving({ tools: { work: tool }, before: DISCOVERABLE });
  const failed = call(connection, "work");
  await expect(failed).rejects.toMatchObject({ code: "E_TOOL_SERVER", category: "non_retryable" });
});
