import { expect, it } from "vitest";
import { ToolTimeoutError } from "../../../../web/src/tools/errors.js";
import { attempted, type Attempt } from "../../../../web/src/tools/resilience/attempt.js";
import { deferred, ManualClock } from "./manual.js";

function attempt<T>(work: (attempt: Attempt) => Promise<T>) {
  const clock = new ManualClock();
  const terms = { number: 1, place: { source: "s" }, timeoutSeconds: 30, clock, signal: undefined };
  return { clock, outcome: attempted(work, terms).catch((error: unknown) => error) };
}

it("no time limit runs out while a person is asked, and it begins anew behind that", async () => {
  const answer = deferred<string>();
  const rest = deferred();
  const { clock, outcome } = attempt(async (own) => {
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
  const { clock, outcome } = attempt(async (own) => {
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
  const { outcome } = attempt(async (own) => {
    await own.unhurried(() => Promise.reject(reason)).catch(() => undefined);
    ended = own.signal.reason;
    throw new Error("said by whoever asked");
  });
  expect(await outcome).toBe(reason);
  expect(ended).toBe(reason);
});
