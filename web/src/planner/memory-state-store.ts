/**
 * A state store in memory.
 * @module
 */
import {
  bindingKey,
  bindingOf,
  bytesOf,
  eventOf,
  leaseOf,
  lifeOf,
  named,
  StateLimits,
  valueOf,
  type StateStoreOptions,
  type Released,
  type RemoteBinding,
  type StateEvent,
  type StateStore,
  type StoredEvent,
} from "./state-store.js";

/** Kept until a time; in milliseconds. */
interface Kept {
  until: number;
}

interface Run extends Kept {
  payload: string;
  owner: string | undefined;
  leasedUntil: number;
}

interface Trace extends Kept {
  readonly events: readonly { readonly at: number; readonly text: string; readonly bytes: number }[];
}

interface Saved extends Kept {
  readonly text: string;
}

/** In this process, for tests and hosts of one process. Nothing outlives the object, and nothing of it shows in logs. */
export class MemoryStateStore implements StateStore {
  readonly #limits: StateLimits;
  readonly #runs = new Map<string, Run>();
  readonly #traces = new Map<string, Trace>();
  readonly #bindings = new Map<string, Saved>();
  readonly #oauth = new Map<string, Saved>();

  /** Throws SluiceError E_INVALID_ARGUMENT for a bound that is none. */
  constructor(options: StateStoreOptions = {}) {
    this.#limits = new StateLimits(options);
  }

  async savePlannerState(token: string, payload: unknown): Promise<void> {
    const key = named(token, "token");
    if (payload === null) this.#runs.delete(key);
    else {
      const [now, text] = [this.#limits.now(), this.#limits.text(payload)];
      const run = { payload: text, until: this.#limits.until(now), owner: undefined, leasedUntil: 0 };
      this.#keep(this.#runs, key, run, now);
    }
  }

  async loadPlannerState(token: string): Promise<unknown> {
    const run = this.#kept(this.#runs, named(token, "token"));
    return valueOf(run?.payload ?? null);
  }

  async claimPlannerState(token: string, owner: string, leaseSeconds: number): Promise<boolean> {
    const run = this.#kept(this.#runs, named(token, "token"));
    const [now, lease] = [this.#limits.now(), leaseOf(leaseSeconds)];
    const isOthers = run?.owner !== named(owner, "owner") && now < (run?.leasedUntil ?? 0);
    if (run === undefined || isOthers) return false;
    run.owner = owner;
    run.leasedUntil = now + lease;
    run.until = Math.max(run.until, run.leasedUntil);
    return true;
  }

  async updatePlannerState(token: string, owner: string, payload: unknown): Promise<boolean> {
    const run = this.#kept(this.#runs, named(token, "token"));
    const [now, text] = [this.#limits.now(), this.#limits.textOfSomething(payload)];
    const holds = run?.owner === named(owner, "owner") && now < run.leasedUntil;
    if (run === undefined || !holds) return false;
    run.payload = text;
    run.until = Math.max(this.#limits.until(now), run.leasedUntil);
    this.#keep(this.#runs, token, run, now);
    return true;
  }

  async releasePlannerState(token: string, owner: string, then: Released): Promise<boolean> {
    const run = this.#kept(this.#runs, named(token, "token"));
    const holds = run?.owner === named(owner, "owner") && this.#limits.now() < run.leasedUntil;
    if (run === undefined || !holds) return false;
    run.owner = undefined;
    run.leasedUntil = 0;
    if (then === "forget") this.#runs.delete(token);
    return true;
  }

  async saveEvent(traceId: string, event: StateEvent): Promise<void> {
    const key = named(traceId, "traceId");
    const [at, text] = [this.#limits.now(), this.#limits.text(eventOf(event))];
    const before = this.#kept(this.#traces, key)?.events ?? [];
    const all = [...before, { at, text, bytes: bytesOf(text) }];
    const events = all.slice(this.#limits.firstKept(all.map(({ bytes }) => bytes)));
    this.#keep(this.#traces, key, { events, until: this.#limits.until(at) }, at);
  }

  async loadHistory(traceId: string): Promise<readonly StoredEvent[]> {
    const events = this.#kept(this.#traces, named(traceId, "traceId"))?.events ?? [];
    const now = this.#limits.now();
    const recent = events.filter(({ at }) => now < this.#limits.until(at));
    return recent.map(({ at, text }) => ({ at, event: valueOf(text) as StateEvent }));
  }

  async saveRemoteBinding(binding: RemoteBinding): Promise<void> {
    const checked = bindingOf(binding);
    const [now, text] = [this.#limits.now(), this.#limits.text(checked)];
    const key = bindingKey(checked.trace_id, checked.task_id);
    this.#keep(this.#bindings, key, { text, until: this.#limits.until(now) }, now);
  }

  async loadRemoteBinding(traceId: string, taskId: string): Promise<RemoteBinding | null> {
    const binding = this.#kept(this.#bindings, bindingKey(traceId, taskId));
    return valueOf(binding?.text ?? null) as RemoteBinding | null;
  }

  async saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void> {
    const key = named(state, "state");
    const [now, text] = [this.#limits.now(), this.#limits.text(payload)];
    this.#keep(this.#oauth, key, { text, until: this.#limits.until(now, lifeOf(seconds)) }, now);
  }

  async loadOAuthState(state: string): Promise<unknown> {
    const saved = this.#kept(this.#oauth, named(state, "state"));
    return valueOf(saved?.text ?? null);
  }

  async takeOAuthState(state: string): Promise<unknown> {
    const saved = this.#kept(this.#oauth, named(state, "state"));
    this.#oauth.delete(state);
    return valueOf(saved?.text ?? null);
  }

  #kept<T extends Kept>(room: Map<string, T>, key: string): T | undefined {
    const entry = room.get(key);
    if (entry === undefined || this.#limits.now() < entry.until) return entry;
    room.delete(key);
    return undefined;
  }

  /** Keeps one as the youngest, and lets go what is too old or too much. */
  #keep<T extends Kept & Partial<Run>>(room: Map<string, T>, key: string, entry: T, now: number): void {
    room.delete(key);
    room.set(key, entry);
    for (const [each, { until }] of room) if (until <= now) room.delete(each);
    if (room.size <= this.#limits.maxKept) return;
    const [oldest] = room.keys();
    const free = [...room].find(([each, { leasedUntil = 0 }]) => each !== key && leasedUntil <= now);
    room.delete(free?.[0] ?? (oldest as string));
  }
}
