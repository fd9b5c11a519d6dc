/**
 * What processes that serve the same users share, and how it is kept in memory.
 * @module
 */
import { MemoryStateStore, type StateStore } from "../planner/state-store.js";
import { MemoryTokenStore, type TokenStore } from "../tools/auth/token-store.js";
import type { Clock } from "../artifacts/store.js";
import { MemoryRateLimit, type RateLimit } from "./http/rate-limit.js";
import type { EventLog } from "./sessions/event-log.js";
import { MemoryEventLog } from "./sessions/memory-event-log.js";
import { MemorySessionRegister, type SessionRegister } from "./sessions/session-register.js";
import { MemoryUsageRegister, type UsageRegister } from "./usage/usage-register.js";
import { MemoryWorkRegister, type WorkRegister } from "./work/work-register.js";

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
