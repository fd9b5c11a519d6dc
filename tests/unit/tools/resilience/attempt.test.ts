import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import {
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "../../../../web/src/tools/errors.js";
import {
  type Attempt,
  OutOfTime,
  runAttempt,
  sleep,
  systemClock,
} from "../../../../web/src/tools/resilience/attempt.js";
import { FAILURES_IN_A_ROW, Resilience } from "../../../../web/src/tools/resilience/resilience.js";
import { deferred, ManualClock, policy } from "./manual.js";

describe("one attempt", () => {
  const NEVER = new Promise<never>(() => undefined);

  function listening(clock: ManualClock, after: readonly number[] = [15, 20, 25]) {
    const told: string[] = [];
    const note = (what: string): void => void told.push(`${clock.now() / 1000}: ${what}`);
    const silence = {
      after,
      onSilence: (index: number) => note(String(index)),
      onOver: (seconds: number) => note(`over after ${seconds}`),
    };
    return { told, silence };
  }

  function attempt(after?: readonly number[], timeoutSeconds = 30) {
    const clock = new ManualClock();
    const { told, silence } = listening(clock, after);
    let own: Attempt | undefined;
    const work = (given: Attempt): Promise<never> => {
      own = given;
      return NEVER;
    };
    const deps = { number: 1, place: { source: "s" }, timeoutSeconds, clock, signal: undefined, silence };
    const outcome = runAttempt(work, deps).catch((error: unknown) => error);
    return { clock, told, outcome, own: own as unknown as Attempt };
  }

  it("each moment is told of once, and the end of it", async () => {
    const { clock, told, outcome } = attempt();
    clock.pass(14.9);
    expect(told).toEqual([]);
    clock.pass(100);
    expect(told).toEqual(["15: 0", "20: 1", "25: 2", "30: over after 30"]);
    expect(await outcome).toBeInstanceOf(OutOfTime);
    expect(clock.pending).toBe(0);
  });

  it.each([1, 16, 24, 29.9])("progress after %d s begins them anew", async (seconds) => {
    const { clock, told, own, outcome } = attempt();
    clock.pass(seconds);
    told.length = 0;
    own.progressed();
    clock.pass(14.9);
    expect(told).toEqual([]);
    clock.pass(60);
    expect(told.map((each) => each.split(": ")[1])).toEqual(["0", "1", "2", "over after 30"]);
    expect(await outcome).toBeInstanceOf(OutOfTime);
    expect(Number(told.at(-1)?.split(":")[0])).toBeCloseTo(seconds + 30);
  });

  it("progress as soon as the first was told has the first told again in time", () => {
    const { clock, told, own } = attempt([1, 20, 25]);
    clock.pass(2);
    own.progressed();
    clock.pass(1);
    expect(told).toEqual(["1: 0", "3: 0"]);
  });

  it("nothing is told while a person is asked, and the first comes first behind that", async () => {
    const { clock, told, own } = attempt();
    const answer = deferred();
    clock.pass(16);
    const asking = own.unhurried(() => answer.promise);
    own.progressed();
    clock.pass(3600);
    expect(told).toEqual(["15: 0"]);
    answer.resolve();
    await asking;
    clock.pass(15);
    expect(told).toEqual(["15: 0", "3631: 0"]);
  });

  it("what is not below the limit is passed over", () => {
    const { clock, told } = attempt([15, 20, 25], 20);
    clock.pass(60);
    expect(told).toEqual(["15: 0", "20: over after 20"]);
  });

  it("of an attempt that is over nothing is told", async () => {
    const clock = new ManualClock();
    const { told, silence } = listening(clock);
    const deps = { number: 1, place: { source: "s" }, timeoutSeconds: 30, clock, signal: undefined, silence };
    expect(await runAttempt(async () => "done", deps)).toBe("done");
    expect(clock.pending).toBe(0);
    clock.pass(60);
    expect(told).toEqual([]);
  });

  /** A tool that only reads, which never answers. */
  function calling(call: { isTimeoutFinal?: boolean; timeoutSeconds?: number }) {
    const clock = new ManualClock();
    const { told, silence } = listening(clock);
    const resilience = new Resilience("shop", policy({ max_attempts: 2 }), { clock, onRetry: clock.skip });
    let attempts = 0;
    const work = (): Promise<never> => {
      attempts += 1;
      return NEVER;
    };
    const outcome = resilience.run(work, { isRepeatable: true, silence, ...call }).catch((error: unknown) => error);
    return { clock, told, outcome, attempts: () => attempts };
  }

  it("a call that is given up may be tried again, or not", async () => {
    const last = calling({ isTimeoutFinal: true });
    await Promise.resolve();
    last.clock.pass(31);
    expect(await last.outcome).toBeInstanceOf(OutOfTime);
    expect(last.attempts()).toBe(1);
    const again = calling({});
    await Promise.resolve();
    again.clock.pass(31);
    await expect.poll(again.attempts).toBe(2);
    again.clock.pass(31);
    expect(await again.outcome).toBeInstanceOf(OutOfTime);
    expect(again.told.filter((each) => each.includes("over"))).toHaveLength(2);
  });

  it("a call's own limit takes the place of the source's", async () => {
    const { clock, told, outcome } = calling({ isTimeoutFinal: true, timeoutSeconds: 120 });
    await Promise.resolve();
    clock.pass(119);
    expect(told).toEqual(["15: 0", "20: 1", "25: 2"]);
    clock.pass(1);
    expect(await outcome).toMatchObject({ code: "E_TOOL_TIMEOUT", seconds: 120 });
  });

  function attemptOf<T>(work: (attemptOf: Attempt) => Promise<T>) {
    const clock = new ManualClock();
    const deps = { number: 1, place: { source: "s" }, timeoutSeconds: 30, clock, signal: undefined };
    return { clock, outcome: runAttempt(work, deps).catch((error: unknown) => error) };
  }

  it("no time limit runs out while a person is asked, and it begins anew behind that", async () => {
    const answer = deferred<string>();
    const rest = deferred();
    const { clock, outcome } = attemptOf(async (own) => {
      const said = await own.unhurried(() => answer.promise);
      await rest.promise;
      return said;
    });
    clock.pass(7200);
    expect(clock.pending).toBe(0);
    answer.resolve("yes");
    await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass(29);
    rest.resolve();
    expect(await outcome).toBe("yes");
    expect(clock.pending).toBe(0);
  });

  it("two at a time hold it until both are done", async () => {
    const [one, two] = [deferred(), deferred()];
    const { clock, outcome } = attemptOf(async (own) => {
      await Promise.all([own.unhurried(() => one.promise), own.unhurried(() => two.promise)]);
      await new Promise(() => undefined);
    });
    one.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass(100);
    two.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass(31);
    expect(await outcome).toBeInstanceOf(ToolTimeoutError);
  });

  it("what asking throws ends the attempt, as it is", async () => {
    const reason = new Error("paused until tomorrow");
    let ended: unknown;
    const { outcome } = attemptOf(async (own) => {
      await own.unhurried(() => Promise.reject(reason)).catch(() => undefined);
      ended = own.signal.reason;
      throw new Error("said by whoever asked");
    });
    expect(await outcome).toBe(reason);
    expect(ended).toBe(reason);
  });

  test("the machine's clock wakes who sleeps, and keeps who asked for longer than a timer can", async () => {
    let isOver = false;
    const forget = systemClock.after(1e12, () => (isOver = true));
    const began = systemClock.now();
    await sleep(systemClock, 2, undefined);
    expect(systemClock.now()).toBeGreaterThan(began);
    expect(isOver).toBe(false);
    forget();
  });

  test("an aborted sleep leaves no timer", async () => {
    const clock = new ManualClock();
    const caller = new AbortController();
    const sleeping = sleep(clock, 1000, caller.signal);
    expect(clock.pending).toBe(1);
    caller.abort("enough");
    await expect(sleeping).rejects.toBe("enough");
    expect(clock.pending).toBe(0);
    await expect(sleep(clock, 1000, caller.signal)).rejects.toBe("enough");
    expect(clock.pending).toBe(0);
  });

  test("without an injected clock, waits between attempts pass by themselves", async () => {
    const rules = policy({ wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.01 });
    const answer = new Resilience("shop", rules).run(
      async ({ number }) => {
        if (number === 1) throw new ToolServerError("x", { status: 500 });
        return number;
      },
      { isRepeatable: false },
    );
    expect(await answer).toBe(2);
  });
});

describe("the circuit breaker", () => {
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
    await expect(call()).rejects.toThrow(/not called for now: check that it is running, and call again in 3 s\.$/);
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

  test("a caller that waits for the first call may give up meanwhile", async () => {
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
});
