import { expect, test } from "vitest";
import { ToolClientError, ToolConnectionError, ToolTimeoutError } from "../../../web/src/tools/errors.js";
import type { ToolContext, ToolNodeEvent, ToolProgress, ToolWait } from "../../../web/src/tools/options.js";
import { OutOfTime } from "../../../web/src/tools/resilience/attempt.js";
import { CallTime, overAfter, timeoutOf, waitNotices } from "../../../web/src/tools/tool-call.js";

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
  expect(timeoutOf({}, 30)).toBe(30);
  expect(timeoutOf({ timeoutSeconds: 1 }, 30)).toBe(1);
  expect(timeoutOf({ timeoutSeconds: 300 }, 30)).toBe(300);
});

test.each([0, 0.9, 301, Number.NaN, Infinity, "60", null])("%j is no limit", (timeoutSeconds) => {
  const limit = (): number => timeoutOf({ timeoutSeconds: timeoutSeconds as number }, 30);
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
