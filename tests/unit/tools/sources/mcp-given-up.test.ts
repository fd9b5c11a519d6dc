/** Calls that are given up: whether the server has answered them since, and what becomes of its program. */
import { expect, it } from "vitest";
import { ToolConnectionError } from "../../../../web/src/tools/errors.js";
import type { SourceConnection } from "../../../../web/src/tools/source.js";
import { isRunning } from "../../../e2e/faults/host.js";
import { useTaskServer } from "./mcp/task-server.js";
import { call, opened, over, serving, setting, until } from "./mcp/setting.js";
import { listening } from "./mcp/http-server.js";

const tasks = useTaskServer();

/** Gives up a call once it has begun, and gives what tells whether it is answered. */
async function givenUp(connection: SourceConnection, tool: string, args: object = {}): Promise<() => boolean> {
  const abort = new AbortController();
  const reason = new Error("too late");
  let isAnswered: (() => boolean) | undefined;
  const given = call(
    connection,
    tool,
    { ...args },
    {
      signal: abort.signal,
      onGivenUp: (told) => (isAnswered = told),
      onProgress: () => abort.abort(reason),
    },
  );
  await expect(given).rejects.toBe(reason);
  return until(() => isAnswered);
}

const BEGUN = `write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: 1 } }));`;
const SILENT = `${BEGUN} await new Promise(() => {});`;

it("one that the server answers in spite of it is answered", async () => {
  await using connection = await serving({
    tools: {
      late: `${BEGUN} await new Promise((resolve) => (globalThis.release = resolve)); return '{"content":[]}';`,
    },
    before: `if (message.method === "notifications/cancelled") setTimeout(() => release(), 100);`,
  });
  const isAnswered = await givenUp(connection, "late");
  expect(isAnswered()).toBe(false);
  await expect.poll(isAnswered).toBe(true);
});

it("one that the server takes back without a word is not, whatever else it answers", async () => {
  await using connection = await serving({ tools: { silent: SILENT, hello: `return '{"content":[]}';` } });
  const isAnswered = await givenUp(connection, "silent");
  await call(connection, "hello");
  expect(isAnswered()).toBe(false);
});

it("a task is answered when the server has ended it", async () => {
  const at = await setting();
  await using connection = await opened(tasks(at, "stdio"), at);
  const isAnswered = await givenUp(connection, "hang");
  await expect.poll(isAnswered).toBe(true);
});

it("nothing is told of a call that fails by itself", async () => {
  await using connection = await serving({ tools: { gone: "process.exit(1);" } });
  let told = 0;
  await call(connection, "gone", {}, { onGivenUp: () => (told += 1) }).catch(() => undefined);
  expect(told).toBe(0);
});

it("a program is ended whatever it is doing, and its calls fail as where it goes by itself", async () => {
  await using connection = await serving({
    tools: {
      // What is written has left by then.
      busy: `${BEGUN} await new Promise((resolve) => setTimeout(resolve, 50)); for (;;);`,
      pid: "return JSON.stringify({ content: [], structuredContent: { pid: process.pid } });",
    },
    prelude: 'process.on("SIGTERM", () => {});',
  });
  const { pid } = (await call(connection, "pid")).reduced.value as { pid: number };
  let busy: Promise<unknown> | undefined;
  await new Promise<void>((onProgress) => {
    busy = call(connection, "busy", {}, { onProgress: () => onProgress() }).catch((error: unknown) => error);
  });
  const ended = connection.kill?.();
  expect(connection.isOpen).toBe(false);
  // Whoever wants the next one closes this one, and waits for its end.
  await connection[Symbol.asyncDispose]();
  expect(isRunning(pid)).toBe(false);
  const failed = await busy;
  expect(failed).toBeInstanceOf(ToolConnectionError);
  expect(failed).toMatchObject({ isRetryable: true });
  await ended;
});

it("over HTTP there is no program to end", async () => {
  await using server = await listening("legacy", () => false);
  const at = await setting();
  await using connection = await opened(over(at, { url: server.url }), at);
  await connection.kill?.();
  expect(connection.isOpen).toBe(true);
});
