/**
 * A state store in memory.
 * @module
 */
import {
  bytesOf,
  type DatedText,
  type AfterRelease,
  CollectionStateStore,
  StateLimits,
  type StateStoreOptions,
} from "./state-store.js";

/** In this process, for tests and hosts of one process. Nothing outlives the object, and nothing of it shows in logs. */
export class MemoryStateStore extends CollectionStateStore {
  /** Throws SluiceError E_INVALID_ARGUMENT for a bound that is none. */
  constructor(options: StateStoreOptions = {}) {
    const limits = new StateLimits(options);
    const [runs, events] = [new MemoryCollection(limits), new MemoryCollection(limits)];
    super(limits, { runs, events, bindings: new MemoryCollection(limits), oauth: new MemoryCollection(limits) });
  }
}

/** Kept until a time; in milliseconds. */
interface Kept {
  until: number;
  /** One, or those of a trace. */
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
    this.#keep(name, { until, texts: [dated(now, text)], owner: undefined, leasedUntil: 0 }, now);
  }

  async load(name: string): Promise<string | null> {
    return this.#kept(name)?.texts.at(-1)?.text ?? null;
  }

  async take(name: string): Promise<string | null> {
    const entry = this.#kept(name);
    this.#entries.delete(name);
    return entry?.texts.at(-1)?.text ?? null;
  }

  async forget(name: string): Promise<void> {
    this.#entries.delete(name);
  }

  async claim(name: string, owner: string, lease: number): Promise<boolean> {
    const [entry, now] = [this.#kept(name), this.#limits.now()];
    if (entry === undefined || (entry.owner !== owner && now < entry.leasedUntil)) return false;
    entry.owner = owner;
    entry.leasedUntil = now + lease;
    entry.until = Math.max(entry.until, entry.leasedUntil);
    return true;
  }

  async update(name: string, owner: string, text: string): Promise<boolean> {
    const [entry, now] = [this.#kept(name), this.#limits.now()];
    if (entry?.owner !== owner || now >= entry.leasedUntil) return false;
    entry.texts = [dated(now, text)];
    entry.until = Math.max(this.#limits.until(now), entry.leasedUntil);
    this.#keep(name, entry, now);
    return true;
  }

  async release(name: string, owner: string, then: AfterRelease): Promise<boolean> {
    const entry = this.#kept(name);
    if (entry?.owner !== owner || this.#limits.now() >= entry.leasedUntil) return false;
    entry.owner = undefined;
    entry.leasedUntil = 0;
    if (then === "forget") this.#entries.delete(name);
    return true;
  }

  async add(name: string, text: string): Promise<void> {
    const now = this.#limits.now();
    const all = [...(this.#kept(name)?.texts ?? []), dated(now, text)];
    const texts = all.slice(this.#limits.firstKept(all.map(({ bytes }) => bytes)));
    this.#keep(name, { until: this.#limits.until(now), texts, owner: undefined, leasedUntil: 0 }, now);
  }

  async all(name: string): Promise<readonly DatedText[]> {
    const now = this.#limits.now();
    return (this.#kept(name)?.texts ?? []).filter(({ at }) => now < this.#limits.until(at));
  }

  #kept(name: string): Kept | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined || this.#limits.now() < entry.until) return entry;
    this.#entries.delete(name);
    return undefined;
  }

  /** Keeps one as the youngest, and lets go what is too old or too much. */
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

function dated(at: number, text: string): Kept["texts"][number] {
  return { at, text, bytes: bytesOf(text) };
}
