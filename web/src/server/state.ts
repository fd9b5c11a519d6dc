/**
 * What processes that serve the same users share, and how it is kept in memory.
 * @module
 */
import { MemoryStateStore, type StateStore } from "../planner/state-store.js";
import { MemoryTokenStore, type TokenStore } from "../tools/auth/token-store.js";
import type { Clock } from "../artifacts/store.js";
import type { EventLog } from "./sessions/event-log.js";
import { MemoryEventLog } from "./sessions/memory-event-log.js";
import { MemorySessionRegister, type SessionRegister } from "./sessions/session-register.js";
import { MemoryUsageRegister, type UsageRegister } from "./usage/usage-register.js";
import { MemoryWorkRegister, type WorkRegister } from "./work/work-register.js";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** All state except artifacts. */
export interface ServeState extends AsyncDisposable {
  /** Runs of the chat, and pending requests for consent. */
  readonly runs: StateStore;
  /** Users' tokens for sources. */
  readonly tokens: TokenStore;
  /** Sessions. */
  readonly sessions: SessionRegister;
  /** Events. */
  readonly events: EventLog;
  /** Request rates. */
  readonly rates: RateLimit;
  /** What users have under way and have used of their limits. */
  readonly usage: UsageRegister;
  /** What is under way and is taken up by another process if its own dies. */
  readonly work: WorkRegister;
  /** Whether other processes share it. Then they also have to share the secret. */
  readonly isShared: boolean;
  /**
   * The clock of all processes that share it. Give it to their stores, too.
   * @defaultValue `Date.now`
   */
  readonly clock?: Clock;
}

/** Most runs, and most traces with events. A server of many users has more than one agent. */
export const MAX_RUNS = 100_000;

/** State in the memory of this process. */
export function memoryState(): ServeState {
  return {
    runs: new MemoryStateStore({ maxKept: MAX_RUNS }),
    tokens: new MemoryTokenStore(),
    sessions: new MemorySessionRegister(),
    events: new MemoryEventLog(),
    rates: new MemoryRateLimit(),
    usage: new MemoryUsageRegister(),
    work: new MemoryWorkRegister(),
    isShared: false,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The result of taking from a limit. */
export type RateVerdict =
  | {
      /** The request may proceed. */
      readonly ok: true;
    }
  | {
      /** The limit is reached. */
      readonly ok: false;
      /** Seconds until the next request may proceed, rounded up. */
      readonly retryAfterSeconds: number;
    };

/** Counts requests, over all processes that share it. */
export interface RateLimit {
  /**
   * Takes one of `most` per `seconds`, counted from the first. A limit that cannot be counted lets the request pass:
   * it protects the services behind it and is no lock.
   * @param key whose limit, and of what.
   */
  take(key: string, most: number, seconds: number): Promise<RateVerdict>;
}

/** Counts in memory. */
export class MemoryRateLimit implements RateLimit {
  /** One limiter for each kind of limit. There are few. */
  readonly #limiters = new Map<string, RateLimiterMemory>();

  async take(key: string, most: number, seconds: number): Promise<RateVerdict> {
    try {
      await this.#limiter(most, seconds).consume(key);
      return { ok: true };
    } catch (refused) {
      return verdictOf(refused);
    }
  }

  #limiter(points: number, duration: number): RateLimiterMemory {
    const name = `${points}/${duration}`;
    const limiter = this.#limiters.get(name) ?? new RateLimiterMemory({ points, duration, keyPrefix: name });
    this.#limiters.set(name, limiter);
    return limiter;
  }
}

/** The verdict for what a limiter rejected with. Anything but a refusal lets the request pass. */
export function verdictOf(rejected: unknown): RateVerdict {
  if (!(rejected instanceof RateLimiterRes)) return { ok: true };
  return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(rejected.msBeforeNext / 1000)) };
}
