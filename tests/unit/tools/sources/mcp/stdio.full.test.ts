import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { ToolConnectionError, ToolNodeError } from "../../../../../web/src/tools/errors.js";
import { endAtOnce, killTree } from "../../../../../web/src/tools/sources/mcp/stdio.js";
import { isRunning } from "../../../../e2e/faults/host.js";
import {
  FIXTURE,
  STDIO,
  useFixture,
  call,
  opened,
  over,
  processSource,
  scripted,
  serving,
  setting,
  until,
} from "./setting.js";
import { listening } from "./http-server.js";
import { DISCOVERABLE, serverScript } from "./server-script.js";

describe("standard input and output", () => {
  const MIB = 1024 * 1024;

  describe("a process", () => {
    it("gets its own variables beside the few that are safe, and no others", async () => {
      process.env["SLUICE_TEST_SECRET"] = "secret";
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
      const source = processSource(at, { argv: [...FIXTURE, "--tool", "$(echo it)"] });
      await using connection = await opened(source, at);
      const tools = await connection.tools(new AbortController().signal);
      expect(tools.map(({ name }) => name)).toContain("$(echo it)");
    });

    it("that cannot be started is an error without a second attempt", async () => {
      const at = await setting();
      const source = processSource(at, { argv: ["no-such-command-anywhere"] });
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
      await using connection = await opened(processSource(at, { argv: FIXTURE, onErrorOutput }), at);
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
      await using connection = await opened(processSource(at, { argv: FIXTURE }), at);
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
      await using connection = await opened(processSource(at, { argv: FIXTURE }), at);
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
      const source = processSource(at, { argv: FIXTURE });
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
    const whole = await opened(processSource(at, { argv: FIXTURE }), at);
    const all = await whole.tools(new AbortController().signal);
    await whole[Symbol.asyncDispose]();
    await using connection = await opened(processSource(at, { argv: [...FIXTURE, "--page", "3"] }), at);
    expect(await connection.tools(new AbortController().signal)).toEqual(all);
  });

  const BEGUN = `write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: 1 } }));`;

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
    expect(connection.kill).toBeUndefined();
  });

  const fixture = useFixture();

  it.each([
    ["stdio", "legacy"],
    ["stdio", "modern"],
    ["http", "legacy"],
    ["http", "modern"],
  ] as const)("a call in the middle of which the source is closed says so: %s, %s", async (transport, era) => {
    const at = await setting();
    const connection = await opened(fixture(at, transport, era), at);
    const slow = call(connection, "slow").catch((error: unknown) => error);
    // What is answered was sent after it.
    await call(connection, "greet", { name: "Ada" });
    await connection[Symbol.asyncDispose]();
    expect(await slow).toMatchObject({ code: "E_TOOL", message: "The source fix was closed: connect it again." });
  });

  /** The first that is started never answers, and takes its time when nobody listens any more; no two may run at once. */
  const JEALOUS = `
import { existsSync, openSync, unlinkSync, writeFileSync } from "node:fs";
const [, folder, server] = process.argv.splice(0, 3, process.execPath);
const isFirst = !existsSync(folder + "/first");
openSync(folder + "/lock", "wx");
process.on("exit", () => unlinkSync(folder + "/lock"));
process.on("SIGTERM", () => process.exit());
if (isFirst) {
  process.stdin.on("end", () => setTimeout(() => writeFileSync(folder + "/late", ""), 1000)).resume();
  setInterval(() => undefined, 1000);
  writeFileSync(folder + "/first", "");
} else await import(server);`;

  it("a program that never answered has gone when the next one starts, and is given no time that only works cost", async () => {
    const at = await setting();
    const folder = await mkdtemp(join(tmpdir(), "sluice-jealous-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const argv = [process.execPath, "--input-type=module", "-e", JEALOUS, folder, STDIO] as const;
    const source = scripted(at, JEALOUS, { argv });
    const abort = new AbortController();
    const reason = new Error("enough");
    const silent = opened(source, at, { signal: abort.signal });
    await until(() => (existsSync(join(folder, "first")) ? true : undefined));
    abort.abort(reason);
    await expect(silent).rejects.toBe(reason);
    await using connection = await opened(source, at);
    expect((await call(connection, "greet", { name: "Ada" })).reduced.value).toBe("Hello, Ada!");
    expect(existsSync(join(folder, "late"))).toBe(false);
  });

  /** A program that leads a group, and what it says first: ids of processes. */
  async function started(script: string): Promise<{ readonly child: ChildProcess; readonly pids: readonly number[] }> {
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"], detached: true });
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return { child, pids: JSON.parse(line) as number[] };
  }

  const STAYS = "setInterval(() => {}, 1000);";

  test("also what has left its group, and has a name like nothing else", async () => {
    const inner = `process.on("SIGTERM", () => {}); process.title = "x) R 1 ("; ${STAYS} process.send(process.pid);`;
    const { child, pids } = await started(`
const { fork } = require("node:child_process");
const { writeFileSync } = require("node:fs");
const file = require("node:path").join(require("node:os").tmpdir(), "sluice-tree-" + process.pid + ".cjs");
writeFileSync(file, ${JSON.stringify(inner)});
const stray = fork(file, { detached: true });
stray.once("message", () => { require("node:fs").unlinkSync(file); console.log(JSON.stringify([process.pid, stray.pid])); });
`);
    await killTree(child.pid as number);
    await expect.poll(() => pids.filter(isRunning)).toEqual([]);
  });

  test("what ends when it is asked to is not waited for", async () => {
    const { child } = await started(`console.log("[]"); ${STAYS}`);
    const ended = once(child, "exit");
    await killTree(child.pid as number);
    expect(await ended).toEqual([null, "SIGTERM"]);
  });

  test("one that has gone is no failure", async () => {
    const { child } = await started('console.log("[]");');
    await once(child, "exit");
    const pid = child.pid as number;
    expect(await killTree(pid)).toBeUndefined();
    expect(() => endAtOnce(pid)).not.toThrow();
    expect(() => endAtOnce(null)).not.toThrow();
  });
});

describe("answers", () => {
  const MIB = 1024 * 1024;

  const ERAS = ["legacy", "modern"] as const;

  describe("an answer whose id comes last", () => {
    const tools = {
      blob: "return blob(args.byte, args.size);",
      slow_blob:
        "return new Promise((resolve) => { globalThis.release = () => resolve(blob(args.byte, args.size)); });",
      release: 'globalThis.release(); return `{"content":[]}`;',
      never: "return new Promise(() => {});",
    };

    it("goes to its own call, scope and all, whatever else is under way", async () => {
      const at = await setting();
      await using connection = await serving({ tools, idLast: true }, at);
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
      const owners = new Set<unknown>();
      for await (const { scope } of at.store.list()) owners.add(scope.user_id);
      expect(owners).toEqual(new Set(["user 0", "user 1"]));
    });

    it.each([200_000, 9 * MIB])(
      "of a call that was given up does not become another user's: %i bytes",
      async (size) => {
        const at = await setting();
        await using connection = await serving({ tools, idLast: true }, at);
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
      },
    );
  });

  it.each(ERAS)("a call that is given up is given up at the server: %s", async (era) => {
    await using connection = await serving({
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
  });

  describe("an odd answer", () => {
    it("under its id as a string is taken all the same, reduced", async () => {
      await using connection = await serving({
        tools: { blob: 'write(`{"jsonrpc":"2.0","id":"${id}","result":${blob(1, 50_000)}}`);' },
      });
      const { reduced } = await call(connection, "blob");
      expect(reduced.artifacts).toMatchObject([{ size_bytes: 50_000 }]);
    });

    it("that is no JSON fails its call, and the connection lives on", async () => {
      await using connection = await serving({
        tools: {
          bad: 'write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":tru}]}}`);',
          good: 'return `{"content":[{"type":"text","text":"good"}]}`;',
        },
      });
      await expect(call(connection, "bad")).rejects.toThrow(ToolNodeError);
      expect((await call(connection, "good")).reduced.value).toBe("good");
    });

    it.each([
      ["a number", "7"],
      ["a list", "[1,2]"],
      ["no content", '{"x":1}'],
      ["a block of no known type", '{"content":[{"type":"hologram","data":"x"}]}'],
    ])("as %s is no reason to fail: it is shown as it is", async (_name, result) => {
      await using connection = await serving({ tools: { odd: `return ${JSON.stringify(result)};` } });
      const { reduced } = await call(connection, "odd", {}, { dialect: "mcp" });
      expect(reduced.value).toEqual(JSON.parse(result));
    });

    it("that says it is a task is an error, and nothing of it is stored", async () => {
      const at = await setting();
      const deps = {
        tools: { task: 'return JSON.stringify({ resultType: "task", taskId: "t", data: base64(1, 20000) });' },
        before: DISCOVERABLE,
      };
      await using connection = await serving(deps, at);
      await expect(call(connection, "task")).rejects.toThrow(ToolNodeError);
      for await (const ref of at.store.list()) expect(ref).toBeUndefined();
    });

    it("comes behind all progress, also where that is in one piece with it", async () => {
      const steps = `
      const told = [1, 2].map((progress) => JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress",
        params: { progressToken: params._meta.progressToken, progress, total: 2 } }));
      write([...told, JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } })].join("\\n"));`;
      await using connection = await serving({ tools: { steps } });
      const heard: unknown[] = [];
      await call(connection, "steps", {}, { onProgress: (progress) => heard.push(progress) });
      expect(heard).toEqual([
        { progress: 1, total: 2 },
        { progress: 2, total: 2 },
      ]);
    });

    it("of many calls at once is kept apart", async () => {
      await using connection = await serving({
        tools: { echo: "return JSON.stringify({ content: [{ type: 'text', text: String(args.n) }] });" },
        idLast: true,
      });
      const numbers = Array.from({ length: 1000 }, (_, n) => n);
      const results = await Promise.all(numbers.map((n) => call(connection, "echo", { n })));
      expect(results.map(({ reduced }) => Number(reduced.value))).toEqual(numbers);
    });
  });
});
