/** MCP servers that run as processes: how they start, what they answer, and how they go. */
import { describe, expect, it } from "vitest";
import { ToolConnectionError, ToolNodeError } from "../../../../web/src/tools/errors.js";
import type { SourceConnection } from "../../../../web/src/tools/source.js";
import { serverScript, type ScriptTerms } from "./mcp/server-script.js";
import { call, opened, process, scripted, setting, STDIO, until, type Setting } from "./mcp/setting.js";

const MIB = 1024 * 1024;
const FIXTURE = [globalThis.process.execPath, STDIO] as const;

const ERAS = ["legacy", "modern"] as const;

/** Of the later era. */
const DISCOVERABLE = `if (message.method !== "server/discover") return false;
  answer(message.id, JSON.stringify({ resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" }));
  return true;`;

async function serving(terms: ScriptTerms): Promise<{ readonly at: Setting; readonly connection: SourceConnection }> {
  const at = await setting();
  return { at, connection: await opened(scripted(at, serverScript(terms)), at) };
}

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
    const { connection } = await serving({
      tools: { hello: 'return `{"content":[{"type":"text","text":"hello"}]}`;' },
      before: 'if (message.method === "server/discover") process.exit(1);',
    });
    expect((await call(connection, "hello")).reduced.value).toBe("hello");
    await connection[Symbol.asyncDispose]();
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
    const { connection } = await serving({
      tools: { loud: 'process.stderr.write("x".repeat(1_000_000)); return `{"content":[]}`;' },
    });
    expect((await call(connection, "loud")).isError).toBe(false);
    await connection[Symbol.asyncDispose]();
  });

  it("may print lines that are no message", async () => {
    const at = await setting();
    await using connection = await opened(process(at, { argv: FIXTURE }), at);
    expect((await call(connection, "stray")).reduced.value).toBe("printed");
  });

  it("ends with its connection", async () => {
    const { connection } = await serving({
      tools: { pid: "return JSON.stringify({ content: [], structuredContent: { pid: process.pid } });" },
      prelude: 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);',
    });
    const { pid } = (await call(connection, "pid")).reduced.value as { pid: number };
    await connection[Symbol.asyncDispose]();
    expect(connection.isOpen).toBe(false);
    expect(() => globalThis.process.kill(pid, 0)).toThrow(/ESRCH/);
    await expect(call(connection, "pid")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
  });

  it("that is still starting when nobody waits any more ends too", async () => {
    const at = await setting();
    const abort = new AbortController();
    const reason = new Error("enough");
    const opening = opened(scripted(at, "setInterval(() => {}, 1000);"), at, { signal: abort.signal });
    setTimeout(() => abort.abort(reason), 100);
    await expect(opening).rejects.toBe(reason);
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

describe("an answer whose id comes last", () => {
  const tools = {
    blob: "return blob(args.byte, args.size);",
    slow_blob: "return new Promise((resolve) => { globalThis.release = () => resolve(blob(args.byte, args.size)); });",
    release: 'globalThis.release(); return `{"content":[]}`;',
    never: "return new Promise(() => {});",
  };

  it("goes to its own call, scope and all, whatever else is under way", async () => {
    const { at, connection } = await serving({ tools, idLast: true });
    const sizes = [2000, 100_000, 9 * MIB, 12 * MIB, 70_000, 300];
    const results = await Promise.all(
      sizes.map(async (size, byte) => {
        const scope = { user_id: `user ${byte % 2}` };
        const { reduced } = await call(connection, "blob", { byte, size }, { scope });
        return { size, scope, refs: reduced.artifacts, text: reduced.text };
      }),
    );
    for (const { size, scope, refs, text } of results) {
      expect(refs).toMatchObject([{ size_bytes: size, namespace: "fix" }]);
      expect(refs[0]?.scope.user_id).toBe(scope.user_id);
      expect(refs[0]?.source["tool"]).toBe("blob");
      expect(text).toContain('"summary":"PDF');
      expect(text).not.toContain("sluice/refs");
    }
    await connection[Symbol.asyncDispose]();
    const owners = new Set<unknown>();
    for await (const { scope } of at.store.list()) owners.add(scope.user_id);
    expect(owners).toEqual(new Set(["user 0", "user 1"]));
  });

  it.each([200_000, 9 * MIB])("of a call that was given up does not become another user's: %i bytes", async (size) => {
    const { at, connection } = await serving({ tools, idLast: true });
    const abort = new AbortController();
    const options = { scope: { user_id: "ada" }, signal: abort.signal };
    const given = call(connection, "slow_blob", { byte: 1, size }, options).catch(() => undefined);
    await call(connection, "blob", { byte: 2, size: 100 });
    abort.abort();
    await given;
    const waiting = new AbortController();
    const other = call(connection, "never", {}, { scope: { user_id: "bob" }, signal: waiting.signal });
    await call(connection, "release", {}, { scope: { user_id: "bob" } });
    await call(connection, "blob", { byte: 3, size: 500 }, { scope: { user_id: "bob" } });
    waiting.abort();
    await other.catch(() => undefined);
    const stored = [];
    for await (const { scope, size_bytes } of at.store.list({ user_id: "bob" }))
      stored.push([scope.user_id, size_bytes]);
    expect(stored).toEqual([["bob", 500]]);
    const all = [];
    for await (const { size_bytes } of at.store.list()) all.push(size_bytes);
    expect(all.toSorted((left, right) => left - right)).toEqual([100, 500]);
    await connection[Symbol.asyncDispose]();
  });
});

it.each(ERAS)("a call that is given up is given up at the server: %s", async (era) => {
  const { connection } = await serving({
    tools: {
      never: "globalThis.asked = id; return new Promise(() => {});",
      told: "return JSON.stringify({ resultType: 'complete', content: [], structuredContent: { told: globalThis.told, asked } });",
    },
    before: `if (message.method === "notifications/cancelled") globalThis.told = message.params.requestId;
      ${era === "modern" ? DISCOVERABLE : ""}`,
  });
  const abort = new AbortController();
  const never = call(connection, "never", {}, { signal: abort.signal }).catch(() => "given up");
  await call(connection, "told");
  abort.abort();
  expect(await never).toBe("given up");
  const { told, asked } = (await call(connection, "told")).reduced.value as { told: unknown; asked: unknown };
  expect(told).toBe(asked);
  await connection[Symbol.asyncDispose]();
});

describe("an odd answer", () => {
  it("under its id as a string is taken all the same, reduced", async () => {
    const { connection } = await serving({
      tools: { blob: 'write(`{"jsonrpc":"2.0","id":"${id}","result":${blob(1, 50_000)}}`);' },
    });
    const { reduced } = await call(connection, "blob");
    expect(reduced.artifacts).toMatchObject([{ size_bytes: 50_000 }]);
    await connection[Symbol.asyncDispose]();
  });

  it("that is no JSON fails its call, and the connection lives on", async () => {
    const { connection } = await serving({
      tools: {
        bad: 'write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":tru}]}}`);',
        good: 'return `{"content":[{"type":"text","text":"good"}]}`;',
      },
    });
    await expect(call(connection, "bad")).rejects.toThrow(ToolNodeError);
    expect((await call(connection, "good")).reduced.value).toBe("good");
    await connection[Symbol.asyncDispose]();
  });

  it.each([
    ["a number", "7"],
    ["a list", "[1,2]"],
    ["no content", '{"x":1}'],
    ["a block of no known type", '{"content":[{"type":"hologram","data":"x"}]}'],
  ])("as %s is no reason to fail: it is shown as it is", async (_name, result) => {
    const { connection } = await serving({ tools: { odd: `return ${JSON.stringify(result)};` } });
    const { reduced } = await call(connection, "odd", {}, { dialect: "mcp" });
    expect(reduced.value).toEqual(JSON.parse(result));
    await connection[Symbol.asyncDispose]();
  });

  it("that says it is a task is an error, and nothing of it is stored", async () => {
    const { at, connection } = await serving({
      tools: { task: 'return JSON.stringify({ resultType: "task", taskId: "t", data: base64(1, 20000) });' },
      before: DISCOVERABLE,
    });
    await expect(call(connection, "task")).rejects.toThrow(ToolNodeError);
    for await (const ref of at.store.list()) expect(ref).toBeUndefined();
    await connection[Symbol.asyncDispose]();
  });

  it("of many calls at once is kept apart", async () => {
    const { connection } = await serving({
      tools: { echo: "return JSON.stringify({ content: [{ type: 'text', text: String(args.n) }] });" },
      idLast: true,
    });
    const numbers = Array.from({ length: 1000 }, (_, n) => n);
    const results = await Promise.all(numbers.map((n) => call(connection, "echo", { n })));
    expect(results.map(({ reduced }) => Number(reduced.value))).toEqual(numbers);
    await connection[Symbol.asyncDispose]();
  });
});

it("a server without resources offers none, and one without tools none of those", async () => {
  const { connection } = await serving({ tools: {} });
  expect(connection.resources).toBeUndefined();
  await connection[Symbol.asyncDispose]();
  const at = await setting();
  await using bare = await opened(
    scripted(
      at,
      serverScript({
        tools: {},
        before: `if (message.method !== "initialize") return false;
          answer(message.id, JSON.stringify({ protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } }));
          return true;`,
      }),
    ),
    at,
  );
  expect(await bare.tools(new AbortController().signal)).toEqual([]);
});

it("arguments that are larger than any server takes are not sent", async () => {
  const { connection } = await serving({ tools: { hello: 'return `{"content":[]}`;' } });
  const failed = call(connection, "hello", { text: "x".repeat(8 * MIB + 1) });
  await expect(failed).rejects.toThrow(/8 MiB of arguments/);
  expect((await call(connection, "hello")).isError).toBe(false);
  await connection[Symbol.asyncDispose]();
});

it("follows all pages of a list of tools", async () => {
  const at = await setting();
  const whole = await opened(process(at, { argv: FIXTURE }), at);
  const all = await whole.tools(new AbortController().signal);
  await whole[Symbol.asyncDispose]();
  await using connection = await opened(process(at, { argv: [...FIXTURE, "--page", "3"] }), at);
  expect(await connection.tools(new AbortController().signal)).toEqual(all);
});
