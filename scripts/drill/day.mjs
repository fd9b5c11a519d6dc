/**
 * A day: what goes wrong, one after the other, while users work. Read it from top to bottom.
 * @module
 */
import { existsSync, readdirSync } from "node:fs";
import { now } from "./client.mjs";
import { Probes } from "./probes.mjs";
import { FAKETIME } from "./server.mjs";
import { sleep, until } from "./program.mjs";

const SECOND = 1000;
const HOUR = 3600;

/** Sessions after which a process has the memory that it works with: a share of all, and at least so many. */
const WARM = { share: 0.2, sessions: 60 };

/** Bytes of each of the large downloads. */
const LARGE = 5_000_000;

/**
 * Runs a day, and gives everything that was seen of it.
 *
 * @param scale 1 for a whole one: `sessions` and `downloads` are those of it
 * @param rest seconds without requests, after which memory and files are looked at
 */
export async function dayOf(stack, { scale, sessions, downloads, atOnce, rest, say }) {
  const { servers, load, redis, bucket } = stack;
  const [one, other] = servers;
  const phases = [];
  const probes = new Probes(stack);
  const before = redis && (await redis.counts());
  const usedBefore = await stack.bucket?.usage();

  /** Does something while users work, and calls what they see by its name until all is well again. */
  const phase = async (name, allowed, work, { before: quiet = 4, after = 3 } = {}) => {
    await load.order("phase", { name: "work" });
    await sleep(quiet * SECOND * Math.max(0.25, Math.min(1, scale * 4)));
    say(name);
    await load.order("phase", { name });
    const from = now();
    const seen = (await work()) ?? {};
    await until("a process that is ready", 60, async () =>
      (await Promise.all(servers.map((each) => each.isReady()))).every(Boolean),
    );
    await sleep(after * SECOND);
    await load.order("visit");
    phases.push({ name, allowed, from, to: now(), ...seen });
  };
  const count = async () => (await load.order("counts")).sessions ?? 0;

  say("residents begin");
  const begun = now();
  await load.order("phase", { name: "work" });
  await load.order("settle", { count: Math.max(4, Math.round(100 * Math.min(1, scale * 2))) });
  await load.order("start", { atOnce });

  await phase("A is killed", ["no answer"], async () => {
    return killed(one);
  });
  await phase("B is killed", ["no answer"], async () => {
    return killed(other);
  });
  await phase("A drains", ["no answer", "E_STORE_CLOSED"], async () => {
    const drained = await one.program.terminate();
    await one.start();
    return { drained };
  });
  await phase("one after the other", ["no answer", "E_STORE_CLOSED"], async () => {
    for (const server of servers) {
      await server.program.terminate();
      await server.start();
    }
  });
  if (existsSync(FAKETIME)) {
    // Until it is replaced again it is this process whose clock jumps, its monotonic clock does not.
    await phase("B, an hour ahead, and back", ["no answer", "E_STORE_CLOSED"], async () => {
      await other.program.terminate();
      await other.start({ fakesTime: true });
      for (const ahead of [HOUR, 0, -HOUR, 0]) {
        await other.setClock(ahead);
        await sleep(6 * SECOND * Math.max(0.25, Math.min(1, scale * 4)));
        await load.order("visit");
      }
      await other.program.terminate();
      await other.start();
    });
  } else
    phases.push({
      name: "B, an hour ahead, and back",
      isSkipped: "libfaketime is not installed (apt-get install faketime)",
    });

  say("work, and rest, for the level of memory");
  await load.order("phase", { name: "work" });
  await load.order("stop");
  await load.order("start", { atOnce });
  await load.order("downloads", { count: downloads, bytes: LARGE });
  const calm = (await count()) + Math.max(WARM.sessions, sessions * WARM.share);
  while ((await count()) < calm) await sleep(SECOND);
  await load.order("stop");
  await sleep(rest * SECOND);
  const level = await levelsOf(stack);
  await load.order("start", { atOnce });

  await phase("Redis is killed", ["no answer", "E_STORE_READ", "E_STORE_WRITE"], async () => {
    await redis.kill();
    await sleep(3 * SECOND);
    await redis.start();
  });
  await phase("Redis stands still", ["no answer", "E_STORE_READ", "E_STORE_WRITE"], async () => {
    redis.signal("SIGSTOP");
    await sleep(10 * SECOND);
    redis.signal("SIGCONT");
  });
  if (bucket) {
    const allowed = ["no answer", "E_STORE_READ", "E_STORE_WRITE"];
    await phase("the bucket stands still", allowed, async () => {
      bucket.signal("SIGSTOP");
      await sleep(10 * SECOND);
      bucket.signal("SIGCONT");
    });
    await phase("the bucket is killed", allowed, async () => {
      await bucket.kill();
      await sleep(3 * SECOND);
      await bucket.start();
    });
  }
  await phase(`${downloads} large downloads at once`, [], () =>
    load.order("downloads", { count: downloads, bytes: LARGE }),
  );

  say("the rest of the day");
  await load.order("phase", { name: "work" });
  while ((await count()) < sessions) await sleep(SECOND);
  await load.order("phase", { name: "evening" });
  await load.order("stop");
  await load.order("visit");
  const afterWork = redis && (await redis.counts());
  const usedAfter = await stack.bucket?.usage();
  await load.order("leave", { atOnce });
  const ended = now();
  say("rest, to see what is left");
  await sleep(rest * SECOND);
  probes[Symbol.dispose]();
  const left = await levelsOf(stack);
  if (redis) left.kept = await redis.kept();
  const report = await load.report(stack.folder);
  const work = redis && difference(before, afterWork);
  const requests = usedBefore && difference(usedBefore, usedAfter);
  const history = servers.map(({ name, history: lines }) => ({ name, lines: lines.filter(({ at }) => at > begun) }));
  return {
    ...report,
    store: bucket ? "bucket" : "folder",
    phases,
    begun,
    ended,
    level,
    left,
    work,
    requests,
    history,
    probes,
  };
}

/** Kills a process and starts another. Gives when there was none. */
async function killed(server) {
  const from = now();
  await server.program.kill();
  await sleep(2 * SECOND);
  await server.start();
  return { downs: [{ from, to: now() }] };
}

/** Memory, files and sockets of each process, and what is in Redis and in the store. */
async function levelsOf({ servers, redis, bucket, place }) {
  for (const { program } of servers) program.signal("SIGUSR2");
  await sleep(2 * SECOND);
  const processes = servers.map(({ name, program, history }) => ({
    name,
    ...program.seen,
    heap: history.at(-1)?.heapUsed ?? 0,
  }));
  return {
    processes,
    redis: redis && (await redis.counts()),
    objects: bucket ? await bucket.keys("day/") : filesIn(place),
  };
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

function difference(before, after) {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));
}
