import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { ToolNode } from "../../../web/src/tools-node.js";
import { ToolClientError, ToolConnectionError, ToolTimeoutError } from "../../../web/src/tools/errors.js";
import type { ToolNodeEvent } from "../../../web/src/tools/event.js";
import type { ToolContext, ToolProgress, ToolWait } from "../../../web/src/tools/context.js";
import { OutOfTime } from "../../../web/src/tools/resilience/attempt.js";
import { CallTime, checkTimeout } from "../../../web/src/tools/tool-call.js";
import { overAfter, waitNotices } from "../../../web/src/mcp/wait-notices.js";
import { isRunning } from "../../e2e/faults/host.js";
import { answer, listening } from "./sources/mcp/http-server.js";

test("the messages are those of the specification", () => {
  expect([...waitNotices([15, 20, 25], 30), overAfter(30)]).toEqual([
    { after_s: 15, message: "The tool is taking longer than expected. Please wait...", is_over: false },
    { after_s: 20, message: "Still processing your request. This may take a few more moments.", is_over: false },
    {
      after_s: 25,
      message: "Processing continues. The tool will timeout in 5 seconds if no progress.",
      is_over: false,
    },
    {
      after_s: 30,
      message: "Tool failed to respond in a reasonable amount of time. Please try again or use a smaller dataset.",
      is_over: true,
    },
  ]);
});

test.each([
  [[15, 20, 25], 120, "95 seconds"],
  [[1, 2, 3], 4, "1 second"],
  [[0.1, 0.2, 0.7], 1, "0.3 seconds"],
])("the third one says how much time is left: %j of %d", (notifyAfter, limit, left) => {
  expect(waitNotices(notifyAfter, limit).at(-1)?.message).toContain(`timeout in ${left} if`);
});

test("what is not below the limit is not told", () => {
  expect(waitNotices([15, 20, 25], 20).map(({ after_s }) => after_s)).toEqual([15]);
  expect(waitNotices([15, 20, 25], 1)).toEqual([]);
});

test("a call's own limit counts before the source's, between a second and five minutes", () => {
  expect(checkTimeout({}, 30)).toBe(30);
  expect(checkTimeout({ timeoutSeconds: 1 }, 30)).toBe(1);
  expect(checkTimeout({ timeoutSeconds: 300 }, 30)).toBe(300);
});

test.each([0, 0.9, 301, Number.NaN, Infinity, "60", null])("%j is no limit", (timeoutSeconds) => {
  const limit = (): number => checkTimeout({ timeoutSeconds: timeoutSeconds as number }, 30);
  expect(limit).toThrow(ToolClientError);
  expect(limit).toThrow("The context's timeoutSeconds must be a number of seconds from 1 to 300.");
});

const LATE = new OutOfTime("too late", 30);

function time(context: ToolContext = {}) {
  const events: ToolNodeEvent[] = [];
  const deps = {
    notifyAfter: [15, 20, 25],
    timeoutSeconds: 30,
    onEvent: (event: ToolNodeEvent) => void events.push(event),
  };
  return { events, own: new CallTime({ tool: "lab.count", context, ...deps }) };
}

/** What is said of the progress of a call that is given up. */
function lastProgress(...reports: ToolProgress[]): unknown {
  const { own } = time();
  for (const report of reports) own.progressed(report);
  return own.result(LATE)?.meta_data["details"];
}

test("the call's own listener and the source's are told the same, and calls are told apart", () => {
  const waits: ToolWait[] = [];
  const scope = { user_id: "alice" };
  const { events, own } = time({ scope, onWait: (wait) => void waits.push(wait) });
  own.silence.onSilence(1);
  own.silence.onOver(30);
  expect(waits.map(({ after_s, is_over }) => [after_s, is_over])).toEqual([
    [20, false],
    [30, true],
  ]);
  const [first, second] = events;
  expect(first).toEqual({ kind: "waiting", tool: "lab.count", call: expect.any(Number) as number, scope, ...waits[0] });
  expect(second).toMatchObject({ ...waits[1] });
  const other = time();
  other.own.silence.onSilence(0);
  const numbers = [first, second, other.events[0]].map((event) => (event?.kind === "waiting" ? event.call : undefined));
  expect(numbers[0]).toBe(numbers[1]);
  expect(numbers[2]).not.toBe(numbers[0]);
});

const broken = (): never => {
  throw new Error("mine");
};

test("what a listener throws is lost", () => {
  const { events, own } = time({ onWait: broken });
  own.silence.onSilence(0);
  expect(events).toHaveLength(1);
});

