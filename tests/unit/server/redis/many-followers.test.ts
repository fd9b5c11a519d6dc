/** Thousands who follow in one process. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { numbered, range } from "../sessions/listening.js";
import { another, logInTest } from "./served.js";
import { isFull } from "../../../support/full.js";

const MANY = 2_000;
const PATIENCE = { timeout: 30_000, interval: 10 };

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes, without what nobody needs any more. */
function used(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test.runIf(isFull)(
  "2,000 follow 2,000 channels: two connections, a read for each event, hardly any memory, and few looks when nothing happens",
  async () => {
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
    await vi.waitFor(async () => expect(await scripts()).toBeGreaterThanOrEqual(MANY), PATIENCE);
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
    await vi.waitFor(() => expect(heard.size).toBe(MANY), PATIENCE);
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
  },
);
