/**
 * Which sessions there are, over all processes that serve them.
 * @module
 */
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
