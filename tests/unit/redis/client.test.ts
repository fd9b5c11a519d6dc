/** Clients of the host's, of all shapes. */
import { inspect } from "node:util";
import { createClient, createClientPool, createCluster, createSentinel } from "@redis/client";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { RedisStateStore } from "../../../web/src/planner/redis-state-store.js";
import { OwnConnection } from "../../../web/src/redis/connection.js";
import type { RedisCommands } from "../../../web/src/redis/options.js";
import { TestRedis } from "./redis-server.js";
import { another, coded, fill, inTime, opened, useRedis } from "./served.js";

describe("the client", () => {
  const redis = useRedis();
  afterEach(() => redis.command("FLUSHALL"));

  test("a pool is a client", async () => {
    const client = createClientPool({ url: redis.url });
    await client.connect();
    onTestFinished(() => client.destroy());
    await using store = new RedisStateStore({ client });
    await store.saveOAuthState("state", "verifier", 10);
    expect(await store.takeOAuthState("state")).toBe("verifier");
  });

  test.each([
    ["a cluster", createCluster({ rootNodes: [] })],
    ["sentinels", createSentinel({ name: "any", sentinelRootNodes: [] })],
  ])("that of %s is refused as it is, and the remedy is in the sentence", (_, client) => {
    expect(() => new RedisStateStore({ client: client as unknown as RedisCommands })).toThrow(
      expect.objectContaining({
        code: "E_INVALID_ARGUMENT",
        path: "client",
        message: expect.stringMatching(/cluster\.sendCommand\(command\[3\], .*sentinel\.sendCommand\(false, /),
      }),
    );
  });

  /** A store whose client gives something else for the server's numbers. */
  function giving(change: (reply: number) => unknown): RedisStateStore {
    return new RedisStateStore({
      client: {
        sendCommand: async (command) => {
          const reply: unknown = await redis.command(...command);
          return typeof reply === "number" ? change(reply) : reply;
        },
      },
    });
  }

  test.each([
    ["texts", String],
    ["large numbers", BigInt],
  ])("numbers that come as %s are understood", async (_, change: (reply: number) => unknown) => {
    await using store = giving(change);
    await store.savePlannerState("token", 1);
    expect(await store.claimPlannerState("token", "ada", 10)).toBe(true);
    expect(await store.claimPlannerState("token", "eve", 10)).toBe(false);
    expect(await store.releasePlannerState("token", "eve", "forget")).toBe(false);
    expect(await store.releasePlannerState("token", "ada", "forget")).toBe(true);
  });

  test.each([undefined, null, true, 2, "OK"])("%j in place of a number is told of", async (reply) => {
    await using store = giving(() => reply);
    for (const asked of [
      () => store.savePlannerState("token", 1),
      () => store.claimPlannerState("token", "ada", 10),
      () => store.releasePlannerState("token", "ada", "wait"),
      () => store.savePlannerState("token", null),
      () => store.saveEvent("trace", { kind: "a" }),
    ]) {
      await expect(asked()).rejects.toMatchObject({ code: "E_STORE_WRITE" });
    }
  });

  describe("a client of the host's", () => {
    test("is used, and left open", async () => {
      const client = createClient({ url: redis.url });
      await client.connect();
      onTestFinished(() => client.destroy());
      const store = await opened(redis, { client });
      await fill(store);
      expect(await store.loadHistory("trace")).toMatchObject([{ event: { kind: "a" } }]);
      await store[Symbol.asyncDispose]();
      expect(client.isReady).toBe(true);
      await expect(store.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_CLOSED"));
    });

    test("may put something before all keys", async () => {
      const client = createClient({ url: redis.url });
      await client.connect();
      onTestFinished(() => client.destroy());
      const store = await opened(redis, {
        client: {
          sendCommand: (command) => client.sendCommand(command.map((word) => word.replace(/^\{sluice\}/, "mine:$&"))),
        },
        maxKept: 1,
      });
      await fill(store);
      await store.savePlannerState("other", 1);
      const keys = await redis.keys();
      expect(keys.filter((key) => key.startsWith("mine:{sluice}:1:runs"))).toHaveLength(2);
      expect(keys.filter((key) => !key.startsWith("mine:"))).toEqual([]);
    });

    test("may be one of a cluster", async () => {
      const server = await another("--cluster-enabled", "yes");
      await using early = new RedisStateStore({ url: server.url, timeoutSeconds: 0.3 });
      await expect(early.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_READ"));
      await server.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
      await vi.waitFor(async () => expect(await server.command("CLUSTER", "INFO")).toContain("cluster_state:ok"), {
        timeout: 20_000,
      });
      const cluster = createCluster({ rootNodes: [{ url: server.url }] });
      await cluster.connect();
      onTestFinished(() => cluster.destroy());
      await using store = new RedisStateStore({
        client: { sendCommand: (command, options) => cluster.sendCommand(command[3], false, command, options) },
        maxKept: 1,
      });
      await fill(store);
      await store.savePlannerState("other", 1);
      expect([await store.loadPlannerState("token"), await store.loadPlannerState("other")]).toEqual([null, 1]);
      expect(await inTime(() => early.loadPlannerState("other"))).toBe(1);
    });

    test.each([
      ["MOVED 866 10.0.0.7:6379", "E_STORE_WRITE", "cluster"],
      ["CROSSSLOT Keys in request don't hash to the same slot", "E_STORE_WRITE", "cluster"],
      ["MISCONF Redis is configured to save RDB snapshots", "E_STORE_WRITE", "disk"],
      [
        "ERR Error running script (call to f_1): @user_script: 5: -OOM command not allowed",
        "E_STORE_FULL",
        "maxmemory",
      ],
      ["ERR unknown command 'EVAL', with args beginning with: 'hush'", "E_STORE_WRITE", "Lua"],
      ["The client is closed", "E_STORE_WRITE", "try again"],
    ])("that says %j", async (said, code, remedy) => {
      const sendCommand = (command: string[]): Promise<never> => {
        return Promise.reject(Object.assign(new Error(said), { command }));
      };
      await using store = new RedisStateStore({ client: { sendCommand } });
      const failure: unknown = await store.savePlannerState("token", "hush").catch((error: unknown) => error);
      expect(failure).toEqual(coded(code));
      expect(String(failure)).toContain(remedy);
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/hush|10\.0\.0/);
    });

    test("that gives other replies than strings is told of", async () => {
      await using store = new RedisStateStore({ client: { sendCommand: () => Promise.resolve(Buffer.from("1")) } });
      await expect(store.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_READ"));
      await expect(store.loadHistory("trace")).rejects.toEqual(coded("E_STORE_READ"));
    });
  });
});

describe("the connection", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await TestRedis.started();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  const PATIENT = 60_000;

  /** By the server's count, without the one who asks. */
  async function connections(): Promise<number> {
    return (
      String(await redis.command("CLIENT", "LIST"))
        .trim()
        .split("\n").length - 1
    );
  }

  function connected(): OwnConnection {
    const connection = new OwnConnection(redis.url, PATIENT);
    onTestFinished(() => connection.close());
    return connection;
  }

  /** Lets what was begun be sent. */
  const sent = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test("a call that is given up ends no other: what waits is answered, and what comes next has another connection", async () => {
    const connection = connected();
    const first = await connection.sendCommand(["CLIENT", "ID"]);
    const control = new AbortController();
    redis.signal("SIGSTOP");
    const given = connection.sendCommand(["ECHO", "given up"], { abortSignal: control.signal });
    given.catch(() => undefined);
    const waiting = connection.sendCommand(["ECHO", "waits"]);
    await sent();
    control.abort();
    const next = connection.sendCommand(["CLIENT", "ID"]);
    await sent();
    redis.signal("SIGCONT");
    expect(await waiting).toBe("waits");
    expect(await next).not.toBe(first);
    // Nobody waits for the first one any more.
    await vi.waitFor(async () => expect(await connections()).toBe(1));
    expect(await connection.sendCommand(["CLIENT", "ID"])).toBe(await next);
  });

  test("one that all have given up is ended at once, though the server says nothing", async () => {
    const connection = connected();
    await connection.sendCommand(["PING"]);
    const controls = [new AbortController(), new AbortController()];
    redis.signal("SIGSTOP");
    const asked = Promise.allSettled(
      controls.map(({ signal }) => connection.sendCommand(["PING"], { abortSignal: signal })),
    );
    await sent();
    for (const control of controls) control.abort();
    const lost = { status: "rejected", reason: { isSent: true } };
    expect(await asked).toMatchObject([lost, lost]);
    redis.signal("SIGCONT");
    expect(await connection.sendCommand(["PING"])).toBe("PONG");
  });

  test("one that broke is replaced, and what waited for it is told", async () => {
    const connection = connected();
    const id = String(await connection.sendCommand(["CLIENT", "ID"]));
    const lost = connection.sendCommand(["BLPOP", "nothing", "0"]).catch((error: unknown) => error);
    await sent();
    await redis.command("CLIENT", "KILL", "ID", id);
    expect(await lost).toMatchObject({ isSent: true });
    expect(String(await connection.sendCommand(["CLIENT", "ID"]))).not.toBe(id);
  });
});
