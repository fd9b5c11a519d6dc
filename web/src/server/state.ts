/**
 * What processes that serve the same users share.
 * @module
 */
import { MemoryStateStore, type StateStore } from "../planner/state-store.js";
import { MemoryTokenStore, type TokenStore } from "../tools/auth/token-store.js";
import type { EventLog } from "./events/event-log.js";
import { MemoryEventLog } from "./events/memory-event-log.js";
import { MemoryRateLimit, type RateLimit } from "./http/rate-limit.js";
import { MemorySessionRegister, type SessionRegister } from "./sessions/session-register.js";

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
