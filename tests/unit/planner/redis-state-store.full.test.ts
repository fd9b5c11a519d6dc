import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { RedisStateStore, type RedisStateStoreOptions } from "../../../web/src/planner/redis-state-store.js";
import { describeStateStore } from "./state-store-contract.js";
import { coded, fill, opened, useRedis } from "../redis/served.js";

const redis = useRedis();

describeStateStore("RedisStateStore", async (bounds) => {
  let now = Date.UTC(2026, 0, 1);
  const stores: RedisStateStore[] = [];
  const beside = (): RedisStateStore => {
    const store = new RedisStateStore({ url: redis.url, ...bounds, clock: () => now });
    stores.push(store);
    return store;
  };
  return {
    store: beside(),
    beside,
    pass: (ms) => void (now += ms),
    dispose: async () => {
      await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
      await redis.command("FLUSHALL");
    },
  };
});

/** Sockets that keep this process alive. */
function sockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
}

describe("keys", () => {
  test("show no token, id or owner, and are all of one slot of a cluster", async () => {
    await fill(await opened(redis, { prefix: "mine" }));
    const keys = await redis.keys();
    expect(keys).toHaveLength(8);
    for (const key of keys) expect(key).toMatch(/^\{mine\}:1:(runs|oauth|events|bindings)(:[0-9a-f]{64})?$/);
    const owners = await redis.command("HVALS", keys.find((key) => key.includes(":runs:")) ?? "");
    expect(JSON.stringify(owners)).not.toContain("somebody");
  });

  test("go by themselves, every one of them, when they are too old", async () => {
    const store = await opened(redis, { maxAgeSeconds: 100 });
    await fill(store);
    for (const key of await redis.keys()) {
      const left = (await redis.command("PTTL", key)) as number;
      expect([key, left > 5_000 && left <= 100_000]).toEqual([key, true]);
    }
    const brief = await opened(redis, { maxAgeSeconds: 0.2 });
    await brief.savePlannerState("token", {});
    await brief.saveEvent("trace", { kind: "a" });
    await vi.waitFor(async () => expect(await redis.keys()).toEqual([]));
    expect(await brief.loadPlannerState("token")).toBeNull();
  });

  test("nothing is left of what was forgotten or taken", async () => {
    const store = await opened(redis);
    for (const then of ["claim", "null"]) {
      await store.savePlannerState("token", {});
      await store.claimPlannerState("token", "ada", 10);
      if (then === "claim") await store.releasePlannerState("token", "ada", "forget");
      else await store.savePlannerState("token", null);
      await store.saveOAuthState("state", {}, 10);
      await store.takeOAuthState("state");
      expect(await redis.keys()).toEqual([]);
    }
  });

  test("are as many as was said, and events of a trace too", async () => {
    const store = await opened(redis, { maxKept: 3, maxEvents: 4 });
    for (let at = 0; at < 12; at++) {
      await store.savePlannerState(`token ${at}`, at);
      await store.saveOAuthState(`state ${at}`, at, 10);
      await store.saveEvent(`trace ${at}`, { kind: "a" });
      await store.saveEvent("trace", { kind: `${at}` });
    }
    const keys = await redis.keys();
    for (const room of ["runs", "oauth", "events"]) {
      expect(keys.filter((key) => key.startsWith(`{sluice}:1:${room}:`))).toHaveLength(3);
      expect(await redis.command("ZCARD", `{sluice}:1:${room}`)).toBe(3);
    }
    expect((await store.loadHistory("trace")).map(({ event }) => event.kind)).toEqual(["8", "9", "10", "11"]);
    expect(await store.loadPlannerState("token 11")).toBe(11);
  });

  test("of two prefixes are two stores", async () => {
    const [one, two] = [await opened(redis, { prefix: "one" }), await opened(redis, { prefix: "two" })];
    await one.savePlannerState("token", 1);
    expect(await two.loadPlannerState("token")).toBeNull();
  });
});

test("without a clock of the host's, claims end by the server's", async () => {
  const store = await opened(redis);
  await store.savePlannerState("token", {});
  await store.claimPlannerState("token", "ada", 60);
  expect(await store.claimPlannerState("token", "eve", 10)).toBe(false);
  await store.claimPlannerState("token", "ada", 0.1);
  await vi.waitFor(async () => expect(await store.claimPlannerState("token", "eve", 10)).toBe(true), {
    timeout: 20_000,
  });
  expect(await store.releasePlannerState("token", "ada", "forget")).toBe(false);
});

/** The key of the only entry of a room. */
async function keyOf(room: string): Promise<string> {
  return (await redis.keys()).find((key) => key.startsWith(`{sluice}:1:${room}:`)) ?? "";
}

