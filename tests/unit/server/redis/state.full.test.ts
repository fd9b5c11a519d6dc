import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { redisState, type RedisStateOptions } from "../../../../web/src/serve-redis.js";
import { memoryState, SluiceServer } from "../../../../web/src/serve.js";
import { RedisRateLimit } from "../../../../web/src/server/redis/state.js";
import { RedisSessionRegister } from "../../../../web/src/server/redis/session-register.js";
import { sessionChannel } from "../../../../web/src/server/sessions/announcer.js";
import { MAX_SESSIONS } from "../../../../web/src/server/sessions/session-register.js";
import type { ServeState } from "../../../../web/src/server/state.js";
import { programOf } from "../../../support/program.js";
import { isFull } from "../../../support/full.js";
import { RedisUsageRegister } from "../../../../web/src/server/redis/usage-register.js";
import { RedisWorkRegister } from "../../../../web/src/server/redis/work-register.js";
import { describeWorkRegister } from "../work/register-contract.js";
import { describeRateLimit } from "../rate-limit-contract.js";
import { describeUsageRegister } from "../usage/register-contract.js";
import { first, Heard, numbered, range } from "../sessions/listening.js";
import { describeRegister } from "../sessions/register-contract.js";
import { another, coded, logInTest, SECRET, served, type Served, servedInTest, useRedis } from "./served.js";

/** One process, and what it prints after its first line. */
interface Shared {
  readonly lines: readonly string[];
  /** Settles when the process is over. */
  readonly over: Promise<unknown>;
  readonly process: ChildProcess;
}

/** Starts `state-program` with these words; gives it when it is ready. */
type StartShared = (...words: readonly string[]) => Promise<Shared>;

/** The program, for the tests of a file. */
function useProcesses(): StartShared {
  const program = programOf(new URL("state-program.ts", import.meta.url));
  return async (...words) => {
    const child = program.start(...words);
    const { stdout } = child;
    if (stdout === null) throw new Error("Its output is not piped.");
    onTestFinished(() => void child.kill("SIGKILL"));
    const over = once(child, "close");
    const lines: string[] = [];
    const reader = createInterface(stdout);
    await once(reader, "line");
    reader.on("line", (line) => lines.push(line));
    return { lines, over, process: child };
  };
}

