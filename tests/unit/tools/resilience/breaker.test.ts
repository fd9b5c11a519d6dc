import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "../../../../web/src/tools/errors.js";
import { FAILURES_IN_A_ROW, Resilience } from "../../../../web/src/tools/resilience/resilience.js";
import { deferred, ManualClock, policy } from "./manual.js";

const ONCE = { isRepeatable: false };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const laterBy = (seconds: number): void => {
  vi.setSystemTime(Date.now() + seconds * 1000);
};

function source() {
  const told: string[] = [];
  const clock = new ManualClock();
  const resilience = new Resilience("shop", policy({ max_attempts: 1 }), {
    clock,
    onBreak: ({ error, waitSeconds }) => void told.push(`break ${error.code} ${waitSeconds}`),
    onRecover: () => void told.push("recover"),
  });
  const failing = async (error: Error, times = 1): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const call = resilience.run(async () => {
        throw error;
      }, ONCE);
      await expect(call).rejects.toBe(error);
    }
  };
  const call = async (): Promise<string> => resilience.run(async () => "yes", ONCE);
  return { resilience, told, failing, call, clock };
}

const down = new ToolServerError("down", { status: 500 });

test.each([
  ["servers that fail", down],
  ["connections that fail", new ToolConnectionError("x")],
  ["commands that cannot be started", new ToolConnectionError("x", { category: "non_retryable", neverSent: true })],
  ["silence", new ToolTimeoutError("x")],
])("after %s often enough in a row, calls fail at once and say when to call again", async (_, error) => {
  const { told, failing, call } = source();
  await failing(error, FAILURES_IN_A_ROW - 1);
  expect(await call()).toBe("yes");
  await failing(error, FAILURES_IN_A_ROW);
  expect(told).toEqual([`break ${error.code} 5`]);
  await expect(call()).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", retryAfterSeconds: 5, neverSent: true });
  laterBy(2.5);
  await expect(call()).rejects.toThrow(/left alone: check that it runs, and call again in 3 s\.$/);
});

test.each([
  ["a refusal", new ToolClientError("x", { status: 422 })],
  ["a question who asks", new ToolAuthError("x", { status: 401 })],
  ["a wish for fewer calls", new ToolRateLimitError("x", { status: 429 })],
  ["an unusual status", new ToolNodeError("x", { status: 302 })],
])("%s is an answer: whoever gives it is not down", async (_, answer) => {
  const { told, failing, call } = source();
  await failing(answer, 2 * FAILURES_IN_A_ROW);
  await failing(down, FAILURES_IN_A_ROW - 1);
  await failing(answer);
  await failing(down, FAILURES_IN_A_ROW - 1);
  expect(told).toEqual([]);
  expect(await call()).toBe("yes");
});

test("what callers give up says nothing of the source", async () => {
  const { resilience, told, failing } = source();
  const given = async (): Promise<void> => {
    const caller = new AbortController();
    const call = resilience.run(
      async ({ signal }) => {
        caller.abort(new ToolTimeoutError("the caller's own"));
        signal.throwIfAborted();
      },
      { ...ONCE, signal: caller.signal },
    );
    await expect(call).rejects.toThrow("the caller's own");
  };
  for (let time = 0; time < 2 * FAILURES_IN_A_ROW; time += 1) await given();
  expect(told).toEqual([]);
  await failing(down, FAILURES_IN_A_ROW - 1);
  await given();
  await failing(down);
  expect(told).toEqual(["break E_TOOL_SERVER 5"]);
});

test("after the rest one call goes first, and the others follow when it succeeds", async () => {
  const { resilience, told, failing, call } = source();
  await failing(down, FAILURES_IN_A_ROW);
  laterBy(5);
  const finish = deferred<string>();
  const first = resilience.run(() => finish.promise, ONCE);
  await vi.waitFor(() => expect(resilience.inFlight).toBe(1), 20_000);
  let others = 0;
  const other = resilience.run(async () => (others += 1), ONCE);
  await new Promise(setImmediate);
  expect(others).toBe(0);
  finish.resolve("first");
  expect(await Promise.all([first, other])).toEqual(["first", 1]);
  expect(told).toEqual(["break E_TOOL_SERVER 5", "recover"]);
  expect(await call()).toBe("yes");
});

test("a source that is down still is left alone for longer, up to a minute", async () => {
  const { told, failing, call } = source();
  await failing(down, FAILURES_IN_A_ROW);
  const rests: number[] = [];
  for (let time = 0; time < 6; time += 1) {
    const { retryAfterSeconds } = (await call().catch((error: unknown) => error)) as ToolNodeError;
    rests.push(retryAfterSeconds!);
    laterBy(retryAfterSeconds!);
    await failing(down);
  }
  expect(rests).toEqual([5, 10, 20, 40, 60, 60]);
  laterBy(60);
  expect(await call()).toBe("yes");
  await failing(down, FAILURES_IN_A_ROW);
  expect(told.at(-1)).toBe("break E_TOOL_SERVER 5");
});

test("a first call that is given up leaves it open whether the source is back", async () => {
  const { resilience, told, failing, call } = source();
  await failing(down, FAILURES_IN_A_ROW);
  laterBy(5);
  const caller = new AbortController();
  const first = resilience.run(
    async () => {
      caller.abort("never mind");
      return new Promise<never>(() => undefined);
    },
    { ...ONCE, signal: caller.signal },
  );
  await expect(first).rejects.toBe("never mind");
  expect(told).not.toContain("recover");
  await expect(call()).rejects.toMatchObject({ retryAfterSeconds: 10 });
  laterBy(10);
  expect(await call()).toBe("yes");
  expect(told.at(-1)).toBe("recover");
});

test("whoever waits for the first call may give up meanwhile", async () => {
  const { resilience, failing } = source();
  await failing(down, FAILURES_IN_A_ROW);
  laterBy(5);
  const finish = deferred();
  const first = resilience.run(() => finish.promise, ONCE);
  const caller = new AbortController();
  let isCalled = false;
  const other = resilience.run(async () => (isCalled = true), { ...ONCE, signal: caller.signal });
  caller.abort("enough");
  await expect(other).rejects.toBe("enough");
  finish.resolve();
  await first;
  await new Promise(setImmediate);
  expect(isCalled).toBe(false);
  expect(resilience).toMatchObject({ inFlight: 0, waiting: 0 });
});

test("a call whose own attempts were the last straw tells what they failed with", async () => {
  const clock = new ManualClock();
  const rules = policy({ max_attempts: FAILURES_IN_A_ROW + 5, retry_on_status: [500] });
  const resilience = new Resilience("shop", rules, { clock, onRetry: clock.skip });
  let attempts = 0;
  const call = resilience.run(async () => {
    attempts += 1;
    throw down;
  }, ONCE);
  await expect(call).rejects.toBe(down);
  expect(attempts).toBe(FAILURES_IN_A_ROW);
});
