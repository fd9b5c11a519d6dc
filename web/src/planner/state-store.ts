/**
 * The interface and the bounds of state stores, and the store in memory.
 * @module
 */
import type { BasicArtifactStore } from "../artifacts/host-store.js";
import type { ArtifactStore, Clock } from "../artifacts/store.js";
import { toJson } from "../core/value.js";
import { checkOptionNames, wrong } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import type { OAuthStateStore } from "../tools/auth/pending-requests.js";
import type { PlannerEvent } from "./event.js";

/** A `PlannerEvent`, or an event of your own. JSON. */
export interface StateEvent {
  /** The kind of event. */
  readonly kind: string;
}

/** An event, and when it was saved. */
export interface SavedEvent<Event extends StateEvent = PlannerEvent> {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The event as JSON: an error is what its `toJSON` gives. */
  readonly event: {
    readonly [Key in keyof Event]: Event[Key] extends SluiceError ? ReturnType<SluiceError["toJSON"]> : Event[Key];
  };
}

/** A remote agent's task for a trace. */
export interface RemoteBinding {
  /** The trace. */
  readonly trace_id: string;
  /** The remote agent's id of the conversation, or null. */
  readonly context_id: string | null;
  /** The remote agent's id of the task. */
  readonly task_id: string;
  /** The remote agent's URL. */
  readonly agent_url: string;
}

/** What to do with a released run: let it wait, or delete it. */
export type AfterRelease = "wait" | "forget";

/**
 * Keeps runs that wait for a person or go on, requests for consent, what happened in traces, and tasks of remote agents.
 *
 * A waiting run continues once, though many processes may want to continue it and any of them may die at any time. The one that
 * continues claims it first, under a unique name, for some seconds, and renews the claim before it ends. A process that
 * died does not, and then others may claim it.
 *
 * ```
 *          save ──▶ waits ──claim──▶ claimed ──release "forget"──▶ gone
 *                     ▲                 │  ▲│ claim again or update, by the same owner
 *                     └─release "wait", or the lease is over
 * ```
 *
 * What a store keeps is bounded in number, size and age, see {@link StateStoreOptions}: the oldest make room, those that are
 * claimed last. Tokens, states, owners and ids are strings of 1 to 1,024 UTF-16 units, anything in them. Everything in it
 * may be secret, and a token, a state or an id is enough to read it: the caller checks the owner.
 *
 * Every method throws SluiceError: E_INVALID_ARGUMENT for any other string, or a value that is not JSON; E_TOO_LARGE; E_STORE_….
 */
export interface StateStore extends OAuthStateStore {
  /** Stores a run under a token, replacing an earlier one and its claim. `payload` is JSON. Null deletes the run. */
  savePlannerState(token: string, payload: unknown): Promise<void>;
  /** The stored run, claimed or not, or null. */
  loadPlannerState(token: string): Promise<unknown>;
  /**
   * Claims a run for so many seconds from now. The same owner may claim it again. The run is kept at least until the
   * claim ends. Of concurrent claims by several owners, over all processes, one succeeds.
   *
   * @returns false if there is no run, or another owner's claim holds.
   */
  claimPlannerState(token: string, owner: string, leaseSeconds: number): Promise<boolean>;
  /**
   * Replaces a claimed run. The claim remains, and the run is kept as long as a newly saved one. `payload` is JSON
   * other than null.
   *
   * @returns false without a change if this owner's claim does not hold.
   */
  updatePlannerState(token: string, owner: string, payload: unknown): Promise<boolean>;
  /**
   * Ends a claim.
   *
   * @returns false without a change if this owner's claim does not hold.
   */
  releasePlannerState(token: string, owner: string, then: AfterRelease): Promise<boolean>;
  /** Appends an event to a trace. If a trace has too many events, or too large ones, the oldest are dropped. */
  saveEvent(traceId: string, event: StateEvent): Promise<void>;
  /**
   * The events of a trace, oldest first. An event that a store with a larger `maxBytes` saved is left out.
   *
   * @typeParam Event the events that were saved. Defaults to those of a planner; name your own if you save others.
   */
  loadHistory<Event extends StateEvent = PlannerEvent>(traceId: string): Promise<readonly SavedEvent<Event>[]>;
  /** Stores a binding, replacing that of the same trace and task. */
  saveRemoteBinding(binding: RemoteBinding): Promise<void>;
  /** The binding of a trace and a task, or null. */
  loadRemoteBinding(traceId: string, taskId: string): Promise<RemoteBinding | null>;
}

/**
 * Your own store. All methods are optional: without `savePlannerState` and `loadPlannerState`, waiting runs are kept
 * in memory. With these two but no claims, a run is continued once as long as one process asks for it, and lost if
 * that process dies.
 */
