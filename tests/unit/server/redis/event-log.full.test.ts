import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { RedisEventLog } from "../../../../web/src/server/redis/event-log.js";
import { CHANNEL_SECONDS } from "../../../../web/src/server/sessions/event-log.js";
import { DURABLE } from "../../redis/redis-server.js";
import { describeEventLog } from "../sessions/event-log-contract.js";
import { first, Heard, numbered, range } from "../sessions/listening.js";
import { another, coded, inTime, logInTest, served, servedInTest, useRedis } from "./served.js";

/** A port that leads to another one. */
interface Tunnel {
  readonly url: string;
  /** From now on nothing comes out of the connections that there are, and nobody is told. */
  freeze(): void;
  /** Breaks off all connections. */
  cut(): void;
}

/** Until the test is over. */
async function tunnelTo(port: number): Promise<Tunnel> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((inner) => {
    const outer = connect(port, "127.0.0.1");
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
    inner.pipe(outer);
    outer.pipe(inner);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const pair of pairs) for (const each of pair) each.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze: () => {
      for (const [inner, outer] of pairs) {
        inner.unpipe(outer).resume();
        outer.unpipe(inner).resume();
      }
    },
    cut,
  };
}

describe("the log of events", () => {
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
});

/** Events while servers, connections and messages get lost. */
describe("its faults", () => {
  const redis = useRedis();

  /** What came, when it is so much. */
  const heardOf = (heard: Heard | undefined, count: number): Promise<readonly (number | string)[] | undefined> =>
    vi.waitFor(() => {
      if ((heard?.numbers.length ?? 0) < count) throw new Error(`${heard?.numbers.length} of ${count} came.`);
      return heard?.numbers;
    });
  /** Sockets that keep this process alive. */
  const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

  /** For who is told, and does not look by itself. */
  const TOLD = { sweepEvery: 600_000 };

  describe("a server that dies", () => {
    test("and comes back with what it had: nobody is sent away, and nothing is lost", async () => {
      const server = await another(...DURABLE);
      const [log, other] = [logInTest(server.url, TOLD), logInTest(server.url, TOLD)];
      const heard = [new Heard(log, "a"), new Heard(other, "a"), new Heard(other, "b")];
      await log.append("a", numbered(0));
      for (const each of heard.slice(0, 2)) expect(await heardOf(each, 1)).toEqual([0]);
      await server.kill();
      const waiting = [log.append("a", numbered(1)), other.append("b", numbered(7))];
      await sleep(300);
      await server.start();
      await Promise.all(waiting);
      await log.append("a", numbered(2));
      for (const each of heard.slice(0, 2)) expect(await heardOf(each, 3)).toEqual([0, 1, 2]);
      expect(await heardOf(heard[2], 1)).toEqual([7]);
    });

    test("and comes back with nothing: who followed is told that something may be lost, and goes on", async () => {
      const server = await another();
      const log = logInTest(server.url);
      const heard = new Heard(log, "a");
      await log.append("a", numbered(0));
      expect(await heardOf(heard, 1)).toEqual([0]);
      await server.kill();
      await server.start();
      await log.append("a", numbered(1));
      expect(await heardOf(heard, 3)).toEqual([0, "events_lost", 1]);
    });

    test("stays away: who begins to follow is told, who followed waits", async () => {
      const server = await another();
      const log = logInTest(server.url, { timeout: 500 });
      await inTime(() => log.append("a", numbered(0)));
      const heard = new Heard(log, "a");
      expect(await heardOf(heard, 1)).toEqual([0]);
      await server.kill();
      await expect(new Heard(log, "a").done).rejects.toEqual(coded("E_STORE_READ"));
      await expect(log.append("a", numbered(1))).rejects.toEqual(coded("E_STORE_WRITE"));
      await expect(log.has("a")).rejects.toEqual(coded("E_STORE_READ"));
      await sleep(700);
      await server.start();
      await inTime(() => log.append("a", numbered(2)));
      expect(await heardOf(heard, 3)).toEqual([0, "events_lost", 2]);
      await heard.leave();
    });

    test("a listener goes away while a server gives no answer", async () => {
      const server = await another();
      const log = logInTest(server.url);
      server.signal("SIGSTOP");
      onTestFinished(() => server.signal("SIGCONT"));
      const heard = new Heard(log, "a");
      await sleep(50);
      const begun = performance.now();
      await heard.leave();
      expect(performance.now() - begun).toBeLessThan(2_000);
    });
  });

  describe("a message that does not arrive", () => {
    test("because the connection broke: it is found when there is another", async () => {
      const [log, other] = [logInTest(redis.url, TOLD), logInTest(redis.url)];
      const heard = new Heard(log, "broken");
      let number = 0;
      for (; number < 20; number++) {
        await other.append("broken", numbered(number));
        if (number % 5 === 0) await redis.command("CLIENT", "KILL", "TYPE", "pubsub");
      }
      expect(await heardOf(heard, number)).toEqual(range(number));
    });

    test("because the network swallows it: it is found by looking, and the connection is replaced", async () => {
      const server = await another();
      const tunnel = await tunnelTo(server.port);
      const log = logInTest(tunnel.url, { timeout: 4_000, sweepEvery: 300 });
      const other = logInTest(server.url);
      const heard = new Heard(log, "a");
      await other.append("a", numbered(0));
      expect(await heardOf(heard, 1)).toEqual([0]);
      const listening = async (): Promise<string> =>
        String(await server.command("CLIENT", "LIST", "TYPE", "pubsub")).replace(/ (?!id).*/g, "");
      const before = await listening();
      tunnel.freeze();
      await other.append("a", numbered(1));
      expect(await heardOf(heard, 2)).toEqual([0, 1]);
      await vi.waitFor(async () => expect(await listening()).toMatch(/^id=\d+\s*$/));
      await vi.waitFor(async () => expect(await listening()).not.toBe(before));
      await other.append("a", numbered(2));
      expect(await heardOf(heard, 3)).toEqual([0, 1, 2]);
    });

    test("because it may not listen: it is found by looking", async () => {
      const server = await another();
      await server.command("ACL", "SETUSER", "deaf", "on", ">pass", "~*", "+@all", "-subscribe");
      const deaf = logInTest(server.url.replace("//", "//deaf:pass@"), { sweepEvery: 100 });
      const heard = new Heard(deaf, "a");
      await sleep(50);
      await logInTest(server.url).append("a", numbered(0));
      expect(await heardOf(heard, 1)).toEqual([0]);
      await logInTest(server.url).end("a");
      await heard.done;
    });
  });

  describe("a server that does not do it", () => {
    test("has no memory left: nothing is half kept, what is there is heard, and what ends makes room", async () => {
      const server = await another();
      const log = logInTest(server.url);
      const heard = new Heard(log, "a");
      await log.append("a", numbered(0));
      await log.append("b", numbered(0));
      expect(await heardOf(heard, 1)).toEqual([0]);
      await server.command("CONFIG", "SET", "maxmemory", "1");
      await expect(log.append("a", numbered(1))).rejects.toEqual(coded("E_STORE_FULL"));
      await expect(log.append("new", numbered(1))).rejects.toEqual(coded("E_STORE_FULL"));
      expect(await log.has("new")).toBe(false);
      expect(await first(log, "a", { count: 1 })).toMatchObject([{ event: numbered(0) }]);
      await log.end("b");
      expect(await log.has("b")).toBe(false);
      await server.command("CONFIG", "SET", "maxmemory", "0");
      await log.append("a", numbered(2));
      expect(await heardOf(heard, 2)).toEqual([0, 2]);
    });

    test("does not let this user publish: nothing is kept", async () => {
      const server = await another();
      await server.command("ACL", "SETUSER", "mute", "on", ">pass", "~*", "resetchannels", "+@all");
      const mute = logInTest(server.url.replace("//", "//mute:pass@"));
      await expect(mute.append("a", numbered(0))).rejects.toEqual(coded("E_STORE_DENIED"));
      expect(await server.keys()).toEqual([]);
      await server.command(
        "ACL",
        "SETUSER",
        "narrow",
        "on",
        ">pass",
        "~{sluice}*",
        "resetchannels",
        "&{sluice}*",
        "+@all",
      );
      const narrow = logInTest(server.url.replace("//", "//narrow:pass@"), TOLD);
      const heard = new Heard(narrow, "a");
      await narrow.append("a", numbered(0));
      expect(await heardOf(heard, 1)).toEqual([0]);
    });

    test("has something else there: it says so, without a name of it", async () => {
      const server = await another();
      const log = logInTest(server.url);
      await log.append("hush", numbered(0));
      for (const key of await server.keys()) await server.command("SET", key, "hush");
      const failures = await Promise.all([
        log.append("hush", numbered(1)).catch((error: unknown) => error),
        new Heard(log, "hush").done.catch((error: unknown) => error),
      ]);
      for (const failure of failures) {
        expect(failure).toEqual(coded("E_STORE_CORRUPT"));
        expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/hush/);
      }
    });
  });

  test("an event that is sent again because nobody knows whether it arrived is kept once", async () => {
    const { server, keys, url, timeout } = servedInTest(redis.url);
    const twice = {
      run: async (...call: Parameters<typeof server.run>): Promise<unknown> => {
        await server.run(...call);
        return server.run(...call);
      },
    };
    const log = logInTest(redis.url, { server: twice, keys, url, timeout });
    for (const number of range(5)) await log.append("twice", numbered(number));
    await log.append("twice", numbered(5));
    expect((await first(log, "twice", { count: 6 })).map(({ event }) => event)).toEqual(range(6).map(numbered));
  });

  test("a log that is closed sends its listeners away, and leaves no connection and nothing that keeps a process alive", async () => {
    const server = await another();
    const connections = async (): Promise<number> =>
      String(await server.command("CLIENT", "LIST"))
        .trim()
        .split("\n").length;
    const [before, alive] = [await connections(), sockets()];
    const one = servedInTest(server.url);
    const log = logInTest(server.url, one);
    const heard = range(5).map((number) => new Heard(log, `${number}`));
    await vi.waitFor(async () => expect(await connections()).toBe(before + 2));
    await vi.waitFor(() => expect(sockets()).toBeLessThanOrEqual(alive));
    await log[Symbol.asyncDispose]();
    await Promise.all(heard.map(({ done }) => done));
    await one.close();
    await vi.waitFor(async () => expect(await connections()).toBe(before));
  });
});

