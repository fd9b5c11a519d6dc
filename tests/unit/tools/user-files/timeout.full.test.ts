/** MCP calls that take too long, at real servers: of programs that many share, of users' own programs, and over HTTP. */
import { describe, expect, it, test, vi } from "vitest";
import { NoOpArtifactStore } from "../../../../web/src/artifacts/no-op.js";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { createSluice } from "../../../../web/src/index.js";
import { whole } from "../../../../web/src/tools/call-files.js";
import { ToolConnectionError } from "../../../../web/src/tools/errors.js";
import type { ToolWait } from "../../../../web/src/tools/context.js";
import type { SourceResult } from "../../../../web/src/tools/source.js";
import { through } from "../../../../web/src/tools/sources/gated.js";
import { overAfter, timeoutResult, waitNotices } from "../../../../web/src/mcp/wait-notices.js";
import { isRunning } from "../../../e2e/faults/host.js";
import { ManualClock } from "../resilience/manual.js";
import { answer, listening } from "../sources/mcp/http-server.js";
import { DISCOVERABLE } from "../sources/mcp/server-script.js";
import { as, hurried, timed, timedProgram, WatchedStore } from "./timed.js";

/** Reports what it is told to, and then never anything. */
const SILENT = `
const { reports = [] } = args;
for (const report of reports) write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: params._meta.progressToken, ...report } }));
await new Promise(() => {});`;

/** Everybody's calls go to one program. */
const SHARED = { user_files: false } as const;

const TOOLS = {
  resultType: "complete",
  tools: ["hello", "pid"].map((name) => ({ name, inputSchema: { type: "object" } })),
  ttlMs: 0,
  cacheScope: "private",
};

const TIMED_OUT = {
  results: { error: "Tool execution timed out after 1 second" },
  meta_data: {
    is_error: true,
    reason: "ExecutionTimeout",
    error_code: "E_TIMEOUT",
    details: {
      timeout_seconds: 1,
      last_progress: null,
      suggestion: "Consider breaking large operations into smaller chunks or using progress reporting",
    },
    retryable: true,
  },
};

/** Waits until an expectation is met; of tests that run side by side none has one of its own to poll. */
const met = (look: () => void | Promise<void>): Promise<void> => vi.waitFor(look, { timeout: 20_000, interval: 25 });

