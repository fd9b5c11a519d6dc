import { expect, test, vi } from "vitest";
import { CHANNEL_SECONDS } from "../../../../web/src/server/sessions/event-log.js";
import { RedisEventLog } from "../../../../web/src/server/redis/event-log.js";
import { describeEventLog } from "../sessions/event-log-contract.js";
import { Heard, numbered } from "../sessions/listening.js";
import { logInTest, served, useRedis } from "./served.js";

const redis = useRedis();

describeEventLog("RedisEventLog", async (bounds) => {
  await redis.command("FLUSHALL");
  const ends: (() => Promise<void>)[] = [];
  const beside = (): RedisEventLog => {
    const one = served(redis.url);
    const log = new RedisEventLog({ ...one, ...bounds });
    ends.push(async () => {
      await log[Symbol.asyncDispose]();
      await one.close();
    });
    return log;
  };
  return { log: beside(), beside, dispose: async () => void (await Promise.all(ends.map((end) => end()))) };
});

test("keys show no channel, are of one slot, and go by themselves", async () => {
  await redis.command("FLUSHALL");
  const log = logInTest(redis.url);
  await log.append("secret channel", numbered(0));
  const keys = await redis.keys();
  expect(keys).toHaveLength(3);
  for (const key of keys) {
    expect(key).toMatch(/^\{sluice\}:1:channels(:[0-9a-f]{64}(:events)?)?$/);
    const left = (await redis.command("PTTL", key)) as number;
    expect(left > 1000 && left <= CHANNEL_SECONDS * 1000).toBe(true);
  }
  await log.end("secret channel");
  await log.append("secret channel", numbered(1));
  for (const key of await redis.keys()) expect(await redis.command("PTTL", key)).toBeLessThan(15 * 60 * 1000);
  expect(await redis.command("EXISTS", "{sluice}:1:channels")).toBe(0);
});

test("following makes no key", async () => {
  await redis.command("FLUSHALL");
  const log = logInTest(redis.url, { sweepEvery: 50 });
  const heard = new Heard(log, "a");
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await redis.keys()).toEqual([]);
  await heard.leave();
});

test("a channel is kept while somebody follows it, though nothing happens", async () => {
  await redis.command("FLUSHALL");
  const log = logInTest(redis.url, { sweepEvery: 100 });
  await log.append("a", numbered(0));
  const heard = new Heard(log, "a");
  for (const key of await redis.keys()) {
    if (key.includes(":channels:")) await redis.command("PEXPIRE", key, "2000");
  }
  await redis.command("ZADD", "{sluice}:1:channels", "XX", "1", await only());
  await vi.waitFor(
    async () => {
      for (const key of await redis.keys()) expect(await redis.command("PTTL", key)).toBeGreaterThan(100_000);
      expect(Number(await redis.command("ZSCORE", "{sluice}:1:channels", await only()))).toBeGreaterThan(1e12);
    },
    { timeout: 1900 },
  );
  expect(heard.numbers).toEqual([0]);
});

/** The only channel. */
async function only(): Promise<string> {
  return String(await redis.command("ZRANGE", "{sluice}:1:channels", "0", "0"));
}