describe("the server's state", () => {
  const redis = useRedis();
  const HERE = "http://127.0.0.1:8080";

  function opened(more: Partial<RedisStateOptions> = {}): ServeState {
    const state = redisState({ url: redis.url, secret: SECRET, ...more });
    onTestFinished(() => state[Symbol.asyncDispose]());
    return state;
  }

  const SESSION = { id: "s", identity: { user_id: "ada" }, begun_at: 0 };

  /** Something of each kind. */
  async function fill(state: ServeState): Promise<void> {
    await state.runs.savePlannerState("token", { run: 1 });
    const token = { access_token: "hush", refresh_token: null, expires_at: null, obtained_at: 0, issued_by: "x" };
    await state.tokens.store("ada", "files", token);
    await state.sessions.begin({ ...SESSION, expires_at: Date.now() + 100_000 });
    await state.sessions.addTrace("s", "t");
    await state.events.append("channel", numbered(1));
    await state.rates.take("ada", 1, 60);
    await state.usage.take("ada", { process: "p", id: "1" }, [{ kind: "runs", amount: 1, most: 1 }]);
    await state.work.hold("p", [{ kind: "run", session: "s", id: "1" }]);
  }

  describe("the state", () => {
    test("shows nothing of what OAuth has to remember, and one with another secret cannot use it", async () => {
      await redis.command("FLUSHALL");
      const NEXT = "another secret of more than thirty-two characters";
      const payload = { verifier: "hush-verifier", client_secret: "hush-secret" };
      await opened().runs.saveOAuthState("state", payload, 60);
      for (const key of await redis.keys()) {
        const dumped = String(await redis.command("TYPE", key)) === "string" ? await redis.command("GET", key) : "";
        expect(String(dumped)).not.toContain("hush");
      }
      expect(await opened().runs.loadOAuthState("state")).toEqual(payload);
      expect(await opened({ secret: NEXT }).runs.loadOAuthState("state")).toBeNull();
      const after = opened({ secret: NEXT, oldSecrets: [SECRET] });
      expect(await after.runs.takeOAuthState("state")).toEqual(payload);
      expect(await after.runs.loadOAuthState("state")).toBeNull();
    });

    test("is shared by all who have the server, prefix and secret, and by nobody else", async () => {
      await redis.command("FLUSHALL");
      const [one, same] = [opened(), opened()];
      expect([one.isShared, memoryState().isShared]).toEqual([true, false]);
      await fill(one);
      expect(await same.runs.loadPlannerState("token")).toEqual({ run: 1 });
      expect(await same.tokens.get("ada", "files")).toMatchObject({ access_token: "hush" });
      expect(await same.sessions.traces("s")).toEqual(["t"]);
      expect(await first(same.events, "channel", { count: 1 })).toMatchObject([{ event: numbered(1) }]);
      expect(await same.rates.take("ada", 1, 60)).toMatchObject({ ok: false });
      const claim = { kind: "runs", amount: 1, most: 1 } as const;
      expect((await same.usage.take("ada", { process: "q", id: "1" }, [claim])).refused).toBe(0);
      const other = opened({ prefix: "other" });
      expect((await other.usage.take("ada", { process: "q", id: "1" }, [claim])).refused).toBeNull();
      expect(await other.runs.loadPlannerState("token")).toBeNull();
      expect(await other.tokens.get("ada", "files")).toBeNull();
      expect(await other.sessions.find("s")).toBeNull();
      expect(await other.events.has("channel")).toBe(false);
      expect(await other.rates.take("ada", 1, 60)).toEqual({ ok: true });
    });

    test("is below one prefix, in one slot, with an end for every key, and shows nobody", async () => {
      await redis.command("FLUSHALL");
      await fill(opened({ prefix: "mine" }));
      for (const key of await redis.keys()) {
        expect(key).toMatch(/^\{mine\}:1:/);
        expect(key).not.toMatch(/ada|files|channel$|token$/);
        expect(await redis.command("PTTL", key)).toBeGreaterThan(0);
      }
    });

    test("has two connections, and none when it is closed; what is asked then says so", async () => {
      const server = await another();
      const clients = async (): Promise<number> =>
        String(await server.command("CLIENT", "LIST"))
          .trim()
          .split("\n").length - 1;
      const state = opened({ url: server.url });
      expect(await clients()).toBe(0);
      await fill(state);
      await first(state.events, "channel", { count: 1 });
      await vi.waitFor(async () => expect(await clients()).toBe(2));
      await state[Symbol.asyncDispose]();
      await vi.waitFor(async () => expect(await clients()).toBe(0));
      await expect(state.sessions.find("s")).rejects.toEqual(coded("E_STORE_CLOSED"));
      await expect(state.runs.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_CLOSED"));
      await expect(state.events.append("channel", numbered(1))).rejects.toEqual(coded("E_STORE_CLOSED"));
      await state[Symbol.asyncDispose]();
    });

    test.each([
      [{}, "url"],
      [{ url: "redis://:hush@a.test" }, "secret"],
      [{ url: "http://:hush@a.test", secret: SECRET }, "url"],
      [{ url: "redis://:hush@a.test", secret: "hush" }, "secret"],
      [{ url: "redis://:hush@a.test", secret: SECRET, prefix: "{" }, "prefix"],
      [{ url: "redis://:hush@a.test", secret: SECRET, timeoutSeconds: 0 }, "timeoutSeconds"],
      [{ url: "redis://:hush@a.test", secret: SECRET, prefx: "a" }, "prefx"],
    ])("is not made of %j", (options, path) => {
      let failure: unknown;
      try {
        failure = redisState(options as RedisStateOptions);
      } catch (error) {
        failure = error;
      }
      expect(failure).toMatchObject({ code: "E_INVALID_ARGUMENT", path });
      expect(inspect(failure, { depth: 9, showHidden: true }).split("\n    at")[0]).not.toContain("hush");
    });

    test("says nothing of the url, the secret or the password where the server refuses", async () => {
      const server = await another("--requirepass", "open sesame");
      const state = opened({ url: server.url.replace("//", "//:swordfish@") });
      const failures = await Promise.all([
        state.sessions.find("s").catch((error: unknown) => error),
        state.events.has("channel").catch((error: unknown) => error),
        state.tokens.get("ada", "files").catch((error: unknown) => error),
      ]);
      for (const failure of failures) expect(failure).toEqual(coded("E_STORE_DENIED"));
      const shown = inspect([...failures, state], { depth: 9, showHidden: true });
      expect(shown).not.toMatch(/swordfish|more than thirty-two/);
    });
  });

  test("what one server begins another serves and ends, over the same Redis", async () => {
    const store = new MemoryArtifactStore();
    const states = [opened(), opened()] as const;
    const servers = states.map((state) => new SluiceServer({ store, state, secret: SECRET }));
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))));
    const [one, other] = servers as [SluiceServer, SluiceServer];
    const json = { "content-type": "application/json" };
    const begun = await one.fetch(
      new Request(`${HERE}/sessions`, { method: "POST", body: '{"token":true}', headers: json }),
    );
    const { id, token } = (await begun.json()) as { readonly id: string; readonly token: string };
    const headers = { authorization: `Bearer ${token}` };
    const ask = (server: SluiceServer, method: string, path: string): Promise<Response> =>
      server.fetch(new Request(`${HERE}/${path}`, { method, headers }));
    expect((await ask(other, "GET", `sessions/${id}`)).status).toBe(200);
    await states[0].events.append(sessionChannel(id), { kind: "files_changed" });
    const { body } = await ask(other, "GET", "events");
    const pieces = (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    const told: (string | undefined)[] = [];
    while (!told.join("").includes("files_changed")) told.push((await pieces.next()).value);
    expect((await ask(one, "DELETE", `sessions/${id}`)).status).toBe(200);
    // The stream ends with the session, in another process too.
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) told.push(next.value);
    expect(told.join("")).toContain('{"kind":"session_ended"}');
    expect((await ask(other, "GET", `sessions/${id}`)).status).toBe(401);
  });
});