/** Thousands who follow in one process. */
describe("many followers", () => {
  const MANY = 2_000;

  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;

  /** Bytes, without what nobody needs any more. */
  function used(): number {
    collect();
    return process.memoryUsage().heapUsed;
  }

  test("2,000 follow 2,000 channels: two connections, a read for each event, hardly any memory, and few looks when nothing happens", async () => {
    const server = await another();
    const log = logInTest(server.url, { sweepEvery: 2000 });
    const far = logInTest(server.url);
    const control = new AbortController();
    const heard = new Map<number, number>();
    const scripts = async (): Promise<number> => {
      const stats = String(await server.command("INFO", "commandstats"));
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    const before = used();
    const all = range(MANY).map(async (channel) => {
      const { signal } = control;
      for await (const { event } of log.follow(`channel ${channel}`, { after: null, signal })) {
        heard.set(channel, (event as unknown as { readonly number: number }).number);
      }
    });
    // Each has looked once, and once more when somebody tells.
    await vi.waitFor(async () => expect(await scripts()).toBeGreaterThanOrEqual(MANY));
    await sleep(2500);
    const memory = used() - before;
    const clients =
      String(await server.command("CLIENT", "LIST"))
        .trim()
        .split("\n").length - 1;
    expect(clients).toBe(2);

    const begun = performance.now();
    const told = await scripts();
    for (let from = 0; from < MANY; from += 200) {
      await Promise.all(range(200).map((at) => far.append(`channel ${from + at}`, numbered(from + at))));
    }
    await vi.waitFor(() => expect(heard.size).toBe(MANY));
    const took = performance.now() - begun;
    const reads = (await scripts()) - told - MANY;
    for (const [channel, number] of heard) expect(number).toBe(channel);
    expect(reads).toBeLessThan(MANY * 2);
    expect(memory).toBeLessThan(40_000_000);

    // A sweep that was under way has taken some for late.
    await sleep(2500);
    const idle = await scripts();
    await sleep(4000);
    const looks = (await scripts()) - idle;
    // 2,000 channels are ten looks every other second.
    expect(looks).toBeLessThan(60);

    const one = performance.now();
    await far.append("channel 7", numbered(-1));
    await vi.waitFor(() => expect(heard.get(7)).toBe(-1), { timeout: 10_000, interval: 1 });
    const latency = performance.now() - one;
    expect(latency).toBeLessThan(1_500);
    control.abort();
    await Promise.all(all);
    console.log(
      `${MANY} followers: ${(memory / 1e6).toFixed(1)} MB, ${looks} looks in 4 s of silence, ` +
        `${MANY} events to all in ${took.toFixed(0)} ms with ${reads} reads, one in ${latency.toFixed(1)} ms`,
    );
  });
});
