import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { MAX_SESSIONS } from "../../../../web/src/server/sessions/session-register.js";
import { RedisSessionRegister } from "../../../../web/src/server/redis/session-register.js";
import { describeRegister } from "../sessions/register-contract.js";
import { another, coded, served, servedInTest, useRedis, type Served } from "./served.js";

const redis = useRedis();

describeRegister("RedisSessionRegister", async ({ maxSessions = MAX_SESSIONS }) => {
  await redis.command("FLUSHALL");
  const all: Served[] = [];
  const beside = (): RedisSessionRegister => {
    const one = served(redis.url);
    all.push(one);
    return new RedisSessionRegister({ ...one, maxSessions });
  };
  return {
    register: beside(),
    beside,
    now: () => Date.now(),
    pass: (milliseconds) => sleep(milliseconds),
    dispose: async () => void (await Promise.all(all.map((one) => one.close()))),
  };
});

const SESSION = { id: "secret id", identity: { user_id: "ada" }, begun_at: 0, expires_at: 0 };

test("keys show no id, are of one slot, and go by themselves when the session is over", async () => {
  await redis.command("FLUSHALL");
  const register = new RedisSessionRegister(servedInTest(redis.url));
  await register.begin({ ...SESSION, expires_at: Date.now() + 1000 });
  await register.addTrace(SESSION.id, "t");
  await register.subscribe(SESSION.id, { namespace: "n", uri: "u" });
  const keys = await redis.keys();
  expect(keys).toHaveLength(4);
  for (const key of keys) {
    expect(key).toMatch(/^\{sluice\}:1:sessions(:[0-9a-f]{64}(:(traces|subscriptions))?)?$/);
    expect(await redis.command("PTTL", key)).toBeGreaterThan(0);
  }
  await vi.waitFor(async () => expect(await redis.keys()).toEqual([]), { timeout: 20_000 });
});

test("nothing but the index is left of a session that ended, and with the last one not even that", async () => {
  await redis.command("FLUSHALL");
  const register = new RedisSessionRegister(servedInTest(redis.url));
  await register.begin({ ...SESSION, expires_at: Date.now() + 100_000 });
  await register.addTrace(SESSION.id, "t");
  await register.subscribe(SESSION.id, { namespace: "n", uri: "u" });
  await register.end(SESSION.id);
  expect(await redis.keys()).toEqual([]);
});

test("a server without memory begins none, and finds and ends those that there are", async () => {
  const server = await another();
  const register = new RedisSessionRegister(servedInTest(server.url));
  const session = { ...SESSION, expires_at: Date.now() + 100_000 };
  await register.begin(session);
  await register.addTrace(session.id, "t");
  await server.command("CONFIG", "SET", "maxmemory", "1");
  const keys = await server.keys();
  await expect(register.begin({ ...session, id: "b" })).rejects.toEqual(coded("E_STORE_FULL"));
  await expect(register.addTrace(session.id, "u")).rejects.toEqual(coded("E_STORE_FULL"));
  expect(await server.keys()).toEqual(keys);
  expect(await register.addTrace(session.id, "t")).toBe(true);
  expect(await register.find(session.id)).toEqual(session);
  expect(await register.end(session.id)).toEqual({ session, traces: ["t"] });
});

test("a server that is away is said to be, and what is damaged too", async () => {
  const server = await another();
  const register = new RedisSessionRegister(servedInTest(server.url, 500));
  const session = { ...SESSION, expires_at: Date.now() + 100_000 };
  await vi.waitFor(() => register.begin(session), { timeout: 20_000 });
  for (const key of await server.keys()) if (!key.endsWith("sessions")) await server.command("SET", key, "{");
  await expect(register.find(session.id)).rejects.toEqual(coded("E_STORE_CORRUPT"));
  await server.kill();
  await expect(register.find(session.id)).rejects.toEqual(coded("E_STORE_READ"));
  await expect(register.begin(session)).rejects.toEqual(coded("E_STORE_WRITE"));
});
