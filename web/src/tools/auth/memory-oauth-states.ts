/**
 * What waits for providers' answers, where no other process needs it.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import type { OAuthStateStore } from "./oauth-state-store.js";

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
