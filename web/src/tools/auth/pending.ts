/**
 * Requests for consent that a person has not answered yet.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import { ownerKey, type TokenOwner } from "./owner.js";
import { tokenKey } from "./token-store.js";

/** How long a person may take, in milliseconds. */
const PATIENCE = 10 * 60 * 1000;

/** Most requests at a time. */
const MAX_PENDING = 10_000;

/** Most requests at a time of one user for one provider. */
const MAX_PENDING_EACH = 16;

/** What has to be known when the answer comes. */
export interface PendingRequest {
  readonly owner: TokenOwner;
  readonly trace_id: string | null;
  readonly provider: string;
  /** Who was asked, for which client: the code goes to no others. */
  readonly identity: string;
  /** The secret half of the PKCE challenge. */
  readonly verifier: string;
}

interface Entry extends PendingRequest {
  readonly key: string;
  readonly until: number;
}

/** Requests by state. Each is given out once, within ten minutes; when there are too many the oldest make room. */
export class PendingRequests {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  /** The states of each user and provider, oldest first. */
  readonly #states = new Map<string, Set<string>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `state` is unguessable and new. */
  add(state: string, request: PendingRequest): void {
    const key = tokenKey(ownerKey(request.owner), request.provider);
    this.#makeRoom(key);
    this.#entries.set(state, { ...request, key, until: this.#clock() + PATIENCE });
    const states = this.#states.get(key) ?? new Set();
    this.#states.set(key, states.add(state));
  }

  /** The request, once; null for a state that is unknown, used or too old. */
  take(state: string): PendingRequest | null {
    const entry = this.#remove(state);
    return entry !== undefined && this.#clock() < entry.until ? entry : null;
  }

  /** Drops what one user asked for at one provider. */
  drop(owner: TokenOwner, provider: string): void {
    for (const state of this.#states.get(tokenKey(ownerKey(owner), provider)) ?? []) this.#remove(state);
  }

  #makeRoom(key: string): void {
    const own = this.#states.get(key);
    if (own !== undefined && own.size >= MAX_PENDING_EACH)
      for (const state of [...own].slice(0, 1)) this.#remove(state);
    const now = this.#clock();
    for (const [state, { until }] of this.#entries) {
      if (now < until && this.#entries.size < MAX_PENDING) return;
      this.#remove(state);
    }
  }

  #remove(state: string): Entry | undefined {
    const entry = this.#entries.get(state);
    if (entry === undefined) return undefined;
    this.#entries.delete(state);
    const states = this.#states.get(entry.key);
    states?.delete(state);
    if (states?.size === 0) this.#states.delete(entry.key);
    return entry;
  }
}