export interface HostStateStore {
  /** See {@link StateStore}. */
  readonly savePlannerState?: StateStore["savePlannerState"];
  /** See {@link StateStore}. */
  readonly loadPlannerState?: StateStore["loadPlannerState"];
  /** See {@link StateStore}. */
  readonly claimPlannerState?: StateStore["claimPlannerState"];
  /** See {@link StateStore}. Without it runs are only stored when they pause, and `RunOptions.token` is refused. */
  readonly updatePlannerState?: StateStore["updatePlannerState"];
  /** See {@link StateStore}. */
  readonly releasePlannerState?: StateStore["releasePlannerState"];
  /** Receives the events of runs whose scope has a trace, see {@link StateStore}. */
  readonly saveEvent?: StateStore["saveEvent"];
  /** Stores bytes and large texts, unless another store is given; see `discoverArtifactStore`. */
  readonly artifactStore?: ArtifactStore | BasicArtifactStore;
}

/** Bounds of a state store. */
export interface StateStoreOptions {
  /**
   * Most runs, and as many traces with events, bindings and OAuth states. A request for consent takes two states.
   * @defaultValue `1000`
   */
  readonly maxKept?: number;
  /**
   * Most events of a trace.
   * @defaultValue `1000`
   */
  readonly maxEvents?: number;
  /**
   * Most bytes of JSON of one run, event, binding or OAuth state.
   * @defaultValue 16 MiB
   */
  readonly maxBytes?: number;
  /**
   * Most bytes of JSON of all events of a trace, not counting the newest.
   * @defaultValue 64 MiB
   */
  readonly maxHistoryBytes?: number;
  /**
   * Seconds until anything saved expires.
   * @defaultValue a day
   */
  readonly maxAgeSeconds?: number;
  /**
   * The clock for expiry and claims.
   * @defaultValue `Date.now`
   */
  readonly clock?: Clock;
}

/** The names of all options. */
export const STATE_STORE_OPTIONS: readonly (keyof StateStoreOptions)[] = [
  "clock",
  "maxAgeSeconds",
  "maxBytes",
  "maxEvents",
  "maxHistoryBytes",
  "maxKept",
];

const KEPT = 1_000;
const EVENTS = 1_000;
const BYTES = 16 * 1024 * 1024;
const HISTORY_BYTES = 64 * 1024 * 1024;
const AGE_SECONDS = 24 * 60 * 60;
/** Most UTF-16 units of a token or an id. */
const MAX_NAME = 1024;
/** The longest lease in seconds: a dead process holds a run for as long. */
const MAX_LEASE = 24 * 60 * 60;

/** The bounds with their defaults. */
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

  /** The time in whole milliseconds since 1970; 0 if the clock returns none. */
  now(): number {
    const now = Math.floor(this.#clock());
    return Number.isSafeInteger(now) && now > 0 ? now : 0;
  }

  /** When something expires that is saved at this time and kept for at most `most`, in milliseconds. */
  until(now: number, most = Infinity): number {
    return Math.min(now + Math.min(this.maxAge, most), Number.MAX_SAFE_INTEGER);
  }

  /** A value as JSON text. Throws SluiceError E_INVALID_ARGUMENT, E_TOO_LARGE. */
  text(value: unknown): string {
    const text = toJson(value);
    const bytes = text.length > this.maxBytes ? text.length : countBytes(text);
    if (bytes <= this.maxBytes) return text;
    throw new SluiceError(
      "E_TOO_LARGE",
      `The state has more than ${this.maxBytes} bytes: let tools store large content as artifacts, or raise maxBytes.`,
    );
  }

  /**
   * The index of the first event of a trace to keep, by their sizes in bytes, oldest first. The newest is always
   * kept.
   */
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
 * The collections of a state store: texts by names, which may be any string. Times are in milliseconds. `claim`,
 * `update` and `release` return false if there is no such run, or it is another owner's. All methods throw
 * SluiceError E_STORE_….
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
    /** Appends a text. */
    add(traceId: string, text: string): Promise<void>;
    /** Oldest first. */
    all(traceId: string): Promise<readonly DatedText[]>;
  };
  readonly bindings: {
    save(key: string, text: string): Promise<void>;
    load(key: string): Promise<string | null>;
  };
  readonly oauth: {
    /** Stores a text for at most so long. */
    save(state: string, text: string, life: number): Promise<void>;
    load(state: string): Promise<string | null>;
    /** As `load`, and deletes it. */
    take(state: string): Promise<string | null>;
  };
}

/** A state store over collections of texts. Checks its arguments and converts them to JSON. */
export abstract class CollectionStateStore implements StateStore {
  readonly #limits: StateLimits;
  readonly #collections: StateCollections;

