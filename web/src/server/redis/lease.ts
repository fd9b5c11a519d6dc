/**
 * Work that one process at a time does.
 * @module
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { SluiceError } from "../../errors/error.js";
import { plainScript, isDone } from "../../planner/redis-state/server.js";
import type { ScriptRunner } from "./place.js";

/** How long things take, all in milliseconds. */
export interface LeaseTimes {
  /** After so long others take it for dead that a process held the lease; 10 s when left out. */
  readonly lease?: number;
  /** So long somebody waits; 60 s when left out. */
  readonly patience?: number;
}

/** ARGV: who, and for how many milliseconds. 0 where it is another's. */
const TAKE = plainScript(
  "write",
  `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`,
  { isRepeatable: true },
);

/** ARGV: who. */
const GIVE = plainScript(
  "write",
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])
`,
  { isRepeatable: true },
);

const LEASE = 10_000;
const PATIENCE = 60_000;

/** Milliseconds between two looks whether it is free: at first, and at most. */
const PAUSE = 20;
const LONGEST_PAUSE = 250;

/**
 * Does the work while the key is this process's; throws what it throws. The lease is renewed until the work is over: of a process
 * that was killed it ends by itself. One that the server cannot be reached from for as long as a lease works on, and may not be
 * alone any more.
 *
 * @throws SluiceError E_STORE_WRITE where others hold it for too long, and where it cannot be taken.
 */
export async function alone<T>(
  server: ScriptRunner,
  key: string,
  work: () => Promise<T>,
  { lease = LEASE, patience = PATIENCE }: LeaseTimes = {},
): Promise<T> {
  const owner = randomUUID();
  const take = async (): Promise<boolean> => isDone(await server.run(TAKE, [key], [owner, String(lease)]));
  const until = performance.now() + patience;
  for (let pause = PAUSE; !(await take()); pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    if (performance.now() > until) throw tooLong();
    // Those who wait for the same do not ask in step.
    await sleep(pause * (0.5 + Math.random()));
  }
  const renewing = setInterval(() => void take().catch(() => undefined), lease / 3).unref();
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    // One that cannot be given back ends by itself.
    await server.run(GIVE, [key], [owner]).catch(() => undefined);
  }
}

function tooLong(): SluiceError {
  return new SluiceError("E_STORE_WRITE", "Another process has been at this for too long: try again.");
}
