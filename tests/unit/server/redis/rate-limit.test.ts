import { expect, test, vi } from "vitest";
import { RedisRateLimit } from "../../../../web/src/server/redis/rate-limit.js";
import { describeRateLimit } from "../rate-limit-contract.js";
import { another, served, servedInTest, useRedis, type Served } from "./served.js";

const redis = useRedis();

describeRateLimit("RedisRateLimit", async () => {
  await redis.command("FLUSHALL");
  const all: Served[] = [];
  const beside = (): RedisRateLimit => {
    const one = served(redis.url);
    all.push(one);
    return new RedisRateLimit(one);
  };
  return { rates: beside(), beside, dispose: async () => void (await Promise.all(all.map((one) => one.close()))) };
});

test("keys show nobody, are of one slot, and go by themselves", async () => {
  await redis.command("FLUSHALL");
  await new RedisRateLimit(servedInTest(redis.url)).take("ada", 5, 60);
  const [key = "", ...others] = await redis.keys();
  expect(others).toEqual([]);
  expect(key).toMatch(/^\{sluice\}:1:rates:5\/60:[0-9a-f]{64}$/);
  expect(await redis.command("PTTL", key)).toBeLessThanOrEqual(60_000);
  expect(await redis.command("PTTL", key)).toBeGreaterThan(50_000);
});

test("a server that is away, gives no answer or has no memory lets pass, soon, and says why", async () => {
  const server = await another();
  const report = vi.fn<(error: unknown) => void>();
  const rates = new RedisRateLimit({ ...servedInTest(server.url), report });
  const passes = async (): Promise<void> => {
    report.mockClear();
    const begun = performance.now();
    expect(await rates.take("a", 5, 60)).toEqual({ ok: true });
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(report).toHaveBeenCalledOnce();
  };
  await server.command("CONFIG", "SET", "maxmemory", "1");
  await passes();
  await server.command("CONFIG", "SET", "maxmemory", "0");
  server.signal("SIGSTOP");
  await passes();
  server.signal("SIGCONT");
  await server.kill();
  await passes();
  await server.start();
  await vi.waitFor(async () => expect(await rates.take("b", 1, 60)).toMatchObject({ ok: false }), { timeout: 20_000 });
});

test("who is refused costs the server nothing more", async () => {
  const { server, ...rest } = servedInTest(redis.url);
  const run = vi.fn<typeof server.run>(server.run.bind(server));
  const rates = new RedisRateLimit({ ...rest, server: { run } });
  for (let at = 0; at < 50; at++) await rates.take("flood", 3, 60);
  expect(run.mock.calls.length).toBeLessThanOrEqual(4);
});
