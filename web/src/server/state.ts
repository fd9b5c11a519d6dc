/**
 * What processes that serve the same users share, and how it is kept in memory.
 * @module
 */
import { MemoryStateStore, type StateStore } from "../planner/state-store.js";
import { MemoryTokenStore, type TokenStore } from "../tools/auth/token-store.js";
import type { EventLog } from "./sessions/event-log.js";
import { MemoryEventLog } from "./sessions/memory-event-log.js";
import { MemorySessionRegister, type SessionRegister } from "./sessions/session-register.js";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** All state but artifacts. */
export interface ServeState extends AsyncDisposable {
  /** Runs that go on or wait for a person, and requests for consent. */
  readonly runs: StateStore;
  /** Users' tokens for sources. */
  readonly tokens: TokenStore;
  /** Who is in a session. */
  readonly sessions: SessionRegister;
  /** What happened. */
  readonly events: EventLog;
  /** What was asked for. */
  readonly rates: RateLimit;
  /** Whether other processes share it: then a secret has to be shared too. */
  readonly isShared: boolean;
}

/** Runs that wait, and as many traces with events: a server of many users has more than an agent. */
export const MAX_RUNS = 100_000;

/** State that ends with this process. */
export function memoryState(): ServeState {
  return {
    runs: new MemoryStateStore({ maxKept: MAX_RUNS }),
    tokens: new MemoryTokenStore(),
    sessions: new MemorySessionRegister(),
    events: new MemoryEventLog(),
    rates: new MemoryRateLimit(),
    isShared: false,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** What came of asking. */
export type RateVerdict =
  | {
      /** There was room. */
      readonly ok: true;
    }
  | {
      /** There was none. */
      readonly ok: false;
      /** Until there is room again, rounded up. */
      readonly retryAfterSeconds: number;
    };

/** Counts what is asked for, over all processes that share it. */
export interface RateLimit {
  /**
   * Takes one of `most` in `seconds` from the first on. A limit that cannot be counted lets pass: it protects what is behind
   * it, and is no lock.
   *
   * @param key whose, and of what.
   */
  take(key: string, most: number, seconds: number): Promise<RateVerdict>;
}

/** Counts as long as the object lives. */
export class MemoryRateLimit implements RateLimit {
  /** One for each kind of limit, of which there are few. */
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
