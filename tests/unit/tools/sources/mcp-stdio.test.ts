/** MCP servers that run as processes: how they start, and how they go. */
import { describe, expect, it } from "vitest";
import { ToolConnectionError, ToolNodeError } from "../../../../web/src/tools/errors.js";
import { isRunning } from "../../../e2e/faults/host.js";
import { FIXTURE } from "./mcp/fixture.js";
import { serverScript } from "./mcp/server-script.js";
import { call, opened, process, scripted, serving, setting, until } from "./mcp/setting.js";

const MIB = 1024 * 1024;

describe("a process", () => {
  it("gets its own variables beside the few that are safe, and no others", async () => {
    globalThis.process.env["SLUICE_TEST_SECRET"] = "secret";
    const at = await setting();
    const script = serverScript({
      tools: { env: "return JSON.stringify({ content: [], structuredContent: { ...process.env } });" },
    });
    await using connection = await opened(scripted(at, script, { env: { MINE: "yes" } }), at);
    const { value } = (await call(connection, "env")).reduced;
    expect(value).toMatchObject({ MINE: "yes", PATH: expect.any(String) as unknown });
    expect(value).not.toHaveProperty("SLUICE_TEST_SECRET");
  });

  it("is not started through a shell", async () => {
    const at = await setting();
    const source = process(at, { argv: [...FIXTURE, "--tool", "$(echo it)"] });
    await using connection = await opened(source, at);
    const tools = await connection.tools(new AbortController().signal);
    expect(tools.map(({ name }) => name)).toContain("$(echo it)");
  });

  it("that cannot be started is an error without a second attempt", async () => {
    const at = await setting();
    const source = process(at, { argv: ["no-such-command-anywhere"] });
    const failure = await opened(source, at).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolNodeError);
    expect(failure).toMatchObject({ category: "non_retryable", neverSent: true });
  });

  it("that ends at once is an error", async () => {
    const at = await setting();
    const failure = await opened(scripted(at, "process.exit(3)"), at).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolConnectionError);
  });

  it("that ends when it is asked anything before `initialize` is asked that", async () => {
    await using connection = await serving({
      tools: { hello: 'return `{"content":[{"type":"text","text":"hello"}]}`;' },
      before: 'if (message.method === "server/discover") process.exit(1);',
    });
    expect((await call(connection, "hello")).reduced.value).toBe("hello");
  });

  it("tells what it complains of to whoever listens", async () => {
    const at = await setting();
    let said = "";
    const onErrorOutput = (chunk: Uint8Array): void => void (said += new TextDecoder().decode(chunk));
    await using connection = await opened(process(at, { argv: FIXTURE, onErrorOutput }), at);
    await call(connection, "complain", { line: "something is odd" });
    expect(await until(() => (said.includes("something is odd") ? said : undefined))).toContain("something is odd");
  });

  it("that says more on its error output than anybody reads does not stand still", async () => {
    await using connection = await serving({
      tools: { loud: 'process.stderr.write("x".repeat(1_000_000)); return `{"content":[]}`;' },
    });
    expect((await call(connection, "loud")).isError).toBe(false);
  });

  it("may print lines that are no message", async () => {
    const at = await setting();
    await using connection = await opened(process(at, { argv: FIXTURE }), at);
    expect((await call(connection, "stray")).reduced.value).toBe("printed");
  });

  it("ends with its connection", async () => {
    const connection = await serving({
      tools: { pid: "return JSON.stringify({ content: [], structuredContent: { pid: process.pid } });" },
      prelude: 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);',
    });
    const { pid } = (await call(connection, "pid")).reduced.value as { pid: number };
    await connection[Symbol.asyncDispose]();
    expect(connection.isOpen).toBe(false);
    expect(isRunning(pid)).toBe(false);
    await expect(call(connection, "pid")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
  });

  it("that is still starting when nobody waits any more ends too", async () => {
    const at = await setting();
    const abort = new AbortController();
    const reason = new Error("enough");
    let pid = "";
    const onErrorOutput = (chunk: Uint8Array): void => void (pid += new TextDecoder().decode(chunk));
    const source = scripted(at, "console.error(process.pid); setInterval(() => {}, 1000);", { onErrorOutput });
    const opening = opened(source, at, { signal: abort.signal });
    await until(() => (pid.endsWith("\n") ? pid : undefined));
    abort.abort(reason);
    await expect(opening).rejects.toBe(reason);
    await expect.poll(() => isRunning(Number(pid))).toBe(false);
  });
});

describe("a server that dies", () => {
  it.each([
    ["before its answer", {}],
    ["in the middle of its answer", { bytes: 300_000 }],
    ["by a signal", { signal: "SIGKILL" }],
  ])("%s fails its calls, and is not open", async (_name, args) => {
    const at = await setting();
    await using connection = await opened(process(at, { argv: FIXTURE }), at);
    const slow = call(connection, "slow").catch((error: unknown) => error);
    const failed = await call(connection, "crash", args).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ToolConnectionError);
    expect(failed).toMatchObject({ code: "E_TOOL_CONNECTION", category: "network" });
    expect((failed as ToolConnectionError).neverSent).not.toBe(true);
    expect(await slow).toBeInstanceOf(ToolConnectionError);
    expect(connection.isOpen).toBe(false);
    await expect(call(connection, "greet")).rejects.toMatchObject({ neverSent: true });
  });

  it("is started again by the same source", async () => {
    const at = await setting();
    const source = process(at, { argv: FIXTURE });
    const first = await opened(source, at);
    await call(first, "crash").catch(() => undefined);
    await first[Symbol.asyncDispose]();
    await using second = await opened(source, at);
    expect((await call(second, "greet", { name: "Ada" })).reduced.value).toBe("Hello, Ada!");
  });
});

it("a server without resources offers none, and one without tools none of those", async () => {
  await using connection = await serving({ tools: {} });
  expect(connection.resources).toBeUndefined();
  await using bare = await serving({
    tools: {},
    before: `if (message.method !== "initialize") return false;
      answer(message.id, JSON.stringify({ protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } }));
      return true;`,
  });
  expect(await bare.tools(new AbortController().signal)).toEqual([]);
});

it("arguments that are larger than any server takes are not sent", async () => {
  await using connection = await serving({ tools: { hello: 'return `{"content":[]}`;' } });
  const failed = call(connection, "hello", { text: "x".repeat(8 * MIB + 1) });
  await expect(failed).rejects.toThrow(/8 MiB of arguments/);
  expect((await call(connection, "hello")).isError).toBe(false);
});

it("follows all pages of a list of tools", async () => {
  const at = await setting();
  const whole = await opened(process(at, { argv: FIXTURE }), at);
  const all = await whole.tools(new AbortController().signal);
  await whole[Symbol.asyncDispose]();
  await using connection = await opened(process(at, { argv: [...FIXTURE, "--page", "3"] }), at);
  expect(await connection.tools(new AbortController().signal)).toEqual(all);
});
