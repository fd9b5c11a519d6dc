import { expect, test } from "vitest";
import type { ToolContext, ToolProgress, ToolWait } from "../../../../web/src/tools/context.js";
import { ToolConnectionError, ToolTimeoutError } from "../../../../web/src/tools/errors.js";
import type { ToolNodeEvent } from "../../../../web/src/tools/event.js";
import { OutOfTime } from "../../../../web/src/tools/resilience/attempt.js";
import { CallTime } from "../../../../web/src/tools/user-files/call-time.js";

const LATE = new OutOfTime("too late", 30);

function time(context: ToolContext = {}) {
  const events: ToolNodeEvent[] = [];
  const terms = {
    notifyAfter: [15, 20, 25],
    timeoutSeconds: 30,
    onEvent: (event: ToolNodeEvent) => void events.push(event),
  };
  return { events, own: new CallTime({ tool: "lab.count", context, ...terms }) };
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

test("a limit that another call came to first is told of too, and no other error is a timeout", () => {
  const { events, own } = time();
  expect(own.result(new ToolConnectionError("gone"))).toBeUndefined();
  expect(own.result(new ToolTimeoutError("said by the source", { status: 504 }))).toBeUndefined();
  expect(own.result(new ToolTimeoutError("never asked", { neverSent: true }))).toBeUndefined();
  expect(events).toEqual([]);
  expect(own.result(new ToolTimeoutError("did not start"))).toMatchObject({
    results: { error: "Tool execution timed out after 30 seconds" },
  });
  expect(events).toMatchObject([{ kind: "waiting", is_over: true, after_s: 30 }]);
});