describe("rates", () => {
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

  test("keys name no user, are of one slot, and go by themselves", async () => {
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
    const rates = new RedisRateLimit({ ...servedInTest(server.url), report, timeout: 1000 });
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
    await vi.waitFor(async () => expect(await rates.take("b", 1, 60)).toMatchObject({ ok: false }), {
      timeout: 20_000,
    });
  });

  test("who is refused costs the server nothing more", async () => {
    const { server, ...rest } = servedInTest(redis.url);
    const run = vi.fn<typeof server.run>(server.run.bind(server));
    const rates = new RedisRateLimit({ ...rest, server: { run } });
    for (let at = 0; at < 50; at++) await rates.take("flood", 3, 60);
    expect(run.mock.calls.length).toBeLessThanOrEqual(4);
  });
});

describe("usage", () => {
  const redis = useRedis();
  const ADA = JSON.stringify(["acme", "ada"]);

  describeUsageRegister("RedisUsageRegister", async () => {
    await redis.command("FLUSHALL");
    const all: Served[] = [];
    const beside = (): RedisUsageRegister => {
      const one = served(redis.url);
      all.push(one);
      return new RedisUsageRegister(one);
    };
    return { register: beside(), beside, dispose: async () => void (await Promise.all(all.map((one) => one.close()))) };
  });

  test("of a user there is one key, which shows nobody and goes by itself", async () => {
    await redis.command("FLUSHALL");
    const register = new RedisUsageRegister(servedInTest(redis.url));
    const lease = { process: "p", id: "1" };
    await register.take(ADA, lease, [{ kind: "runs", amount: 1, most: 9 }]);
    const [key = "", ...others] = await redis.keys();
    expect(others).toEqual([]);
    expect(key).toMatch(/^\{sluice\}:1:usage:[0-9a-f]{64}$/);
    expect(await redis.command("PTTL", key)).toBeLessThanOrEqual(30_000);
    await register.count(ADA, [{ kind: "requestsPerDay", amount: 1, most: 9, seconds: 86_400 }]);
    expect(await redis.command("PTTL", key)).toBeGreaterThan(86_000_000);
    await redis.command("DEL", key);
    await register.take(ADA, lease, [{ kind: "runs", amount: 1, most: 9 }]);
    await register.end(ADA, [lease]);
    expect(await redis.keys()).toEqual([]);
  });

  test("a server that is away or has no memory grants nothing", async () => {
    const server = await another();
    const register = new RedisUsageRegister(servedInTest(server.url, 500));
    const take = () => register.take(ADA, { process: "p", id: "1" }, [{ kind: "runs", amount: 1, most: 9 }]);
    await vi.waitFor(take);
    await server.command("CONFIG", "SET", "maxmemory", "1");
    await expect(take()).rejects.toEqual(coded("E_STORE_FULL"));
    await register.end(ADA, [{ process: "p", id: "1" }]);
    await server.kill();
    await expect(take()).rejects.toEqual(coded("E_STORE_WRITE"));
  });
});