test.each<[ToolProgress, string]>([
  [{ progress: 45, total: 200, message: "Processing chunk 45/200" }, "Processing chunk 45/200"],
  [{ progress: 45, total: 200 }, "45/200"],
  [{ progress: 45 }, "45"],
  [{ progress: 45, message: "" }, "45"],
  [{ progress: 4, message: "\u202e\u0000 \u200b" }, "4"],
  [{ progress: 4, message: "row\u202e 4\u0007" }, "row 4"],
])("%j is told as %j", (report, text) => {
  expect(lastProgress({ progress: 1, message: "Reading" }, report)).toMatchObject({ last_progress: text });
});

test("a long message is cut, and silence is null", () => {
  expect(lastProgress({ progress: 1, message: "x".repeat(1_000_000) })).toMatchObject({
    last_progress: `${"x".repeat(299)}…`,
  });
  expect(lastProgress()).toMatchObject({ last_progress: null });
});

test("what an attempt before reported is no progress of this one", () => {
  const { own } = time();
  own.progressed({ progress: 1 });
  own.begin();
  expect(own.result(LATE)).toMatchObject({ meta_data: { details: { last_progress: null } } });
});

test("the limit of connecting is told of too, and no other error is a timeout", () => {
  const { events, own } = time();
  expect(own.result(new ToolConnectionError("gone"))).toBeUndefined();
  expect(own.result(new ToolTimeoutError("said by the source", { status: 504 }))).toBeUndefined();
  expect(own.result(new ToolTimeoutError("said by the network"))).toBeUndefined();
  expect(events).toEqual([]);
  expect(own.result(LATE)).toMatchObject({
    results: { error: "Tool execution timed out after 30 seconds" },
  });
  expect(events).toMatchObject([{ kind: "waiting", is_over: true, after_s: 30 }]);
});

/** Closing always settles, and leaves no program: Node itself ends a process whose last promise never settles, with exit code 13. */
const BUILT = new URL("../../../dist/tools-node.js", import.meta.url).href;

/** What a host writes: it connects to a program, is told that it cannot, and closes. */
const HOST = `
import { ToolNode } from ${JSON.stringify(BUILT)};
const begun = performance.now();
const node = new ToolNode({ name: "own", transport: "mcp", connection: process.argv[1], timeout_s: 1 });
const code = await node.connect().catch((error) => error.code);
const seconds = (performance.now() - begun) / 1000;
await node.close();
console.log(JSON.stringify({ code, seconds }));`;

// At most three attempts of a second each, with little in between.
test.each([
  ["floods its output and never speaks MCP", "exec yes", 12],
  ["reads nothing and says nothing", "exec sleep 1000", 12],
  ["heeds neither the end of its input nor SIGTERM", "trap '' TERM; while :; do sleep 1; done", 20],
  ["heeds neither, and floods its output", "trap '' TERM; yes; yes", 20],
])("a program that %s", async (_, script, most) => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-closing-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [program, pids] = [join(folder, "program.sh"), join(folder, "pids")];
  await writeFile(program, `echo $$ >> "${pids}"\n${script}\n`);
  const connection = `sh "${program}"`;
  const ended = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", HOST, connection]);
  const { code, seconds } = JSON.parse(ended.stdout) as { code: string; seconds: number };
  expect(code).toBe("E_TOOL_TIMEOUT");
  expect(seconds).toBeLessThan(most);
  const started = (await readFile(pids, "utf8")).trim().split("\n").map(Number);
  expect(started).not.toEqual([]);
  await vi.waitFor(() => expect(started.filter(isRunning)).toEqual([]), 20_000);
});

test("a server over HTTP that answers nothing: neither what begins a session nor what ends it", async () => {
  await using silent = await listening("legacy", () => true);
  const node = new ToolNode({ name: "far", transport: "mcp", connection: silent.url, timeout_s: 1 });
  await expect(node.connect()).rejects.toMatchObject({ code: "E_TOOL_TIMEOUT" });
  await node.close();

  await using lasting = await listening("legacy", (came) => {
    const { request, response, rpc } = came;
    if (rpc?.method === "initialize") response.setHeader("mcp-session-id", "s");
    if (rpc?.method === "tools/list") answer(came, { tools: [] });
    return request.method === "DELETE" || rpc?.method === "tools/list";
  });
  const other = new ToolNode({ name: "far", transport: "mcp", connection: lasting.url });
  await other.connect();
  await other.close();
  expect(lasting.came.filter(({ request }) => request.method === "DELETE").length).toBe(1);
});

const fetch = (): Promise<Response> => new Promise(() => undefined);

test("a fetch that never settles, whatever it is told", async () => {
  const node = new ToolNode(
    { name: "far", transport: "mcp", connection: "http://127.0.0.1:9/mcp", timeout_s: 1 },
    { fetch },
  );
  await expect(node.connect()).rejects.toMatchObject({ code: "E_TOOL_TIMEOUT" });
  await node.close();
});
