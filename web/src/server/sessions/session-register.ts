/**
 * Which sessions there are, over all processes that serve them.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import type { ServedSession } from "./session.js";

/** A resource whose changes a session is told of. */
export interface Subscription {
  /** The source's name. */
  readonly namespace: string;
  /** The resource's. */
  readonly uri: string;
}

/** Sessions that are remembered at the same time; beyond, those that would be over first make room. */
export const MAX_SESSIONS = 100_000;

/** Traces that a session may name; beyond, storing under a new one is refused. */
export const MAX_TRACES = 1000;

/** Resources that a session may be told of. */
export const MAX_SUBSCRIPTIONS = 100;

/**
 * Remembers sessions until they end or their time is over. What is kept of one goes with it.
 *
 * All methods throw SluiceError E_STORE_READ or E_STORE_WRITE where it cannot be kept; what is said of a session that is over,
 * or never was, is lost without a word.
 */
export interface SessionRegister {
  /** Begins one. */
  begin(session: ServedSession): Promise<void>;
  /** The session; null when it is over or never was. */
  find(id: string): Promise<ServedSession | null>;
  /** Ends one: whoever looks it up from now on, in any process, does not find it. Gives what it was, null when it was over. */
  end(id: string): Promise<EndedSession | null>;
  /** Notes a trace that something is stored under. False, and it is not noted, when there are 1,000. */
  addTrace(id: string, trace: string): Promise<boolean>;
  /** Its traces, in any order. */
  traces(id: string): Promise<readonly string[]>;
  /** Has it told of a resource. False, and it is not noted, when there are 100. */
  subscribe(id: string, subscription: Subscription): Promise<boolean>;
  /** Takes that back; false where there was nothing to take back. */
  unsubscribe(id: string, subscription: Subscription): Promise<boolean>;
  /** What it is told of, in any order. */
  subscriptions(id: string): Promise<readonly Subscription[]>;
}

/** What is left to clean up. */
export interface EndedSession {
  /** As it was. */
  readonly session: ServedSession;
  /** What it stored under. */
  readonly traces: readonly string[];
}

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
    const key = subscriptionKey(subscription);
    if (!subscriptions.has(key) && subscriptions.size >= MAX_SUBSCRIPTIONS) return false;
    subscriptions.set(key, { ...subscription });
    return true;
  }

  async unsubscribe(id: string, subscription: Subscription): Promise<boolean> {
    return this.#entry(id)?.subscriptions.delete(subscriptionKey(subscription)) ?? false;
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

/** A subscription as one string. */
export function subscriptionKey({ namespace, uri }: Subscription): string {
  return JSON.stringify([namespace, uri]);
}
