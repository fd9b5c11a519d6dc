/** How much is looked at, read and kept at once, however much there is. */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { createClient } from "@redis/client";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { findOnPath } from "../../../scripts/on-path.mjs";
import { RedisStateStore, type RedisStateStoreOptions } from "../../../web/src/planner/redis-state-store.js";
import type { RedisCommands } from "../../../web/src/redis/options.js";
import { emptyFolder } from "../../support/folder.js";
import { DURABLE, freePort, TestRedis } from "./redis-server.js";
import { another, coded, inTime, opened as openedStore, useRedis } from "./served.js";

describe("bounds", () => {
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
  function counting(
    between: () => Promise<void> = async () => undefined,
  ): RedisCommands & { readonly sizes: number[] } {
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
      await expect(asked()).rejects.toMatchObject({
        code: "E_TOO_LARGE",
        message: expect.stringContaining("maxBytes"),
      });
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
});

/** Servers that do not do what they are asked. */
describe("a server that refuses", () => {
  const redis = useRedis();

  describe("a server that does not do it", () => {
    test("has no memory left: what was kept is kept, and what is forgotten makes room", async () => {
      const store = await openedStore(redis);
      const payload = "x".repeat(300_000);
      await store.savePlannerState("a", payload);
      await redis.command("CONFIG", "SET", "maxmemory", "1");
      onTestFinished(async () => void (await redis.command("CONFIG", "SET", "maxmemory", "0")));
      const keys = await redis.keys();
      for (const token of ["a", "b"]) {
        await expect(store.savePlannerState(token, "new")).rejects.toEqual(coded("E_STORE_FULL"));
      }
      await expect(store.saveEvent("trace", { kind: "a" })).rejects.toEqual(coded("E_STORE_FULL"));
      expect(await redis.keys()).toEqual(keys);
      expect(await store.loadPlannerState("a")).toBe(payload);
      await store.savePlannerState("a", null);
      await redis.command("CONFIG", "SET", "maxmemory", "0");
      await store.savePlannerState("b", "new");
      expect(await store.loadPlannerState("b")).toBe("new");
    });

    test("is a replica: what is there can be read, and when it is none any more, changed", async () => {
      const store = await openedStore(redis);
      await store.savePlannerState("token", 1);
      await redis.command("REPLICAOF", "127.0.0.1", "1");
      try {
        expect(await store.loadPlannerState("token")).toBe(1);
        await expect(store.savePlannerState("token", 2)).rejects.toEqual(coded("E_STORE_DENIED"));
      } finally {
        await redis.command("REPLICAOF", "NO", "ONE");
      }
      await store.savePlannerState("token", 3);
      expect(await store.loadPlannerState("token")).toBe(3);
    });

    test("wants a password, which shows nowhere", async () => {
      const server = await another("--requirepass", "open sesame");
      const url = (password: string): string => server.url.replace("//", `//:${encodeURIComponent(password)}@`);
      await using right = new RedisStateStore({ url: url("open sesame") });
      await right.savePlannerState("token", 1);
      expect(await right.loadPlannerState("token")).toBe(1);
      await using wrong = new RedisStateStore({ url: url("swordfish") });
      await using none = new RedisStateStore({ url: server.url });
      for (const store of [wrong, none]) {
        // Of what is long a server breaks off that does not know who asks.
        const payload = "hush".repeat(20_000);
        const failure: unknown = await store.savePlannerState("token", payload).catch((error: unknown) => error);
        expect(failure).toEqual(coded("E_STORE_DENIED"));
        expect(inspect([failure, store, right], { depth: 9, showHidden: true })).not.toMatch(/sesame|swordfish|hush/);
      }
    });

    test("does not let this user do it", async () => {
      await redis.command("ACL", "SETUSER", "ada", "on", ">pass", "~{sluice}*", "+@all", "-@scripting");
      onTestFinished(async () => void (await redis.command("ACL", "DELUSER", "ada")));
      await using store = new RedisStateStore({ url: redis.url.replace("//", "//ada:pass@") });
      await expect(store.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_DENIED"));
    });

    test("is away: a call waits for it, and not for ever; then the store goes on by itself", async () => {
      const server = await another(...DURABLE);
      await using hasty = new RedisStateStore({ url: server.url, timeoutSeconds: 0.3 });
      await using patient = new RedisStateStore({ url: server.url });
      await patient.savePlannerState("token", 1);
      await inTime(() => hasty.loadPlannerState("token"));
      await server.kill();
      await expect(hasty.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_READ"));
      await expect(hasty.savePlannerState("token", 2)).rejects.toEqual(coded("E_STORE_WRITE"));
      const asked = [patient.loadPlannerState("token"), patient.savePlannerState("other", 3)];
      await server.start();
      expect(await Promise.all(asked)).toEqual([1, undefined]);
      expect(await patient.claimPlannerState("other", "ada", 10)).toBe(true);
      expect(await inTime(() => hasty.loadPlannerState("token"))).toBe(1);
    });

    test("gives no answer: a call is given up, and what comes after it finds the server when it is back", async () => {
      const server = await another();
      await using store = new RedisStateStore({ url: server.url, timeoutSeconds: 0.3 });
      expect(await inTime(() => store.loadPlannerState("token"))).toBeNull();
      server.signal("SIGSTOP");
      try {
        const asked = [store.loadPlannerState("token"), store.claimPlannerState("token", "ada", 10)];
        await expect(asked[0]).rejects.toEqual(coded("E_STORE_READ"));
        await expect(asked[1]).rejects.toEqual(coded("E_STORE_WRITE"));
        // Connected to, it does not greet.
        await expect(store.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_READ"));
      } finally {
        server.signal("SIGCONT");
      }
      expect(await inTime(() => store.loadPlannerState("token"))).toBeNull();
    });

    test("is busy with a script: a call waits until it is ready", async () => {
      const server = await another("--busy-reply-threshold", "1");
      await using store = new RedisStateStore({ url: server.url });
      await store.savePlannerState("token", 1);
      const endless = server.command("EVAL", "while true do end", "0").catch(() => undefined);
      await vi.waitFor(() => expect(server.command("PING")).rejects.toThrow("BUSY"));
      await using hasty = new RedisStateStore({ url: server.url, timeoutSeconds: 0.3 });
      await expect(hasty.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_READ"));
      const saving = store.savePlannerState("token", 2);
      await server.command("SCRIPT", "KILL");
      await Promise.all([saving, endless]);
      expect(await store.loadPlannerState("token")).toBe(2);
    });

    test("forgot its scripts: it is told them again", async () => {
      const store = await openedStore(redis);
      await store.savePlannerState("token", 1);
      await redis.command("SCRIPT", "FLUSH");
      expect(await store.loadPlannerState("token")).toBe(1);
    });

    test("is not trusted: TLS with a certificate that nobody knows is refused, and one that the host knows is not", async ({
      skip,
    }) => {
      if (findOnPath("openssl") === undefined) skip("making a certificate needs openssl");
      const folder = await emptyFolder();
      const [key, cert] = [join(folder, "key"), join(folder, "cert")];
      const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
      const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject];
      execFileSync("openssl", words, { stdio: "ignore" });
      const tlsPort = String(await freePort());
      await another("--tls-port", tlsPort, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no");
      const url = `rediss://127.0.0.1:${tlsPort}`;
      await using untrusted = new RedisStateStore({ url });
      await expect(untrusted.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_DENIED"));
      const client = createClient({ url, socket: { tls: true, ca: await readFile(cert) } });
      await client.connect();
      onTestFinished(() => client.destroy());
      await using store = new RedisStateStore({ client });
      await store.savePlannerState("token", 1);
      expect(await store.loadPlannerState("token")).toBe(1);
    });
  });
});