  constructor(limits: StateLimits, collections: StateCollections) {
    this.#limits = limits;
    this.#collections = collections;
  }

  async savePlannerState(token: string, payload: unknown): Promise<void> {
    checkName(token, "token");
    if (payload === null) return this.#collections.runs.forget(token);
    return this.#collections.runs.save(token, this.#limits.text(payload));
  }

  async loadPlannerState(token: string): Promise<unknown> {
    return parseStored(await this.#collections.runs.load(checkName(token, "token")));
  }

  async claimPlannerState(token: string, owner: string, leaseSeconds: number): Promise<boolean> {
    return this.#collections.runs.claim(checkName(token, "token"), checkName(owner, "owner"), checkLease(leaseSeconds));
  }

  async updatePlannerState(token: string, owner: string, payload: unknown): Promise<boolean> {
    checkName(token, "token");
    checkName(owner, "owner");
    if (payload === null) throw wrong("payload", "JSON that is not null");
    return this.#collections.runs.update(token, owner, this.#limits.text(payload));
  }

  async releasePlannerState(token: string, owner: string, then: AfterRelease): Promise<boolean> {
    return this.#collections.runs.release(checkName(token, "token"), checkName(owner, "owner"), then);
  }

  async saveEvent(traceId: string, event: StateEvent): Promise<void> {
    return this.#collections.events.add(checkName(traceId, "traceId"), this.#limits.text(checkEvent(event)));
  }

  async loadHistory<Event extends StateEvent = PlannerEvent>(traceId: string): Promise<readonly SavedEvent<Event>[]> {
    const texts = await this.#collections.events.all(checkName(traceId, "traceId"));
    return texts.map(({ at, text }) => ({ at, event: parseStored(text) as SavedEvent<Event>["event"] }));
  }

  async saveRemoteBinding(binding: RemoteBinding): Promise<void> {
    const checked = checkBinding(binding);
    return this.#collections.bindings.save(bindingKey(checked.trace_id, checked.task_id), this.#limits.text(checked));
  }

  async loadRemoteBinding(traceId: string, taskId: string): Promise<RemoteBinding | null> {
    return parseStored(await this.#collections.bindings.load(bindingKey(traceId, taskId))) as RemoteBinding | null;
  }

  async saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void> {
    checkName(state, "state");
    const life = checkLife(seconds);
    return this.#collections.oauth.save(state, this.#limits.text(payload), life);
  }

  async loadOAuthState(state: string): Promise<unknown> {
    return parseStored(await this.#collections.oauth.load(checkName(state, "state")));
  }

  async takeOAuthState(state: string): Promise<unknown> {
    return parseStored(await this.#collections.oauth.take(checkName(state, "state")));
  }
}

/** The length of a text in UTF-8. */
export function countBytes(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** The value of a stored text, or null. Throws SluiceError E_STORE_CORRUPT. */
export function parseStored(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The message of JSON.parse contains a piece of the text.
    throw new SluiceError("E_STORE_CORRUPT", "The stored data is damaged: delete it and start again.");
  }
}

/** Checks a token, an owner or an id. Throws SluiceError E_INVALID_ARGUMENT. */
function checkName(value: string, name: string): string {
  if (typeof value === "string" && value !== "" && value.length <= MAX_NAME) return value;
  throw wrong(name, `a string of 1 to ${MAX_NAME} characters`);
}

/** A lease in whole milliseconds. Throws SluiceError E_INVALID_ARGUMENT. */
export function checkLease(seconds: number): number {
  if (seconds > 0 && seconds <= MAX_LEASE) return Math.ceil(seconds * 1000);
  throw wrong("leaseSeconds", `a number above 0, and at most ${MAX_LEASE}`);
}

/** The life of an OAuth state in whole milliseconds. Throws SluiceError E_INVALID_ARGUMENT. */
function checkLife(seconds: number): number {
  if (typeof seconds === "number" && seconds > 0) return Math.ceil(seconds * 1000);
  throw wrong("seconds", "a number above 0");
}

/** Checks an event. Throws SluiceError E_INVALID_ARGUMENT. */
function checkEvent(event: StateEvent): StateEvent {
  if (typeof (event as Partial<StateEvent> | null | undefined)?.kind === "string") return event;
  throw wrong("event", "an object with a kind");
}

/** Checks a binding, and drops further fields. Throws SluiceError E_INVALID_ARGUMENT. */
function checkBinding({ trace_id, context_id, task_id, agent_url }: RemoteBinding): RemoteBinding {
  return {
    trace_id: checkName(trace_id, "trace_id"),
    context_id: context_id === null ? null : checkName(context_id, "context_id"),
    task_id: checkName(task_id, "task_id"),
    agent_url: checkName(agent_url, "agent_url"),
  };
}

/** The key of a trace and a task. */
function bindingKey(traceId: string, taskId: string): string {
  return JSON.stringify([checkName(traceId, "traceId"), checkName(taskId, "taskId")]);
}

/** Stores state in memory, for tests and hosts of one process. Logs show nothing of it. */
export class MemoryStateStore extends CollectionStateStore {
  /** Throws SluiceError E_INVALID_ARGUMENT for a bound that is none. */
  constructor(options: StateStoreOptions = {}) {
    checkOptionNames(options, "a MemoryStateStore", STATE_STORE_OPTIONS);
    const limits = new StateLimits(options);
    const [runs, events] = [new MemoryCollection(limits), new MemoryCollection(limits)];
    super(limits, { runs, events, bindings: new MemoryCollection(limits), oauth: new MemoryCollection(limits) });
  }
}

/** An entry; times in milliseconds. */
interface Kept {
  until: number;
  /** One text, or those of a trace. */
  texts: readonly (DatedText & { readonly bytes: number })[];
  owner: string | undefined;
  leasedUntil: number;
}

class MemoryCollection {
  readonly #limits: StateLimits;
  readonly #entries = new Map<string, Kept>();

  constructor(limits: StateLimits) {
    this.#limits = limits;
  }

  async save(name: string, text: string, life = Infinity): Promise<void> {
    const now = this.#limits.now();
    const until = this.#limits.until(now, life);
    this.#keep(name, { until, texts: [dateText(now, text)], owner: undefined, leasedUntil: 0 }, now);
  }

  async load(name: string): Promise<string | null> {
    return this.#findKept(name)?.texts.at(-1)?.text ?? null;
  }

  async take(name: string): Promise<string | null> {
    const entry = this.#findKept(name);
    this.#entries.delete(name);
    return entry?.texts.at(-1)?.text ?? null;
  }

  async forget(name: string): Promise<void> {
    this.#entries.delete(name);
  }

  async claim(name: string, owner: string, lease: number): Promise<boolean> {
    const [entry, now] = [this.#findKept(name), this.#limits.now()];
    if (entry === undefined || (entry.owner !== owner && now < entry.leasedUntil)) return false;
    entry.owner = owner;
    entry.leasedUntil = now + lease;
    entry.until = Math.max(entry.until, entry.leasedUntil);
    return true;
  }

  async update(name: string, owner: string, text: string): Promise<boolean> {
    const [entry, now] = [this.#findKept(name), this.#limits.now()];
    if (entry?.owner !== owner || now >= entry.leasedUntil) return false;
    entry.texts = [dateText(now, text)];
    entry.until = Math.max(this.#limits.until(now), entry.leasedUntil);
    this.#keep(name, entry, now);
    return true;
  }

  async release(name: string, owner: string, then: AfterRelease): Promise<boolean> {
    const entry = this.#findKept(name);
    if (entry?.owner !== owner || this.#limits.now() >= entry.leasedUntil) return false;
    entry.owner = undefined;
    entry.leasedUntil = 0;
    if (then === "forget") this.#entries.delete(name);
    return true;
  }

  async add(name: string, text: string): Promise<void> {
    const now = this.#limits.now();
    const all = [...(this.#findKept(name)?.texts ?? []), dateText(now, text)];
    const texts = all.slice(this.#limits.firstKept(all.map(({ bytes }) => bytes)));
    this.#keep(name, { until: this.#limits.until(now), texts, owner: undefined, leasedUntil: 0 }, now);
  }

  async all(name: string): Promise<readonly DatedText[]> {
    const now = this.#limits.now();
    return (this.#findKept(name)?.texts ?? []).filter(({ at }) => now < this.#limits.until(at));
  }

  #findKept(name: string): Kept | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined || this.#limits.now() < entry.until) return entry;
    this.#entries.delete(name);
    return undefined;
  }

  /** Stores an entry as the newest, and drops expired ones and one that is too many. */
  #keep(name: string, entry: Kept, now: number): void {
    const entries = this.#entries;
    entries.delete(name);
    entries.set(name, entry);
    for (const [each, { until }] of entries) if (until <= now) entries.delete(each);
    if (entries.size <= this.#limits.maxKept) return;
    const [oldest] = entries.keys();
    const free = [...entries].find(([each, { leasedUntil }]) => each !== name && leasedUntil <= now);
    entries.delete(free?.[0] ?? (oldest as string));
  }
}

function dateText(at: number, text: string): Kept["texts"][number] {
  return { at, text, bytes: countBytes(text) };
}
