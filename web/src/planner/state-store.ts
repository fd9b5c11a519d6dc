/**
 * What outlives a run that waits, and where another process finds it;
 * how much of it is kept, and what can be.
 * @module
 */
import type { BasicArtifactStore } from "../artifacts/host-store.js";
import type { ArtifactStore, Clock } from "../artifacts/store.js";
import { jsonOf } from "../core/value.js";
import { wrong } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import type { OAuthStateStore } from "../tools/auth/pending-requests.js";

/** Something that happened: a `PlannerEvent`, or an event of the host's own. JSON. */
export interface StateEvent {
  /** What it was. */
  readonly kind: string;
}

/** An event, and when it was saved. */
export interface StoredEvent {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** As it was saved. */
  readonly event: StateEvent;
}

/** Which task of a remote agent works for a trace. */
export interface RemoteBinding {
  /** The trace. */
  readonly trace_id: string;
  /** The conversation, as the remote agent calls it; null where there is none. */
  readonly context_id: string | null;
  /** The task, as the remote agent calls it. */
  readonly task_id: string;
  /** Where the remote agent is. */
  readonly agent_url: string;
}

/** What becomes of a run that is released: it waits again, or there is no more of it. */
export type AfterRelease = "wait" | "forget";

/**
 * Keeps runs that wait for a person or go on, requests for consent, what happened in traces, and tasks of remote agents.
 *
 * A run that waits goes on once, though many may want to go on with it and any process may die at any time. Whoever goes on
 * claims it first, under a name that no other has, for some seconds, and claims it again before they are over. One who
 * died does not, and then others may.
 *
 * ```
 *          save ──▶ waits ──claim──▶ claimed ──release "forget"──▶ gone
 *                     ▲                 │  ▲│ claim again or update, by the same owner
 *                     └─release "wait", or the lease is over
 * ```
 *
 * What a store keeps is bounded in number, size and age, see {@link StateStoreOptions}: the oldest make room, those that are
 * claimed last. Tokens, states, owners and ids are strings of 1 to 1,024 UTF-16 units, anything in them. All of what is kept
 * may be secret, and whoever knows a token, a state or an id gets it: whose it is, is the caller's to check.
 *
 * Every method throws SluiceError: E_INVALID_ARGUMENT for what is no such string, or no JSON; E_TOO_LARGE; E_STORE_….
 */
export interface StateStore extends OAuthStateStore {
  /**
   * Keeps a run, in place of what was kept by this token, and claimed by nobody. `payload` is JSON; null: there is nothing to
   * keep any more.
   */
  savePlannerState(token: string, payload: unknown): Promise<void>;
  /** What is kept, claimed or not; null where there is nothing. */
  loadPlannerState(token: string): Promise<unknown>;
  /**
   * Claims a run for so many seconds from now; again, by the same owner, for so many from then on. It is kept at least until
   * they are over. Of claims by several owners at once, over all processes, one is true.
   *
   * @returns false where there is nothing, or another owner's claim still holds.
   */
  claimPlannerState(token: string, owner: string, leaseSeconds: number): Promise<boolean>;
  /**
   * Keeps a claimed run as it is now, in place of what was kept by this token: as long as one that is saved, and claimed as
   * before. `payload` is JSON, and not null.
   *
   * @returns false, and nothing is changed, where this owner's claim does not hold, or not any more.
   */
  updatePlannerState(token: string, owner: string, payload: unknown): Promise<boolean>;
  /**
   * Ends a claim.
   *
   * @returns false, and nothing is changed, where this owner's claim does not hold, or not any more.
   */
  releasePlannerState(token: string, owner: string, then: AfterRelease): Promise<boolean>;
  /**
   * Keeps an event, behind those of this trace that were saved before. Those that are too many or too large together for a trace
   * go, the oldest first.
   */
  saveEvent(traceId: string, event: StateEvent): Promise<void>;
  /**
   * The events of a trace, oldest first; none where nothing is kept. One that a store with a larger `maxBytes` saved is left
   * out, and hides no other.
   */
  loadHistory(traceId: string): Promise<readonly StoredEvent[]>;
  /** Keeps a binding, in place of that of the same trace and task. */
  saveRemoteBinding(binding: RemoteBinding): Promise<void>;
  /** The binding of a trace and a task; null where there is none. */
  loadRemoteBinding(traceId: string, taskId: string): Promise<RemoteBinding | null>;
}

