/**
 * The sessions of all processes that serve them.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import { userKey } from "../../tools/auth/token-store.js";
import type { Identity, ServedSession } from "../session.js";
import { SluiceError } from "../../errors/error.js";

/** A resource whose changes a session receives. */
export interface Subscription {
  /** The source's name. */
  readonly namespace: string;
  /** The resource's URI. */
  readonly uri: string;
}

/** Most sessions. Beyond that, those that expire first are dropped. */
export const MAX_SESSIONS = 100_000;

/** Most traces of a session. Storing under a further one is refused. */
export const MAX_TRACES = 1000;

/** Most subscriptions of a session. */
export const MAX_SUBSCRIPTIONS = 100;

/**
 * Stores sessions until they end or expire, and their traces and subscriptions with them. What is said of a session
 * that is over, or never was, has no effect.
 *
 * All methods throw SluiceError E_STORE_READ or E_STORE_WRITE if the store fails.
 */
export interface SessionRegister {
  /**
   * Stores a new session. Returns false, and stores none, if its user has `most` living sessions already, counted over
   * all processes. `most` defaults to no limit.
   */
  begin(session: ServedSession, most?: number): Promise<boolean>;
  /** The ids of a user's living sessions, in any order. */
  ofUser(identity: Identity): Promise<readonly string[]>;
  /** The session, or null. */
  find(id: string): Promise<ServedSession | null>;
  /** Ends a session: no process finds it any more. Returns what it was, or null. */
  end(id: string): Promise<EndedSession | null>;
  /** Adds a trace that something is stored under. Returns false if there are 1,000 already. */
  addTrace(id: string, trace: string): Promise<boolean>;
  /** The session's traces, in any order. */
  traces(id: string): Promise<readonly string[]>;
  /** Adds a subscription. Returns false if there are 100 already. */
  subscribe(id: string, subscription: Subscription): Promise<boolean>;
  /** Removes a subscription. Returns false if there was none. */
  unsubscribe(id: string, subscription: Subscription): Promise<boolean>;
  /** The session's subscriptions, in any order. */
  subscriptions(id: string): Promise<readonly Subscription[]>;
}

/** An ended session that is to be cleaned up. */
export interface EndedSession {
  /** The session as it was. */
  readonly session: ServedSession;
  /** The traces that it stored under. */
  readonly traces: readonly string[];
}

interface Entry {
  readonly session: ServedSession;
  readonly traces: Set<string>;
  /** By `[namespace, uri]` as JSON. */
  readonly subscriptions: Map<string, Subscription>;
}

/** Stores sessions in memory. */
export class MemorySessionRegister implements SessionRegister {
  readonly #entries = new Map<string, Entry>();
  /** The ids of users' sessions. */
  readonly #users = new Map<string, Set<string>>();
  readonly #clock: Clock;
  readonly #most: number;

  /** `maxSessions` defaults to {@link MAX_SESSIONS}. */
  constructor(clock: Clock = Date.now, maxSessions: number = MAX_SESSIONS) {
    this.#clock = clock;
    this.#most = maxSessions;
  }

  async begin(session: ServedSession, most: number = Infinity): Promise<boolean> {
    const { id, identity } = session;
    const others = this.#ofUser(identity).filter((each) => each !== id);
    if (others.length >= most) return false;
    // Moves it to the end if it was there before.
    this.#delete(id);
    this.#forgetOver();
    // The host may change its object later.
    this.#entries.set(id, { session: structuredClone(session), traces: new Set(), subscriptions: new Map() });
    const key = keyOfUser(identity);
    this.#users.set(key, (this.#users.get(key) ?? new Set()).add(id));
    return true;
  }

  async ofUser(identity: Identity): Promise<readonly string[]> {
    return this.#ofUser(identity);
  }

  async find(id: string): Promise<ServedSession | null> {
    return this.#entry(id)?.session ?? null;
  }

  async end(id: string): Promise<EndedSession | null> {
    const entry = this.#entry(id);
    this.#delete(id);
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
    this.#delete(id);
    return undefined;
  }

  /** Drops expired sessions, which usually come first since all last equally long, and the oldest of too many. */
  #forgetOver(): void {
    for (const [id, { session }] of this.#entries) {
      if (session.expires_at > this.#clock() && this.#entries.size < this.#most) return;
      this.#delete(id);
    }
  }

  #ofUser(identity: Identity): readonly string[] {
    return [...(this.#users.get(keyOfUser(identity)) ?? [])].filter((id) => this.#entry(id) !== undefined);
  }

  #delete(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    const key = keyOfUser(entry.session.identity);
    const ids = this.#users.get(key);
    ids?.delete(id);
    if (ids?.size === 0) this.#users.delete(key);
  }
}

/** A user as one string. Different for different tenants and users, whatever their ids are. */
export function keyOfUser(identity: Identity): string {
  return userKey({ scope: { tenant_id: identity.tenant_id ?? null, user_id: identity.user_id } });
}

/** A subscription as one string. */
export function subscriptionKey({ namespace, uri }: Subscription): string {
  return JSON.stringify([namespace, uri]);
}

/**
 * Registers a trace that something may be stored under. Null is no trace. Throws SluiceError E_STORE_FULL for too
 * many traces.
 */
export async function noteTrace(
  { id }: ServedSession,
  trace: string | null,
  { state }: { readonly state: { readonly sessions: Pick<SessionRegister, "addTrace"> } },
): Promise<void> {
  if (trace === null || (await state.sessions.addTrace(id, trace))) return;
  const sentence = `A session has at most ${MAX_TRACES} traces: start another session.`;
  throw new SluiceError("E_STORE_FULL", sentence, { path: "trace" });
}