describe.concurrent("a call that takes too long", () => {
  it("is told of as it waits, taken back at the server, and given as an error", async () => {
    await using lab = await timedProgram({ tools: { silent: SILENT } }, SHARED);
    const waits: ToolWait[] = [];
    const reports = [{ progress: 45, total: 200, message: "Processing chunk 45/200" }];
    const context = { ...hurried("alice"), onWait: (wait: ToolWait) => void waits.push(wait) };
    const { value, text, isError } = await lab.node.call("silent", { reports }, context);
    const { meta_data } = TIMED_OUT;
    const details = { ...meta_data.details, last_progress: "Processing chunk 45/200" };
    expect(isError).toBe(true);
    expect(text).toBe(JSON.stringify({ ...TIMED_OUT, meta_data: { ...meta_data, details } }));
    expect(value).toEqual(JSON.parse(text));
    // Which of them a busy machine leaves time for is another matter.
    const before = waitNotices([0.2, 0.4, 0.6], 1);
    expect(waits.length).toBeGreaterThan(1);
    for (const wait of waits.slice(0, -1)) expect(before).toContainEqual(wait);
    expect(waits.at(-1)).toEqual(overAfter(1));
    const told = lab.events.filter((event) => event.kind === "waiting" && event.tool === "lab.silent");
    expect(told).toMatchObject(waits.map((wait) => ({ ...wait, tool: "lab.silent", scope: { user_id: "alice" } })));
    await met(async () => expect(await lab.heard()).toEqual([expect.stringMatching(/^cancelled \d+ \d+$/)]));
  });

  it("is taken back at a server of the later era too", async () => {
    const before = `
if (message.method === "tools/list") return void answer(message.id, ${JSON.stringify(JSON.stringify(TOOLS))}) ?? true;
${DISCOVERABLE}`;
    await using lab = await timedProgram({ tools: { hello: SILENT }, before }, SHARED);
    expect((await lab.node.call("hello", {}, hurried("alice"))).value).toEqual(TIMED_OUT);
    await met(async () => expect(await lab.heard()).toEqual([expect.stringMatching(/^cancelled \d+ \d+$/)]));
  });

  it("is the same for hosts that go on with results", async () => {
    await using lab = await timedProgram({ tools: { silent: SILENT } }, SHARED, { dialect: "mcp" });
    const { value } = await lab.node.call("silent", {}, hurried("alice"));
    expect(value).toEqual({
      content: [{ type: "text", text: JSON.stringify(TIMED_OUT) }],
      structuredContent: TIMED_OUT,
      isError: true,
    });
  });

  it("is given the time that its context says, and no other call is", async () => {
    const slow = 'await new Promise((resolve) => setTimeout(resolve, 1300)); return `{"content":[]}`;';
    await using lab = await timedProgram({ tools: { slow } });
    const [usual, less] = await Promise.all([
      lab.node.call("slow", {}, as("alice")),
      lab.node.call("slow", {}, hurried("bob")),
    ]);
    expect([usual.isError, less.isError]).toEqual([false, true]);
    const wrong = lab.node.call("slow", {}, { ...as("alice"), timeoutSeconds: 0 });
    await expect(wrong).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
  });

  it("is not made twice, even where it only reads", async () => {
    const inputSchema = { type: "object" };
    const list = [
      { name: "silent", inputSchema, annotations: { readOnlyHint: true } },
      { name: "pid", inputSchema },
    ];
    const before = `
if (message.params?.name === "silent") hear("call");
if (message.method !== "tools/list") return false;
answer(message.id, ${JSON.stringify(JSON.stringify({ tools: list }))});
return true;`;
    await using lab = await timedProgram({ tools: { silent: SILENT }, before }, SHARED);
    expect(lab.node.getTools()[0]).toMatchObject({ name: "lab.silent", side_effects: "read" });
    await lab.node.call("silent", {}, hurried("alice"));
    await met(async () => expect(await lab.heard()).toEqual(["call", expect.stringMatching(/^cancelled/)]));
    expect(lab.events.filter(({ kind }) => kind === "retry")).toEqual([]);
  });

  it("leaves nothing of what came of its result", async () => {
    const half = `
const text = '{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[' + JSON.stringify({ type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: base64(1, 300000) } });
process.stdout.write(text + ',{"type":"text","text":"' + "x".repeat(400000));
hear("half");
await new Promise(() => {});`;
    await using lab = await timedProgram({ tools: { half } });
    const { value, artifacts } = await lab.node.call("half", {}, hurried("alice"));
    expect(value).toEqual(TIMED_OUT);
    expect(artifacts).toEqual([]);
    expect(await lab.heard()).toContain("half");
    expect(lab.events.filter(({ kind }) => kind === "stored")).toEqual([]);
    expect(lab.store.scopes).not.toEqual([]);
    await met(async () => expect(await lab.store.ids()).toEqual([]));
  });
});

it.concurrent("what a call in time stored is its user's, and there once", async () => {
  const big = "return blob(args.byte, 300000);";
  await using lab = await timedProgram({ tools: { big } });
  const { artifacts, text } = await lab.node.call("big", { byte: 1 }, as("alice"));
  const [ref] = artifacts;
  expect(artifacts).toMatchObject([{ size_bytes: 300_000, mime_type: "application/pdf", scope: { user_id: "alice" } }]);
  expect(text).toContain(ref?.id);
  expect(ref?.id).toMatch(/^lab_[0-9a-f]{12}$/);
  expect(ref?.source["tool"]).toBe("big");
  await met(async () => expect(new Set(await lab.store.ids())).toEqual(new Set([ref?.id])));
  expect(await lab.store.get(ref?.id ?? "", { user_id: "alice" })).toHaveLength(300_000);
});