/**
 * A store of the host's own, which may lack what it has no use for: without `savePlannerState` and `loadPlannerState`, runs
 * that wait are kept in this process. With these two and no claims, a run goes on once as long as one process asks for it, and
 * one whose process dies is lost.
 */
export interface HostStateStore {
  /** See {@link StateStore}. */
  readonly savePlannerState?: StateStore["savePlannerState"];
  /** See {@link StateStore}. */
  readonly loadPlannerState?: StateStore["loadPlannerState"];
  /** See {@link StateStore}. */
  readonly claimPlannerState?: StateStore["claimPlannerState"];
  /** See {@link StateStore}. Left out: runs are kept where they pause alone, and `RunOptions.token` is refused. */
  readonly updatePlannerState?: StateStore["updatePlannerState"];
  /** See {@link StateStore}. */
  readonly releasePlannerState?: StateStore["releasePlannerState"];
  /** Given what happens in runs whose scope has a trace; see {@link StateStore}. Left out: it is only told. */
  readonly saveEvent?: StateStore["saveEvent"];
  /** Where bytes and large texts go, unless another store is named; see `discoverArtifactStore`. */
  readonly artifactStore?: ArtifactStore | BasicArtifactStore;
}

/** Bounds of a state store. */
export interface StateStoreOptions {
  /**
   * Runs that wait, and as many traces with events, bindings and OAuth states, of which a request for consent takes two; 1,000
   * when left out.
   */
  readonly maxKept?: number;
  /** Events of one trace; 1,000 when left out. */
  readonly maxEvents?: number;
  /** Bytes of JSON of one run, event, binding or OAuth state; 16 MiB when left out. */
  readonly maxBytes?: number;
  /** Bytes of JSON of all events of one trace, but for the newest, which is kept anyhow; 64 MiB when left out. */
  readonly maxHistoryBytes?: number;
  /** Seconds that anything is kept since it was saved; a day when left out. */
  readonly maxAgeSeconds?: number;
  /** What things age and claims end by; `Date.now` when left out. */
  readonly clock?: Clock;
}

const KEPT = 1_000;
const EVENTS = 1_000;
const BYTES = 16 * 1024 * 1024;
const HISTORY_BYTES = 64 * 1024 * 1024;
const AGE_SECONDS = 24 * 60 * 60;
/** UTF-16 units of a token or an id. */
const MAX_NAME = 1024;
/** The longest lease, in seconds: a process that died would hold a run for as long. */
const MAX_LEASE = 24 * 60 * 60;

/** The bounds, with nothing left out. */
export class StateLimits {
  readonly maxKept: number;
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly maxHistoryBytes: number;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly #clock: Clock;

  /** Throws SluiceError E_INVALID_ARGUMENT. */
  constructor(options: StateStoreOptions) {
    const { maxKept = KEPT, maxEvents = EVENTS, maxAgeSeconds = AGE_SECONDS } = options;
    const { maxBytes = BYTES, maxHistoryBytes = HISTORY_BYTES } = options;
    for (const [name, limit] of Object.entries({ maxKept, maxEvents, maxBytes, maxHistoryBytes, maxAgeSeconds })) {
      if (!(limit > 0)) throw wrong(name, "a number above 0");
    }
    this.maxKept = maxKept;
    this.maxEvents = maxEvents;
    this.maxBytes = maxBytes;
    this.maxHistoryBytes = maxHistoryBytes;
    this.maxAge = Math.ceil(maxAgeSeconds * 1000);
    this.#clock = options.clock ?? Date.now;
  }

