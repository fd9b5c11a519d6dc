import { once } from "node:events";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SluiceError } from "../../../../web/src/errors/error.js";
import {
  ToolAuthError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "../../../../web/src/tools/errors.js";
import { ConcurrencyLimit, Resilience, type RetryNotice } from "../../../../web/src/tools/resilience/resilience.js";
import { asking, HttpSource } from "./http-source.js";
import { deferred, ManualClock, policy } from "./manual.js";

const REPEATABLE = { isRepeatable: true };
const ONCE = { isRepeatable: false };

/** A resilience whose waits are over at once, and what it told. */
function hurried(changes: Parameters<typeof policy>[0] = {}) {
  const clock = new ManualClock();
  const notices: RetryNotice[] = [];
  const onRetry = (notice: RetryNotice): void => {
    notices.push(notice);
    clock.skip(notice);
  };
  return { clock, notices, resilience: new Resilience("shop", policy(changes), { clock, onRetry }) };
}

test("Retry-After is waited for, and a little longer", async () => {
  const { resilience, clock, notices } = hurried();
  const asked: number[] = [];
  await using source = await HttpSource.open((_, response) => {
    asked.push(clock.now());
    if (asked.length === 1) response.writeHead(429, { "Retry-After": "7" }).end("no: token abc");
    else response.end("yes");
  });
  expect(await resilience.run(source.ask(), ONCE)).toBe("yes");
  expect(asked).toHaveLength(2);
  expect(asked[1]! - asked[0]!).toBeGreaterThanOrEqual(7100);
  expect(asked[1]! - asked[0]!).toBeLessThanOrEqual(12_000);
  expect(notices[0]).toMatchObject({ attempt: 1, error: { retryAfterSeconds: 7, status: 429 } });
  expect(notices[0]!.error).toBeInstanceOf(ToolRateLimitError);
});

test("a source that wants to be left alone for longer than a call waits is told of at once", async () => {
  const { resilience, notices } = hurried();
  await using source = await HttpSource.open((_, response) => response.writeHead(503, { "Retry-After": "3600" }).end());
  const failure = resilience.run(source.ask(), REPEATABLE);
  await expect(failure).rejects.toBeInstanceOf(ToolServerError);
  await expect(failure).rejects.toThrow(/try again in 3600 s/);
  expect(notices).toEqual([]);
});

test("500s are tried again until an answer comes", async () => {
  const { resilience } = hurried();
  const statuses = [500, 502, 200];
  await using source = await HttpSource.open((_, response) => response.writeHead(statuses.shift()!).end("done"));
  expect(await resilience.run(source.ask(), ONCE)).toBe("done");
  expect(statuses).toEqual([]);
});

test("the last of all attempts says how it ended", async () => {
  const { resilience, notices } = hurried({ max_attempts: 4 });
  const statuses = [503, 500, 429, 502, 200];
  await using source = await HttpSource.open((_, response) => response.writeHead(statuses.shift()!).end());
  await expect(resilience.run(source.ask(), REPEATABLE)).rejects.toMatchObject({ status: 502 });
  expect(statuses).toEqual([200]);
  expect(notices.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
});

test.each([
  [401, ToolAuthError],
  [404, ToolNodeError],
  [501, ToolServerError],
  [529, ToolNodeError],
])("%i is not among the statuses to try again", async (status, Class) => {
  const { resilience } = hurried();
  let asked = 0;
  await using source = await HttpSource.open((_, response) => {
    asked += 1;
    response.writeHead(status).end();
  });
  await expect(resilience.run(source.ask(), REPEATABLE)).rejects.toBeInstanceOf(Class);
  expect(asked).toBe(1);
});

test("statuses to try again are those of the configuration, whatever they mean elsewhere", async () => {
  const { resilience } = hurried({ retry_on_status: [529] });
  const statuses = [529, 500];
  await using source = await HttpSource.open((_, response) => response.writeHead(statuses.shift()!).end());
  await expect(resilience.run(source.ask(), REPEATABLE)).rejects.toMatchObject({ status: 500 });
});

test("a refused connection is tried again, repeatable or not: nothing was done", async () => {
  const gone = await HttpSource.open(() => undefined);
  const { port } = gone;
  await gone[Symbol.asyncDispose]();
  const clock = new ManualClock();
  let back: Promise<HttpSource> | undefined;
  const onRetry = (notice: RetryNotice): void => {
    expect(notice.error).toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
    back ??= HttpSource.open((_, response) => void response.end("back"), port);
    void back.then(() => clock.pass(notice.waitSeconds));
  };
  const resilience = new Resilience("shop", policy(), { clock, onRetry });
  expect(await resilience.run(asking(`http://127.0.0.1:${port}/`), ONCE)).toBe("back");
  await (await back)?.[Symbol.asyncDispose]();
});

test("a connection that is lost in the middle is tried again only for a repeatable tool", async () => {
  let asked = 0;
  await using source = await HttpSource.open((_, response) => {
    asked += 1;
    if (asked === 3) response.end("whole");
    else response.writeHead(200, { "Content-Length": "100" }).write("half", () => response.destroy());
  });
  const { resilience } = hurried();
  await expect(resilience.run(source.ask(), ONCE)).rejects.toBeInstanceOf(ToolConnectionError);
  expect(asked).toBe(1);
  expect(await resilience.run(source.ask(), REPEATABLE)).toBe("whole");
  expect(asked).toBe(3);
});

test("a source that says nothing is given up, and hears of it", async () => {
  const { resilience, clock } = hurried();
  let asked = 0;
  const closed: Promise<unknown>[] = [];
  await using source = await HttpSource.open((request) => {
    asked += 1;
    closed.push(once(request.socket, "close"));
    clock.pass(30);
  });
  const failure = resilience.run(source.ask(), { ...ONCE, tool: "buy" });
  await expect(failure).rejects.toBeInstanceOf(ToolTimeoutError);
  await expect(failure).rejects.toThrow(
    /^The tool "buy" of the source "shop" showed no progress for 30 s: .*may still finish/,
  );
  expect(asked).toBe(1);
  await expect(resilience.run(source.ask(), REPEATABLE)).rejects.toBeInstanceOf(ToolTimeoutError);
  expect(asked).toBe(4);
  await Promise.all(closed);
  expect(clock.pending).toBe(0);
});

test("progress restarts a call's time, but not for ever", async () => {
  const { resilience, clock } = hurried();
  await using source = await HttpSource.open((_, response) => void response.end("at last"));
  const ask = source.ask();
  const slow = resilience.run(async (attempt) => {
    for (let step = 0; step < 100; step += 1) {
      clock.pass(29);
      attempt.progressed();
    }
    return ask(attempt);
  }, ONCE);
  expect(await slow).toBe("at last");

  const endless = resilience.run(
    async (attempt) =>
      new Promise<string>(() => {
        while (!attempt.signal.aborted) {
          clock.pass(29);
          attempt.progressed();
        }
      }),
    ONCE,
  );
  await expect(endless).rejects.toThrow(/did not finish within 3600 s/);
});

test("work that does not heed its signal is not waited for", async () => {
  const { resilience, clock } = hurried({ max_concurrency: 1 });
  const deaf = resilience.run(async () => {
    queueMicrotask(() => clock.pass(30));
    return new Promise<never>(() => undefined);
  }, ONCE);
  await expect(deaf).rejects.toBeInstanceOf(ToolTimeoutError);
  expect(resilience.inFlight).toBe(0);
  expect(await resilience.run(async ({ number }) => number, ONCE)).toBe(1);
});

test("a caller that gives up gets its own reason back: before, during and between attempts, and in the line", async () => {
  const { resilience, clock } = hurried({ max_concurrency: 1 });
  const reason = { any: "thing" };
  const arrived = deferred();
  await using source = await HttpSource.open(() => arrived.resolve());

  await expect(resilience.run(source.ask(), { ...REPEATABLE, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

  const during = new AbortController();
  const first = resilience.run(source.ask(), { ...REPEATABLE, signal: during.signal });
  const inLine = new AbortController();
  const second = resilience.run(source.ask(), { ...REPEATABLE, signal: inLine.signal });
  await arrived.promise;
  expect(resilience).toMatchObject({ inFlight: 1, waiting: 1 });
  inLine.abort(reason);
  await expect(second).rejects.toBe(reason);
  expect(resilience).toMatchObject({ inFlight: 1, waiting: 0 });
  during.abort(reason);
  await expect(first).rejects.toBe(reason);
  expect(resilience.inFlight).toBe(0);

  const between = new AbortController();
  const patient = new Resilience("shop", policy(), {
    clock,
    onRetry: () => queueMicrotask(() => between.abort(reason)),
  });
  const third = patient.run(
    async () => {
      throw new ToolServerError("x", { status: 500 });
    },
    { ...REPEATABLE, signal: between.signal },
  );
  await expect(third).rejects.toBe(reason);
  expect(clock.pending).toBe(0);
});

test("200 calls at once: never more than 10 at the source, and none lost", async () => {
  const { resilience } = hurried();
  // Nobody is answered before ten have asked: fewer would wait for ever, more would show.
  let asked: (() => void)[] = [];
  let most = 0;
  await using source = await HttpSource.open((request, response) => {
    asked.push(() => response.end(request.url));
    most = Math.max(most, asked.length);
    if (asked.length < 10) return;
    const answers = asked;
    setImmediate(() => answers.forEach((answer) => answer()));
    asked = [];
  });
  const { signal } = new AbortController();
  const calls = Array.from({ length: 200 }, (_, index) => {
    const ask = source.ask(`/${index}`);
    const work: typeof ask = (attempt) => {
      expect(resilience.inFlight).toBeLessThanOrEqual(10);
      return ask(attempt);
    };
    return resilience.run(work, { ...ONCE, signal });
  });
  expect(resilience).toMatchObject({ inFlight: 10, waiting: 190 });
  expect(await Promise.all(calls)).toEqual(calls.map((_, index) => `/${index}`));
  expect(most).toBe(10);
  expect(resilience).toMatchObject({ inFlight: 0, waiting: 0 });
});

test("our own errors that are not the source's pass as they are", async () => {
  const { resilience, notices } = hurried();
  const full = new SluiceError("E_STORE_FULL", "The store has no room left.");
  await expect(resilience.run(() => Promise.reject(full), REPEATABLE)).rejects.toBe(full);
  expect(notices).toEqual([]);
});

test("a listener that throws spoils no call", async () => {
  const clock = new ManualClock();
  const onRetry = (notice: RetryNotice): void => {
    clock.skip(notice);
    throw new Error("the listener's own");
  };
  const resilience = new Resilience("shop", policy(), { clock, onRetry });
  const answer = resilience.run(async ({ number }) => {
    if (number < 3) throw new ToolServerError("x", { status: 500 });
    return number;
  }, ONCE);
  expect(await answer).toBe(3);
});

test("waits stay within the rules, whatever these are, and as many attempts are made as they say", async () => {
  const rules = fc.record({
    max_attempts: fc.integer({ min: 1, max: 10 }),
    wait_exponential_min_s: fc.double({ min: 0.01, max: 5, noNaN: true }),
    more: fc.double({ min: 0, max: 300, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(rules, async ({ max_attempts, wait_exponential_min_s, more }) => {
      const wait_exponential_max_s = wait_exponential_min_s + more;
      const { resilience, notices } = hurried({ max_attempts, wait_exponential_min_s, wait_exponential_max_s });
      const failing = resilience.run(async ({ number }) => {
        throw new ToolRateLimitError("x", { status: 429, retryAfterSeconds: number });
      }, ONCE);
      await expect(failing).rejects.toMatchObject({ retryAfterSeconds: max_attempts });
      expect(notices.map(({ attempt }) => attempt)).toEqual(
        Array.from({ length: max_attempts - 1 }, (_, at) => at + 1),
      );
      for (const { attempt, waitSeconds } of notices) {
        expect(waitSeconds - attempt).toBeGreaterThanOrEqual(wait_exponential_min_s - 1e-6);
        expect(waitSeconds - attempt).toBeLessThanOrEqual(wait_exponential_max_s + 1e-6);
      }
    }),
  );
});

const place = { source: "shop" };

test("one more than may wait is turned away with a remedy, and nobody else", async () => {
  const limit = new ConcurrencyLimit(1, 2);
  const finish = deferred<string>();
  const first = limit.run(() => finish.promise, undefined, place);
  const second = limit.run(async () => "b", undefined, place);
  const third = limit.run(async () => "c", undefined, place);
  const turnedAway = limit.run(async () => "d", undefined, place);
  await expect(turnedAway).rejects.toMatchObject({ code: "E_TOOL_RATE_LIMIT", neverSent: true, isRetryable: false });
  await expect(turnedAway).rejects.toThrow(/too many waiting calls: call again when/);
  expect(limit).toMatchObject({ inFlight: 1, waiting: 2 });
  finish.resolve("a");
  expect(await Promise.all([first, second, third])).toEqual(["a", "b", "c"]);
  expect(limit).toMatchObject({ inFlight: 0, waiting: 0 });
});

test("those who wait go in their order, whoever gives up and whoever comes at the last moment", async () => {
  const limit = new ConcurrencyLimit(1, 3);
  const order: string[] = [];
  const finish = deferred();
  const first = limit.run(() => finish.promise, undefined, place);
  const caller = new AbortController();
  const enter = async (name: string, signal?: AbortSignal): Promise<unknown> =>
    limit.run(async () => order.push(name), signal, place).catch(String);
  const waiting = [enter("a", caller.signal), enter("b"), enter("c")];
  caller.abort("given up");
  expect(await waiting[0]).toBe("given up");
  expect(limit.waiting).toBe(2);
  // Newcomers in every moment in which the turn could be up for grabs.
  const late: Promise<unknown>[] = [];
  finish.resolve();
  for (let moment = 0; moment < 12; moment += 1) {
    late.push(enter(`late ${moment}`));
    await Promise.resolve();
  }
  await first;
  expect(await Promise.all(waiting)).toEqual(["given up", 1, 2]);
  await Promise.all(late);
  expect(order.slice(0, 2)).toEqual(["b", "c"]);
});

test("a turn that comes to somebody who just gave up goes to the next", async () => {
  const limit = new ConcurrencyLimit(1);
  const finish = deferred();
  const first = limit.run(() => finish.promise, undefined, place);
  const caller = new AbortController();
  const second = limit.run(async () => "second", caller.signal, place);
  const third = limit.run(async () => "third", undefined, place);
  finish.resolve();
  // As soon as the turn was handed on, and before its owner can know.
  while (limit.waiting === 2) await Promise.resolve();
  caller.abort("given up");
  await expect(second).rejects.toBe("given up");
  expect(await third).toBe("third");
  await first;
  expect(limit).toMatchObject({ inFlight: 0, waiting: 0 });
});

test("whatever becomes of the calls, each is settled, the limit holds, and nothing is left over", async () => {
  const fates = fc.array(fc.constantFrom("succeed", "fail", "give up early", "give up late"), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fates, fc.integer({ min: 1, max: 5 }), async (list, most) => {
      const limit = new ConcurrencyLimit(most);
      let now = 0;
      const calls = list.map(async (fate, index) => {
        const caller = new AbortController();
        const call = limit.run(
          async () => {
            now += 1;
            expect(now).toBeLessThanOrEqual(most);
            await new Promise(setImmediate);
            now -= 1;
            if (fate === "fail") throw new Error("failed");
            return index;
          },
          caller.signal,
          place,
        );
        if (fate === "give up early") caller.abort("given up");
        if (fate === "give up late") setImmediate(() => caller.abort("given up"));
        return call.catch(String);
      });
      const settled = await Promise.all(calls);
      list.forEach((fate, index) => {
        const outcomes: unknown[] = {
          succeed: [index],
          fail: ["Error: failed"],
          // Work that has begun heeds its signal itself, or does not.
          "give up early": ["given up", index],
          "give up late": ["given up", index],
        }[fate];
        expect(outcomes).toContain(settled[index]);
      });
      await new Promise(setImmediate);
      expect(limit).toMatchObject({ inFlight: 0, waiting: 0 });
    }),
  );
});