describe.concurrent("the program of a user whose call takes too long", () => {
  it("is ended with all that it started, and nobody else's is", async () => {
    // None of them heeds SIGTERM; one has left the group.
    const stubborn = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);';
    const prelude = `
import { spawn } from "node:child_process";
const child = (detached) => spawn(process.execPath, ["-e", ${JSON.stringify(stubborn)}], { stdio: "ignore", detached }).pid;`;
    const start = `${stubborn} return JSON.stringify({ content: [], structuredContent: { pids: [process.pid, child(false), child(true)] } });`;
    await using lab = await timedProgram({ tools: { start, silent: SILENT }, prelude });
    const bob = (await lab.node.call("pid", {}, as("bob"))).value as { pid: number };
    const { pids } = (await lab.node.call("start", {}, as("alice"))).value as { pids: number[] };
    expect(pids).not.toContain(bob.pid);
    const other = lab.node.call("silent", {}, as("alice")).catch((error: unknown) => error);
    expect((await lab.node.call("silent", {}, hurried("alice"))).value).toEqual(TIMED_OUT);
    const failed = await other;
    expect(failed).toBeInstanceOf(ToolConnectionError);
    expect(failed).toMatchObject({ isRetryable: true });
    await met(() => expect(pids.filter(isRunning)).toEqual([]));
    const next = (await lab.node.call("pid", {}, as("alice"))).value as { pid: number };
    expect(pids).not.toContain(next.pid);
    expect((await lab.node.call("pid", {}, as("bob"))).value).toEqual(bob);
  });

  it("is not waited for by the next call, which another one answers", async () => {
    const prelude = `process.on("SIGTERM", () => { hear("ends"); setTimeout(() => process.exit(), 1000); });`;
    await using lab = await timedProgram({ tools: { silent: SILENT }, prelude });
    const { pid } = (await lab.node.call("pid", {}, as("alice"))).value as { pid: number };
    await lab.node.call("silent", {}, hurried("alice"));
    const next = (await lab.node.call("pid", {}, as("alice"))).value as { pid: number };
    expect(next.pid).not.toBe(pid);
    await met(() => expect(isRunning(pid)).toBe(false));
    expect(await lab.heard()).toContain("ends");
  });
});

it.concurrent("a program that many share lives on, and so do the calls of others", async () => {
  const go = 'globalThis.go?.(); return `{"content":[]}`;';
  const waits = 'await new Promise((resolve) => (globalThis.go = resolve)); return `{"content":[]}`;';
  await using lab = await timedProgram({ tools: { silent: SILENT, waits, go } }, SHARED);
  const before = (await lab.node.call("pid", {}, as("alice"))).value;
  const other = lab.node.call("waits", {}, as("bob"));
  expect((await lab.node.call("silent", {}, hurried("alice"))).value).toEqual(TIMED_OUT);
  await lab.node.call("go", {}, as("alice"));
  expect((await other).isError).toBe(false);
  expect((await lab.node.call("pid", {}, as("bob"))).value).toEqual(before);
});

describe.concurrent.each([
  ["legacy", true],
  ["legacy", false],
  ["modern", true],
  ["modern", false],
] as const)("over HTTP, %s, users' files %s", (era, user_files) => {
  it("the server is told, and the session stays", async () => {
    let isLeft = false;
    await using server = await listening(era, (came) => {
      const { rpc, response } = came;
      if (rpc?.method === "tools/list") answer(came, TOOLS);
      if (rpc?.method !== "tools/call") return rpc?.method === "tools/list";
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      response.once("close", () => (isLeft = true));
      return true;
    });
    await using lab = await timed({ connection: server.url, user_files });
    const { value } = await lab.node.call("hello", {}, hurried("alice"));
    expect(value).toEqual(TIMED_OUT);
    const cancelled = (): boolean => server.came.some(({ rpc }) => rpc?.method === "notifications/cancelled");
    // Since 2026-07-28 the end of the response says so.
    await met(() => expect(era === "legacy" ? cancelled() : isLeft).toBe(true));
    expect(server.came.filter(({ rpc }) => rpc?.method === "initialize").length).toBe(era === "legacy" ? 1 : 0);
  });
});