describe("what others damaged says so", () => {
  const damage: readonly (readonly [string, (key: string) => Promise<unknown>])[] = [
    ["another kind of value", (key) => redis.command("SET", key, "x")],
    ["no JSON", (key) => redis.command("HSET", key, "text", '{"secret":')],
    ["no text", (key) => redis.command("HDEL", key, "text")],
    ["no time", (key) => redis.command("HSET", key, "until", "soon")],
    ["no time at all", (key) => redis.command("HDEL", key, "until")],
  ];

  test.each(damage)("%s", async (_, spoil) => {
    const store = await opened(redis);
    await fill(store);
    const keys = await redis.keys();
    for (const key of keys.filter((each) => /:(runs|bindings|oauth):/.test(each))) await spoil(key);
    for (const asked of [
      store.loadPlannerState("token"),
      store.loadOAuthState("state"),
      store.takeOAuthState("state"),
      store.loadRemoteBinding("trace", "task"),
    ]) {
      await expect(asked).rejects.toEqual(coded("E_STORE_CORRUPT"));
    }
    // It is in nobody's way, and can be begun anew.
    await fill(store);
    expect(await store.loadPlannerState("token")).toEqual({ secret: "hush" });
  });

  test.each(["no time", "7 {", "7 7 {", "1".repeat(20)])("a history that has %j in it", async (line) => {
    const store = await opened(redis);
    await store.saveEvent("trace", { kind: "a" });
    await redis.command("RPUSH", await keyOf("events"), line.replace(/^7/, String(Date.now())));
    await expect(store.loadHistory("trace")).rejects.toEqual(coded("E_STORE_CORRUPT"));
  });

  test("an index: nothing is kept then", async () => {
    const store = await opened(redis);
    await redis.command("SET", "{sluice}:1:runs", "x");
    await expect(store.savePlannerState("token", {})).rejects.toEqual(coded("E_STORE_CORRUPT"));
    expect(await redis.keys()).toEqual(["{sluice}:1:runs"]);
  });

  test("a run beside it makes room all the same", async () => {
    const store = await opened(redis, { maxKept: 1 });
    await store.savePlannerState("token", {});
    await redis.command("SET", await keyOf("runs"), "x");
    await store.savePlannerState("other", 1);
    expect([await store.loadPlannerState("token"), await store.loadPlannerState("other")]).toEqual([null, 1]);
  });
});

describe("the store", () => {
  test("keeps no process alive, and ends its connection when it is disposed of", async () => {
    const clients = async (): Promise<number> =>
      String(await redis.command("CLIENT", "LIST"))
        .trim()
        .split("\n").length;
    const [before, others] = [sockets(), await clients()];
    const store = new RedisStateStore({ url: redis.url });
    const saving = store.savePlannerState("token", {});
    await saving;
    expect(sockets()).toBe(before);
    expect(await clients()).toBe(others + 1);
    const last = store.loadPlannerState("token");
    await store[Symbol.asyncDispose]();
    expect(await last).toEqual({});
    await vi.waitFor(async () => expect(await clients()).toBe(others));
    await expect(store.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_CLOSED"));
  });

  test.each([
    [{}, "url"],
    [{ url: "redis://a.test", client: { sendCommand: () => Promise.resolve(null) } }, "url"],
    [{ url: "http://:secret@a.test" }, "url"],
    [{ url: "redis://:secret@a.test:port" }, "url"],
    [{ url: "redis://:secret%ff@a.test" }, "url"],
    [{ url: "redis://:secret@a.test/secret" }, "url"],
    [{ url: "unix://secret" }, "url"],
    [{ url: "unix:///" }, "url"],
    [{ url: "unix:///path?db=secret" }, "url"],
    [{ url: "unix://ada:secret%ff@/path" }, "url"],
    [{ url: "unix://secret%ff:pass@/path" }, "url"],
    [{ client: {} }, "client"],
    [{ url: "redis://:secret@a.test", prefix: "a}b" }, "prefix"],
    [{ url: "redis://:secret@a.test", prefix: "" }, "prefix"],
    [{ url: "redis://:secret@a.test", timeoutSeconds: 0 }, "timeoutSeconds"],
    [{ url: "redis://:secret@a.test", maxKept: -1 }, "maxKept"],
  ])("is not made of %j", (options, path) => {
    let failure: unknown;
    try {
      failure = new RedisStateStore(options as RedisStateStoreOptions);
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({ code: "E_INVALID_ARGUMENT", path });
    expect(inspect(failure, { depth: 9, showHidden: true }).split("\n    at")[0]).not.toContain("secret");
  });

  test.each([
    "unix:///path",
    "unix://ada:pass@/path?db=2",
    "unix:///path?other=1",
    "redis://:p%40ss@a.test/0",
    "rediss://a.test:1/",
  ])("is made of %s", (url) => {
    expect(() => new RedisStateStore({ url })).not.toThrow();
  });
});
