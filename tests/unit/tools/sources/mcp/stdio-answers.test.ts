import { describe, expect, it } from "vitest";
import { ToolNodeError } from "../../../../../web/src/tools/errors.js";
import { DISCOVERABLE } from "./server-script.js";
import { call, serving, setting } from "./setting.js";

const MIB = 1024 * 1024;

const ERAS = ["legacy", "modern"] as const;

describe("an answer whose id comes last", () => {
  const tools = {
    blob: "return blob(args.byte, args.size);",
    slow_blob: "return new Promise((resolve) => { globalThis.release = () => resolve(blob(args.byte, args.size)); });",
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

  it.each([200_000, 9 * MIB])("of a call that was given up does not become another user's: %i bytes", async (size) => {
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
  });
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