test("a call that reported nothing has null for its progress, and one second is one", () => {
  expect(timeoutResult(1, null)).toMatchObject({
    results: { error: "Tool execution timed out after 1 second" },
    meta_data: { details: { timeout_seconds: 1, last_progress: null } },
  });
});

/** What is stored of a result is its user's once the result is whole. */
const ALICE = { tenant_id: "acme", user_id: "alice", session_id: "s", trace_id: null };

/** A PDF inside a result. */
const RESULT = {
  content: [
    {
      type: "resource",
      resource: {
        uri: "file:///a.pdf",
        mimeType: "application/pdf",
        blob: Buffer.alloc(6000, 1).fill("%PDF-1.7\n", 0, 9).toString("base64"),
      },
    },
  ],
};

async function listed(store: ArtifactStore, scope?: ArtifactScope): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of store.list(scope)) ids.push(id);
  return ids;
}

async function setting(store: ArtifactStore) {
  const sluice = await createSluice({ store });
  const clock = new ManualClock();
  const options = { tool: "report", namespace: "lab", dialect: "mcp" as const, scope: ALICE };
  const scopes: ArtifactScope[] = [];
  /** A source that reduces a result in the scope that it is given. */
  const source = async (scope: ArtifactScope): Promise<SourceResult> => {
    scopes.push(scope);
    return { gated: await through(sluice, { ...options, scope }, [JSON.stringify(RESULT)]), isError: false };
  };
  const made = (work: typeof source): Promise<SourceResult> => whole(work, ALICE, store, clock);
  return { sluice, store, clock, scopes, source, made };
}

test("a result is made in a scope of nobody's, where its user is known all the same, and moves when it is there", async () => {
  const store = new WatchedStore();
  const { source, made, scopes, sluice } = await setting(store);
  const { gated } = await made(source);
  const reduced = await gated.answer({ scope: ALICE });
  await gated[Symbol.asyncDispose]();
  const [staged] = scopes;
  expect(staged).toMatchObject({ tenant_id: "acme", user_id: "alice" });
  expect(staged?.session_id).toMatch(/^sluice-staging-/);
  expect(reduced.artifacts).toMatchObject([{ scope: ALICE, size_bytes: 6000, source: { tool: "report" } }]);
  expect(await sluice.restore(reduced.value, { scope: ALICE })).toEqual(RESULT);
  await expect.poll(() => listed(store, staged)).toEqual([]);
});

test("of work that fails nothing stays, nor of what comes late", async () => {
  const store = new WatchedStore();
  const { source, made, scopes, clock } = await setting(store);
  const failing = async (scope: ArtifactScope): Promise<SourceResult> => {
    await source(scope);
    throw new Error("too late");
  };
  await expect(made(failing)).rejects.toThrow("too late");
  const all = (): Promise<readonly string[]> => listed(store);
  await expect.poll(all).toEqual([]);
  await store.putText("late", { scope: scopes[0] ?? {} });
  clock.pass(2);
  await expect.poll(all).toEqual([]);
});

test("nothing stays of a result that is not collected", async () => {
  const store = new WatchedStore();
  const { source, made } = await setting(store);
  const { gated } = await made(source);
  await gated[Symbol.asyncDispose]();
  expect(await listed(store)).toEqual([]);
});

test("where nothing is kept nothing has to move", async () => {
  const { source, made, scopes } = await setting(new NoOpArtifactStore());
  await using gated = (await made(source)).gated;
  const reduced = await gated.answer({ scope: ALICE });
  expect(scopes).toEqual([ALICE]);
  expect(reduced.artifacts).toMatchObject([{ source: { truncated: true } }]);
});

test("what the store failed at is told as it was", async () => {
  class Full extends WatchedStore {
    override openWriter(): Promise<never> {
      return Promise.reject(new Error("no room"));
    }
  }
  const { source, made } = await setting(new Full());
  await using gated = (await made(source)).gated;
  const reduced = await gated.answer({ scope: ALICE });
  expect(reduced.failures).toHaveLength(1);
  expect(reduced.artifacts).toMatchObject([{ source: { truncated: true } }]);
});
