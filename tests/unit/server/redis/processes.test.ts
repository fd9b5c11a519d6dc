/** Several processes that share state. */
import { expect, test, vi } from "vitest";
import { redisState } from "../../../../web/src/serve-redis.js";
import { isFull } from "../../../support/full.js";
import { Heard, range } from "../sessions/listening.js";
import { useProcesses } from "./processes.js";
import { logInTest, SECRET, useRedis } from "./served.js";

const redis = useRedis();
const start = useProcesses();
const PATIENCE = { timeout: 30_000 };

test("two append and two follow: all hear the same, in the same order, with everything that was acknowledged", async () => {
  const followers = [await start(redis.url, "follow", "a"), await start(redis.url, "follow", "a")];
  const here = new Heard(logInTest(redis.url), "a");
  const appending = await Promise.all([
    start(redis.url, "append", "a", "0", "200"),
    start(redis.url, "append", "a", "1000", "200"),
  ]);
  await Promise.all(appending.map(({ over }) => over));
  const all = [...range(200), ...range(200).map((number) => number + 1000)];
  await vi.waitFor(() => expect(here.entries).toHaveLength(400), PATIENCE);
  expect([...here.numbers].sort((a, b) => Number(a) - Number(b))).toEqual(all);
  for (const { lines } of followers) {
    await vi.waitFor(() => expect(lines.map(Number)).toEqual(here.numbers), PATIENCE);
  }
});

test("one that is killed while it appends loses nothing that was acknowledged", async () => {
  const log = logInTest(redis.url);
  const heard = new Heard(log, "killed");
  const appending = await start(redis.url, "append", "killed", "0", "900");
  await vi.waitFor(() => expect(appending.lines.length).toBeGreaterThan(20), PATIENCE);
  appending.process.kill("SIGKILL");
  await appending.over;
  const acknowledged = appending.lines.map(Number);
  await vi.waitFor(() => expect(heard.entries.length).toBeGreaterThanOrEqual(acknowledged.length), PATIENCE);
  expect(heard.numbers.slice(0, acknowledged.length)).toEqual(acknowledged);
  // What was under way may have arrived too.
  expect(heard.entries.length).toBeLessThanOrEqual(acknowledged.length + 1);
});

test("a channel that one ends is over for those who follow in others", async () => {
  const follower = await start(redis.url, "follow", "ended");
  const log = logInTest(redis.url);
  await log.append("ended", { kind: "last words" });
  await vi.waitFor(() => expect(follower.lines).toEqual(["last words"]), PATIENCE);
  await log.end("ended");
  // The process ends with its loop.
  await follower.over;
});

test("one at a time works for a user, over all of them", async () => {
  const processes = await Promise.all(range(3).map(() => start(redis.url, "alone", "ada", "30")));
  await Promise.all(processes.map(({ over }) => over));
  await using state = redisState({ url: redis.url, secret: SECRET });
  expect((await state.tokens.get("ada", "provider"))?.expires_at).toBe(90);
});

test("one that is killed while it is alone holds up others no longer than its lease", async () => {
  const holding = await start(redis.url, "hold", "eve");
  await using state = redisState({ url: redis.url, secret: SECRET });
  let isOver = false;
  const waiting = state.tokens.exclusively?.("eve", "provider", async () => (isOver = true));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(isOver).toBe(false);
  holding.process.kill("SIGKILL");
  const begun = performance.now();
  await holding.over;
  // The full run waits for the lease itself.
  const leases = isFull ? [] : (await redis.keys()).filter((key) => key.includes(":leases:"));
  for (const key of leases) await redis.command("PEXPIRE", key, "500");
  await waiting;
  expect(performance.now() - begun).toBeLessThan(15_000);
});