  /** Whole milliseconds since 1970; 0 where the clock gives no time. */
  now(): number {
    const now = Math.floor(this.#clock());
    return Number.isSafeInteger(now) && now > 0 ? now : 0;
  }

  /** Until when something is kept that is saved at this time, and for no longer than `most`: all in milliseconds. */
  until(now: number, most = Infinity): number {
    return Math.min(now + Math.min(this.maxAge, most), Number.MAX_SAFE_INTEGER);
  }

  /** A value as JSON text. Throws SluiceError E_INVALID_ARGUMENT, E_TOO_LARGE. */
  text(value: unknown): string {
    const text = jsonOf(value);
    const bytes = text.length > this.maxBytes ? text.length : bytesOf(text);
    if (bytes <= this.maxBytes) return text;
    throw new SluiceError(
      "E_TOO_LARGE",
      `What is to be kept has more than ${this.maxBytes} bytes: let tools store what is large, or give the store a larger maxBytes.`,
    );
  }

  /** Of a trace's events, by their sizes in bytes and the oldest first: the first that may be kept. The newest always may. */
  firstKept(sizes: readonly number[]): number {
    let first = sizes.length;
    let bytes = 0;
    while (first > 0 && sizes.length - first < this.maxEvents) {
      bytes += sizes[first - 1] ?? 0;
      if (bytes > this.maxHistoryBytes && first < sizes.length) break;
      first -= 1;
    }
    return first;
  }
}

/** A text, and when it was saved. */
export interface DatedText {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
}

/**
 * Where a state store keeps texts, by names that may be any string; times are in milliseconds. A claim, an update and a release
 * are false where there is no such run, or it is another's. Every method throws SluiceError E_STORE_….
 */
export interface StateCollections {
  readonly runs: {
    save(token: string, text: string): Promise<void>;
    load(token: string): Promise<string | null>;
    forget(token: string): Promise<void>;
    claim(token: string, owner: string, lease: number): Promise<boolean>;
    update(token: string, owner: string, text: string): Promise<boolean>;
    release(token: string, owner: string, then: AfterRelease): Promise<boolean>;
  };
  readonly events: {
    /** Adds a text behind those that were added before. */
    add(traceId: string, text: string): Promise<void>;
    /** Oldest first. */
    all(traceId: string): Promise<readonly DatedText[]>;
  };
  readonly bindings: {
    save(key: string, text: string): Promise<void>;
    load(key: string): Promise<string | null>;
  };
  readonly oauth: {
    /** Keeps a text for so long at most. */
    save(state: string, text: string, life: number): Promise<void>;
    load(state: string): Promise<string | null>;
    /** As `load`, and it is gone. */
    take(state: string): Promise<string | null>;
  };
}

/** A state store over rooms of texts: what it is given is checked here, and written as JSON. */
export abstract class CollectionStateStore implements StateStore {
  readonly #limits: StateLimits;
  readonly #rooms: StateCollections;

  constructor(limits: StateLimits, rooms: StateCollections) {
    this.#limits = limits;
    this.#rooms = rooms;
  }

  async savePlannerState(token: string, payload: unknown): Promise<void> {
    named(token, "token");
    if (payload === null) return this.#rooms.runs.forget(token);
    return this.#rooms.runs.save(token, this.#limits.text(payload));
  }

