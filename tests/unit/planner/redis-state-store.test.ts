import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { createClient, createCluster } from "@redis/client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { findOnPath } from "../../../scripts/on-path.mjs";
import { RedisStateStore } from "../../../web/src/planner/redis-state-store.js";
import type { RedisStateStoreOptions } from "../../../web/src/planner/redis-state/options.js";
import { DURABLE, freePort, TestRedis } from "./redis-server.js";
import { describeStateStore } from "./state-store-contract.js";

let redis: TestRedis;
beforeAll(async () => {
  redis = await TestRedis.started();
});
afterAll(() => redis[Symbol.asyncDispose]());

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

const BINDING = { trace_id: "trace", context_id: null, task_id: "task", agent_url: "https://a.test" };

/** A store for a test, with nothing in it. */
async function opened(options: Partial<RedisStateStoreOptions> = {}, at = redis): Promise<RedisStateStore> {
  const store = new RedisStateStore({ ...(options.client === undefined && { url: at.url }), ...options });
  onTestFinished(() => store[Symbol.asyncDispose]());
  await at.command("FLUSHALL");
  return store;
}

async function fill(store: RedisStateStore): Promise<void> {
  await store.savePlannerState("token", { secret: "hush" });
  await store.claimPlannerState("token", "somebody", 10);
  await store.saveOAuthState("state", "verifier", 10);
  await store.saveEvent("trace", { kind: "a" });
  await store.saveRemoteBinding(BINDING);
}

/** A server of one test. */
async function another(...options: readonly string[]): Promise<TestRedis> {
  const server = await TestRedis.started(...options);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** What a store with little patience gives, however busy this machine is. */
function inTime<T>(work: () => Promise<T>): Promise<T> {
  return vi.waitFor(work, { timeout: 20_000 });
}

/** Sockets that keep this process alive. */
function sockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
}

const coded = (code: string): object => expect.objectContaining({ name: "SluiceError", code }) as object;

describe("keys", () => {
  test("show no token, id or owner, and are all of one slot of a cluster", async () => {
    await fill(await opened({ prefix: "mine" }));
    const keys = await redis.keys();
    expect(keys).toHaveLength(8);
    for (const key of keys) expect(key).toMatch(/^\{mine\}:1:(runs|oauth|events|bindings)(:[0-9a-f]{64})?$/);
    const owners = await redis.command("HVALS", keys.find((key) => key.includes(":runs:")) ?? "");
    expect(JSON.stringify(owners)).not.toContain("somebody");
  });

  test("go by themselves, every one of them, when they are too old", async () => {
    const store = await opened({ maxAgeSeconds: 100 });
    await fill(store);
    for (const key of await redis.keys()) {
      const left = (await redis.command("PTTL", key)) as number;
      expect([key, left > 5_000 && left <= 100_000]).toEqual([key, true]);
    }
    const brief = await opened({ maxAgeSeconds: 0.2 });
    await brief.savePlannerState("token", {});
    await brief.saveEvent("trace", { kind: "a" });
    await vi.waitFor(async () => expect(await redis.keys()).toEqual([]), { timeout: 20_000 });
    expect(await brief.loadPlannerState("token")).toBeNull();
  });

  test("nothing is left of what was forgotten or taken", async () => {
    const store = await opened();
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
    const store = await opened({ maxKept: 3, maxEvents: 4 });
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
    const [one, two] = [await opened({ prefix: "one" }), await opened({ prefix: "two" })];
    await one.savePlannerState("token", 1);
    expect(await two.loadPlannerState("token")).toBeNull();
  });
});

test("without a clock of the host's, claims end by the server's", async () => {
  const store = await opened();
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
    const store = await opened();
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
    const store = await opened();
    await store.saveEvent("trace", { kind: "a" });
    await redis.command("RPUSH", await keyOf("events"), line.replace(/^7/, String(Date.now())));
    await expect(store.loadHistory("trace")).rejects.toEqual(coded("E_STORE_CORRUPT"));
  });

  test("an index: nothing is kept then", async () => {
    const store = await opened();
    await redis.command("SET", "{sluice}:1:runs", "x");
    await expect(store.savePlannerState("token", {})).rejects.toEqual(coded("E_STORE_CORRUPT"));
    expect(await redis.keys()).toEqual(["{sluice}:1:runs"]);
  });

  test("a run beside it makes room all the same", async () => {
    const store = await opened({ maxKept: 1 });
    await store.savePlannerState("token", {});
    await redis.command("SET", await keyOf("runs"), "x");
    await store.savePlannerState("other", 1);
    expect([await store.loadPlannerState("token"), await store.loadPlannerState("other")]).toEqual([null, 1]);
  });
});

describe("a server that does not do it", () => {
  test("has no memory left: what was kept is kept, and what is forgotten makes room", async () => {
    const store = await opened();
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
    const store = await opened();
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
    await vi.waitFor(() => expect(server.command("PING")).rejects.toThrow("BUSY"), { timeout: 20_000 });
    await using hasty = new RedisStateStore({ url: server.url, timeoutSeconds: 0.3 });
    await expect(hasty.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_READ"));
    const saving = store.savePlannerState("token", 2);
    await server.command("SCRIPT", "KILL");
    await Promise.all([saving, endless]);
    expect(await store.loadPlannerState("token")).toBe(2);
  });

  test("forgot its scripts: it is told them again", async () => {
    const store = await opened();
    await store.savePlannerState("token", 1);
    await redis.command("SCRIPT", "FLUSH");
    expect(await store.loadPlannerState("token")).toBe(1);
  });

  test("is not trusted: TLS with a certificate that nobody knows is refused, and one that the host knows is not", async ({
    skip,
  }) => {
    if (findOnPath("openssl") === undefined) skip("making a certificate needs openssl");
    const folder = await mkdtemp(join(tmpdir(), "sluice-tls-"));
    onTestFinished(() => rm(folder, { recursive: true }));
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

describe("a client of the host's", () => {
  test("is used, and left open", async () => {
    const client = createClient({ url: redis.url });
    await client.connect();
    onTestFinished(() => client.destroy());
    const store = await opened({ client });
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
    const store = await opened({
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
    ["ERR Error running script (call to f_1): @user_script: 5: -OOM command not allowed", "E_STORE_FULL", "maxmemory"],
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
    await vi.waitFor(async () => expect(await clients()).toBe(others), { timeout: 20_000 });
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
