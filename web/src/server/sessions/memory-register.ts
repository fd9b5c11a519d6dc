/**
 * Sessions of one process.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import type { ServedSession } from "./session.js";
import {
  MAX_SESSIONS,
  MAX_SUBSCRIPTIONS,
  MAX_TRACES,
  type EndedSession,
  type SessionRegister,
  type Subscription,
} from "./session-register.js";

interface Entry {
  readonly session: ServedSession;
  readonly traces: Set<string>;
  /** By `[namespace, uri]` as JSON. */
  readonly subscriptions: Map<string, Subscription>;
}

/** Remembers as long as the object lives. */
export class MemorySessionRegister implements SessionRegister {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Clock;
  readonly #most: number;

  /** `maxSessions`: those that are kept; {@link MAX_SESSIONS} when left out. */
  constructor(clock: Clock = Date.now, maxSessions: number = MAX_SESSIONS) {
    this.#clock = clock;
    this.#most = maxSessions;
  }

  async begin(session: ServedSession): Promise<void> {
    // Its place is behind the others, where it was there before.
    this.#entries.delete(session.id);
    this.#forgetOver();
    // The host keeps what it gave, and may change it.
    this.#entries.set(session.id, { session: structuredClone(session), traces: new Set(), subscriptions: new Map() });
  }

  async find(id: string): Promise<ServedSession | null> {
    return this.#entry(id)?.session ?? null;
  }

  async end(id: string): Promise<EndedSession | null> {
    const entry = this.#entry(id);
    this.#entries.delete(id);
    return entry === undefined ? null : { session: entry.session, traces: [...entry.traces] };
  }

  async addTrace(id: string, trace: string): Promise<boolean> {
    const traces = this.#entry(id)?.traces;
    if (traces === undefined) return true;
    if (!traces.has(trace) && traces.size >= MAX_TRACES) return false;
    traces.add(trace);
    return true;
  }

  async traces(id: string): Promise<readonly string[]> {
    return [...(this.#entry(id)?.traces ?? [])];
  }

  async subscribe(id: string, subscription: Subscription): Promise<boolean> {
    const subscriptions = this.#entry(id)?.subscriptions;
    if (subscriptions === undefined) return true;
    const key = keyOf(subscription);
    if (!subscriptions.has(key) && subscriptions.size >= MAX_SUBSCRIPTIONS) return false;
    subscriptions.set(key, { ...subscription });
    return true;
  }

  async unsubscribe(id: string, subscription: Subscription): Promise<boolean> {
    return this.#entry(id)?.subscriptions.delete(keyOf(subscription)) ?? false;
  }

  async subscriptions(id: string): Promise<readonly Subscription[]> {
    return [...(this.#entry(id)?.subscriptions.values() ?? [])];
  }

  #entry(id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.session.expires_at > this.#clock()) return entry;
    this.#entries.delete(id);
    return undefined;
  }

  /** Those that are over stand first, as a rule: all last as long. */
  #forgetOver(): void {
    for (const [id, { session }] of this.#entries) {
      if (session.expires_at > this.#clock() && this.#entries.size < this.#most) return;
      this.#entries.delete(id);
    }
  }
}

function keyOf({ namespace, uri }: Subscription): string {
  return JSON.stringify([namespace, uri]);
}