  async loadPlannerState(token: string): Promise<unknown> {
    return valueOf(await this.#rooms.runs.load(named(token, "token")));
  }

  async claimPlannerState(token: string, owner: string, leaseSeconds: number): Promise<boolean> {
    return this.#rooms.runs.claim(named(token, "token"), named(owner, "owner"), leaseOf(leaseSeconds));
  }

  async updatePlannerState(token: string, owner: string, payload: unknown): Promise<boolean> {
    named(token, "token");
    named(owner, "owner");
    if (payload === null) throw wrong("payload", "JSON that is not null");
    return this.#rooms.runs.update(token, owner, this.#limits.text(payload));
  }

  async releasePlannerState(token: string, owner: string, then: AfterRelease): Promise<boolean> {
    return this.#rooms.runs.release(named(token, "token"), named(owner, "owner"), then);
  }

  async saveEvent(traceId: string, event: StateEvent): Promise<void> {
    return this.#rooms.events.add(named(traceId, "traceId"), this.#limits.text(eventOf(event)));
  }

  async loadHistory(traceId: string): Promise<readonly StoredEvent[]> {
    const texts = await this.#rooms.events.all(named(traceId, "traceId"));
    return texts.map(({ at, text }) => ({ at, event: valueOf(text) as StateEvent }));
  }

  async saveRemoteBinding(binding: RemoteBinding): Promise<void> {
    const checked = bindingOf(binding);
    return this.#rooms.bindings.save(bindingKey(checked.trace_id, checked.task_id), this.#limits.text(checked));
  }

  async loadRemoteBinding(traceId: string, taskId: string): Promise<RemoteBinding | null> {
    return valueOf(await this.#rooms.bindings.load(bindingKey(traceId, taskId))) as RemoteBinding | null;
  }

  async saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void> {
    named(state, "state");
    const life = lifeOf(seconds);
    return this.#rooms.oauth.save(state, this.#limits.text(payload), life);
  }

  async loadOAuthState(state: string): Promise<unknown> {
    return valueOf(await this.#rooms.oauth.load(named(state, "state")));
  }

  async takeOAuthState(state: string): Promise<unknown> {
    return valueOf(await this.#rooms.oauth.take(named(state, "state")));
  }
}

/** How many bytes a text has in UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** What a text was saved from; null for null. Throws SluiceError E_STORE_CORRUPT. */
export function valueOf(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // What JSON.parse says has a piece of the text in it.
    throw new SluiceError("E_STORE_CORRUPT", "What is kept here is damaged: begin anew.");
  }
}

/** A token, an owner or an id. Throws SluiceError E_INVALID_ARGUMENT. */
function named(value: string, name: string): string {
  if (typeof value === "string" && value !== "" && value.length <= MAX_NAME) return value;
  throw wrong(name, `a string of 1 to ${MAX_NAME} characters`);
}

/** A lease in whole milliseconds. Throws SluiceError E_INVALID_ARGUMENT. */
export function leaseOf(seconds: number): number {
  if (seconds > 0 && seconds <= MAX_LEASE) return Math.ceil(seconds * 1000);
  throw wrong("leaseSeconds", `a number above 0, and at most ${MAX_LEASE}`);
}

/** How long an OAuth state is kept, in whole milliseconds. Throws SluiceError E_INVALID_ARGUMENT. */
function lifeOf(seconds: number): number {
  if (typeof seconds === "number" && seconds > 0) return Math.ceil(seconds * 1000);
  throw wrong("seconds", "a number above 0");
}

/** An event. Throws SluiceError E_INVALID_ARGUMENT. */
function eventOf(event: StateEvent): StateEvent {
  if (typeof (event as Partial<StateEvent> | null | undefined)?.kind === "string") return event;
  throw wrong("event", "an object with a kind");
}

/** A binding with nothing but its four fields. Throws SluiceError E_INVALID_ARGUMENT. */
function bindingOf({ trace_id, context_id, task_id, agent_url }: RemoteBinding): RemoteBinding {
  return {
    trace_id: named(trace_id, "trace_id"),
    context_id: context_id === null ? null : named(context_id, "context_id"),
    task_id: named(task_id, "task_id"),
    agent_url: named(agent_url, "agent_url"),
  };
}

/** One string for each trace and task. */
function bindingKey(traceId: string, taskId: string): string {
  return JSON.stringify([named(traceId, "traceId"), named(taskId, "taskId")]);
}
