/**
 * Where a request for consent waits for its answer, which may arrive in another process.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import { wrong } from "../problem.js";

/**
 * Keeps what has to be known when the answer to a request for consent comes. State stores are such stores too; a store of
 * the host's own needs just these three methods.
 *
 * `state` is a string of 1 to 1,024 UTF-16 units, anything in it, and unguessable: whoever knows it gets what is kept by it.
 * All of it may be secret.
 *
 * What goes wrong with the store itself is thrown, and ends what was being done. No answer within a minute is the same: another
 * call for the same user and provider is made then, and what the first did may be done late.
 */
export interface OAuthStateStore {
  /**
   * Keeps a payload for so many seconds from now, in place of what was kept by this state. `payload` is JSON; `seconds` a number
   * above 0, and a store that keeps nothing for as long keeps it for less.
   */
  saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void>;
  /** What is kept; null where there is nothing, or no longer. */
  loadOAuthState(state: string): Promise<unknown>;
  /** As {@link loadOAuthState}, and it is gone: of many who take it at once, over all processes, one gets it. */
  takeOAuthState(state: string): Promise<unknown>;
}

const METHODS = ["saveOAuthState", "loadOAuthState", "takeOAuthState"] as const;

/** A host's store. Throws a ToolNodeError E_TOOL_CONFIG for one that lacks a method. */
export function checkedStateStore(store: OAuthStateStore): OAuthStateStore {
  const methods = store as Partial<OAuthStateStore> | null;
  const missing = METHODS.find((name) => typeof methods?.[name] !== "function");
  if (missing === undefined) return store;
  throw wrong(`stateStore has no ${missing}: give the OAuthManager a store with ${METHODS.join(", ")}, or none.`);
}

/** Most that is kept: 10,000 requests for consent, and what is noted of the users who are asked. */
const MAX_KEPT = 20_000;

interface Entry {
  readonly payload: unknown;
  readonly until: number;
}

/** In this process. When there are too many the oldest make room. */
export class MemoryOAuthStates implements OAuthStateStore {
  readonly #clock: Clock;
  readonly #mostKept: number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock, mostKept: number = MAX_KEPT) {
    this.#clock = clock;
    this.#mostKept = mostKept;
  }

  async saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void> {
    const now = this.#clock();
    this.#entries.delete(state);
    this.#entries.set(state, { payload, until: now + seconds * 1000 });
    for (const [oldest, { until }] of this.#entries) {
      if (now < until && this.#entries.size <= this.#mostKept) return;
      this.#entries.delete(oldest);
    }
  }

  async loadOAuthState(state: string): Promise<unknown> {
    return this.#kept(state);
  }

  async takeOAuthState(state: string): Promise<unknown> {
    const payload = this.#kept(state);
    this.#entries.delete(state);
    return payload;
  }

  #kept(state: string): unknown {
    const entry = this.#entries.get(state);
    return entry !== undefined && this.#clock() < entry.until ? entry.payload : null;
  }
}