describe("sessions", () => {
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
    await register.begin({ ...SESSION, expires_at: Date.now() + 5000 });
    await register.addTrace(SESSION.id, "t");
    await register.subscribe(SESSION.id, { namespace: "n", uri: "u" });
    const keys = await redis.keys();
    expect(keys).toHaveLength(6);
    for (const key of keys) {
      expect(key).toMatch(
        /^\{sluice\}:1:(users:[0-9a-f]{64}|sessions(:[0-9a-f]{64}(:(traces|subscriptions|user))?)?)$/,
      );
      expect(await redis.command("PTTL", key)).toBeGreaterThan(0);
    }
    await vi.waitFor(async () => expect(await redis.keys()).toEqual([]));
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

  test("a server that is away is reported, and damage too", async () => {
    const server = await another();
    const register = new RedisSessionRegister(servedInTest(server.url, 500));
    const session = { ...SESSION, expires_at: Date.now() + 100_000 };
    await vi.waitFor(() => register.begin(session));
    for (const key of await server.keys())
      if (!/sessions$|:users:|:user$/.test(key)) await server.command("SET", key, "{");
    await expect(register.find(session.id)).rejects.toEqual(coded("E_STORE_CORRUPT"));
    await server.kill();
    await expect(register.find(session.id)).rejects.toEqual(coded("E_STORE_READ"));
    await expect(register.begin(session)).rejects.toEqual(coded("E_STORE_WRITE"));
  });
});

/** Several processes that share state. */
describe("several processes", () => {
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
});

describe("the register of work", () => {
  const redis = useRedis();
  const KINDS = ["{sluice}:1:work:run", "{sluice}:1:work:call"];

  describeWorkRegister("RedisWorkRegister", async () => {
    await redis.command("FLUSHALL");
    const one = served(redis.url);
    /** As if the time of a lease had passed: its order stays. */
    const end = async (): Promise<void> => {
      for (const key of KINDS) {
        for (const member of (await redis.command("ZRANGE", key, "0", "-1")) as readonly string[]) {
          await redis.command("ZINCRBY", key, "-15001", member);
        }
      }
    };
    return { register: new RedisWorkRegister({ ...one, most: 3 }), end, dispose: () => one.close() };
  });

  test("more than fits into one script is held, freed and ended as well, and nothing of it is left", async () => {
    await redis.command("FLUSHALL");
    const register = new RedisWorkRegister(servedInTest(redis.url));
    const works = range(1200).map((id) => ({ kind: "run", session: "s", id: String(id) }) as const);
    await register.hold("p", works);
    await register.free("p", works.slice(0, 1100));
    const found = [await register.due("p", "run", 9999), await register.due("p", "run", 9999)].flat();
    expect(new Set(found.map(({ id }) => id)).size).toBe(1000);
    await register.end("p", works);
    expect(await register.due("p", "run", 9999)).toHaveLength(100);
    await register.end("p", works);
    expect(await redis.keys()).toEqual([]);
  });
});
