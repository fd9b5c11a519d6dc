/** How much is looked at, read and kept at once, however much there is. */
import { createClient } from "@redis/client";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { RedisStateStore, type RedisStateStoreOptions } from "../../../web/src/planner/redis-state-store.js";
import type { RedisCommands } from "../../../web/src/redis/options.js";
import { TestRedis } from "./redis-server.js";

let redis: TestRedis;
let client: ReturnType<typeof createClient>;
beforeAll(async () => {
  redis = await TestRedis.started();
  client = createClient({ url: redis.url });
  await client.connect();
});
afterAll(async () => {
  client.destroy();
  await redis[Symbol.asyncDispose]();
});
afterEach(() => redis.command("FLUSHALL"));

function opened(options: Partial<RedisStateStoreOptions> = {}): RedisStateStore {
  const store = new RedisStateStore({
    client: { sendCommand: (...words) => client.sendCommand(...words) },
    ...options,
  });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

const kinds = async (store: RedisStateStore): Promise<readonly string[]> =>
  (await store.loadHistory("trace")).map(({ event }) => event.kind);
const eventOf = (kind: string, size: number): { kind: string } =>
  ({ kind, text: "x".repeat(size) }) as { readonly kind: string };

/** Counts what comes back, and does something before each reply but the first. */
function counting(between: () => Promise<void> = async () => undefined): RedisCommands & { readonly sizes: number[] } {
  const sizes: number[] = [];
  return {
    sizes,
    sendCommand: async (command, options) => {
      if (sizes.length > 0) await between();
      const reply: unknown = await client.sendCommand(command, options);
      if (Array.isArray(reply)) sizes.push(reply.join("").length);
      return reply;
    },
  };
}

describe("a history", () => {
  test("is read in pieces, each of a bounded size, and given whole", async () => {
    const store = opened();
    const all = Array.from({ length: 30 }, (_, at) => `${at}`);
    for (const kind of all) await store.saveEvent("trace", eventOf(kind, 300_000));
    const counted = counting();
    expect(await kinds(opened({ client: counted }))).toEqual(all);
    expect(counted.sizes.length).toBeGreaterThan(5);
    expect(Math.max(...counted.sizes)).toBeLessThan(1_500_000);
  });

  test("of many small events is read in pieces too", async () => {
    const store = opened();
    const all = Array.from({ length: 450 }, (_, at) => `${at}`);
    for (const kind of all) await store.saveEvent("trace", { kind });
    const counted = counting();
    expect(await kinds(opened({ client: counted }))).toEqual(all);
    expect(counted.sizes).toHaveLength(3);
    expect(await kinds(opened({ maxEvents: 201 }))).toEqual(all.slice(-201));
  });

  test("that grows and loses its oldest while it is read is given without gaps, and nothing twice", async () => {
    const store = opened({ maxEvents: 10 });
    for (let at = 0; at < 10; at++) await store.saveEvent("trace", eventOf(`${at}`, 400_000));
    let last = 9;
    const growing = counting(() => store.saveEvent("trace", { kind: `${(last += 1)}` }));
    const found = await kinds(opened({ client: growing, maxEvents: 10 }));
    expect(last).toBeGreaterThan(10);
    const [first = ""] = found;
    expect(found).toEqual(Array.from({ length: 10 - Number(first) }, (_, at) => `${Number(first) + at}`));
  });

  test("keeps no more bytes in the server than was said, but the newest event", async () => {
    const store = opened({ maxHistoryBytes: 1_000 });
    for (let at = 0; at < 20; at++) await store.saveEvent("trace", eventOf(`${at}`, 200));
    const [key = ""] = (await redis.keys()).filter((name) => name.includes(":events:"));
    expect(await redis.command("LLEN", key)).toBe(4);
    expect(await kinds(store)).toEqual(["16", "17", "18", "19"]);
    await store.saveEvent("trace", eventOf("large", 5_000));
    expect(await kinds(store)).toEqual(["large"]);
    await store.saveEvent("trace", { kind: "next" });
    expect(await kinds(store)).toEqual(["next"]);
  });

  test("is cut to the bounds of who reads it: the newest that fit, without what is too large", async () => {
    const store = opened();
    for (const [at, size] of [10, 500, 10, 10].entries()) await store.saveEvent("trace", eventOf(`${at}`, size));
    expect(await kinds(opened({ maxBytes: 100 }))).toEqual(["0", "2", "3"]);
    expect(await kinds(opened({ maxHistoryBytes: 100 }))).toEqual(["2", "3"]);
    expect(await kinds(opened({ maxHistoryBytes: 1 }))).toEqual(["3"]);
  });

  test("that a client gives without end is told of", async () => {
    const endless = opened({ client: { sendCommand: () => Promise.resolve(["1 1"]) } });
    await expect(endless.loadHistory("trace")).rejects.toMatchObject({ code: "E_STORE_READ" });
  });
});

test("what a store with a larger bound saved is said to be that, and is not taken away", async () => {
  const [large, small] = [opened(), opened({ maxBytes: 50 })];
  const text = "x".repeat(100);
  await large.savePlannerState("token", text);
  await large.saveOAuthState("state", text, 60);
  for (const asked of [
    () => small.loadPlannerState("token"),
    () => small.loadOAuthState("state"),
    () => small.takeOAuthState("state"),
  ]) {
    await expect(asked()).rejects.toMatchObject({ code: "E_TOO_LARGE", message: expect.stringContaining("maxBytes") });
  }
  expect(await large.takeOAuthState("state")).toBe(text);
  expect(await large.loadPlannerState("token")).toBe(text);
});

test("where very many runs are claimed, some are looked at to make room, and no more are kept", async () => {
  const store = opened({ maxKept: 800 });
  const tokens = Array.from({ length: 800 }, (_, at) => `token ${at}`);
  await Promise.all(tokens.map((token) => store.savePlannerState(token, 1)));
  await Promise.all(tokens.map((token) => store.claimPlannerState(token, "ada", 600)));
  await redis.command("CONFIG", "RESETSTAT");
  await store.savePlannerState("new", 1);
  const [, calls] = /cmdstat_hget:calls=(\d+)/.exec(String(await redis.command("INFO", "commandstats"))) ?? [];
  expect(Number(calls)).toBeLessThanOrEqual(301);
  expect(await store.loadPlannerState("new")).toBe(1);
  expect(await redis.command("ZCARD", "{sluice}:1:runs")).toBe(800);
});
