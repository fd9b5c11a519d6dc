/** Tasks of servers that do not keep to the protocol, or are not always there. */
import { describe, expect, it } from "vitest";
import { ToolNodeError } from "../../../../../web/src/tools/errors.js";
import { answer, isCall, listening, refuse, type Came } from "./http-server.js";
import { DISCOVERABLE } from "./server-script.js";
import { call, opened, over, serving, setting } from "./setting.js";

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

  it("of a status that nobody knows goes on until it is given up", async () => {
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
