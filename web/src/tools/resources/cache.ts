/**
 * Resources that were read, and lists of them, kept for those who may have them (RFC 0.3 §7.3).
 * @module
 */
import { scopeKey } from "../../artifacts/scope.js";
import type { ArtifactScope, Clock } from "../../artifacts/store.js";
import { untilAborted } from "../../core/abort.js";
import type { ReadResult } from "./connection.js";
import { artifactsIn } from "./contents.js";
import { Flights } from "./flights.js";
import {
  LIST_TTL,
  MAX_ALL_KEPT_CHARS,
  MAX_KEPT,
  MAX_KEPT_ARTIFACTS,
  MAX_KEPT_CHARS,
  MAX_KEPT_CONTENTS,
  MAX_TTL,
  UNTOLD_TTL,
} from "./limits.js";
import type { Listing } from "./listed.js";

/** What a cache is made of. */
export interface CacheTerms {
  /** Whether an artifact is still where it was stored. */
  readonly exists: (id: string, scope: ArtifactScope) => Promise<boolean>;
  /** Whether anything is kept from one read to the next; true when left out. What is under way is joined always. */
  readonly keeps?: boolean;
  /**
   * Whether users may be given what others read, where the source calls it public; true when left out. A host says false
   * where each user has a session of their own at the source.
   */
  readonly sharesPublic?: boolean;
  /** Most results that are kept; {@link MAX_KEPT} when left out. */
  readonly maxKept?: number;
  readonly clock?: Clock;
}

/** Whose a read is, and who may end it. */
export interface Reading {
  readonly scope: ArtifactScope;
  readonly signal?: AbortSignal | undefined;
}

interface Entry {
  readonly result: ReadResult;
  /** What was asked for, and what came: a folder's files have URIs of their own. */
  readonly uris: ReadonlySet<string>;
  /** What it refers to. */
  readonly artifacts: readonly string[];
}

/**
 * Results by scope and URI. What holds an artifact belongs to the scope that it was stored in; what does not, and is
 * public, to everybody.
 */
export class ResourceCache {
  readonly #terms: CacheTerms;
  readonly #entries: Shelf<Entry>;
  readonly #flights = new Flights<ReadResult>();
  readonly #watches = new Set<Watch>();

  constructor(terms: CacheTerms) {
    this.#terms = terms;
    const limits = { count: terms.maxKept ?? MAX_KEPT, size: MAX_ALL_KEPT_CHARS };
    this.#entries = new Shelf(limits, terms.clock ?? Date.now);
  }

  /**
   * The result that is kept, else the one that is on its way to the same scope, else what `fetch` gives. Failures are
   * not kept, nor is what changed at the source meanwhile.
   *
   * @throws the signal's reason, or what `fetch` throws.
   */
  async read(
    uri: string,
    { scope, signal }: Reading,
    fetch: (signal: AbortSignal) => Promise<ReadResult>,
  ): Promise<ReadResult> {
    const own = ownKey(scope, uri);
    const shared = this.#terms.sharesPublic === false ? [] : [sharedKey(uri)];
    for (const key of [own, ...shared]) {
      const result = await untilAborted(this.#kept(key, scope), signal);
      if (result !== undefined) return result;
    }
    return this.#flights.join(own, signal, (over) => this.#fetched(uri, own, fetch, over));
  }

  /** A resource changed: nobody is given again what was read of it, alone or among others. */
  invalidate(uri: string): void {
    for (const watch of this.#watches) watch.note(uri);
    this.#flights.close();
    this.#entries.forget(({ uris }) => uris.has(uri));
  }

  /** Anything may have changed. */
  clear(): void {
    for (const watch of this.#watches) watch.noteAll();
    this.#flights.close();
    this.#entries.clear();
  }

  async #kept(key: string, scope: ArtifactScope): Promise<ReadResult | undefined> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const there = await Promise.all(entry.artifacts.map((id) => this.#isThere(id, scope)));
    // While the store was asked, a notice may have come.
    if (there.every(Boolean) && this.#entries.has(key, entry)) return entry.result;
    if (this.#entries.has(key, entry)) this.#entries.delete(key);
    return undefined;
  }

  /** A store that cannot be asked has not got it: the source may. */
  async #isThere(id: string, scope: ArtifactScope): Promise<boolean> {
    try {
      return await this.#terms.exists(id, scope);
    } catch {
      return false;
    }
  }

  async #fetched(
    uri: string,
    own: string,
    fetch: (signal: AbortSignal) => Promise<ReadResult>,
    signal: AbortSignal,
  ): Promise<ReadResult> {
    const watch = new Watch();
    this.#watches.add(watch);
    try {
      const result = await fetch(signal);
      if (this.#terms.keeps !== false) this.#keep(uri, own, result, watch);
      return result;
    } finally {
      this.#watches.delete(watch);
    }
  }

  #keep(uri: string, own: string, result: ReadResult, watch: Watch): void {
    const { contents } = result;
    const size = sizeOf(result);
    if (contents.length > MAX_KEPT_CONTENTS || size > MAX_KEPT_CHARS) return;
    const entry = { result, uris: new Set([uri, ...contents.map((each) => each.uri)]), artifacts: artifactsIn(result) };
    if (entry.artifacts.length > MAX_KEPT_ARTIFACTS || watch.touches(entry.uris)) return;
    const isShared = result.cache_scope === "public" && this.#terms.sharesPublic !== false;
    const key = isShared && entry.artifacts.length === 0 ? sharedKey(uri) : own;
    this.#entries.set(key, entry, { size, ttl: ttlOf(result) });
  }
}

function ownKey(scope: ArtifactScope, uri: string): string {
  return `${scopeKey(scope)} ${uri}`;
}

/** No scope's key begins like this. */
function sharedKey(uri: string): string {
  return `public ${uri}`;
}

/** Milliseconds; 0 for what is no time. */
function ttlOf({ ttl_ms: ttl = UNTOLD_TTL }: ReadResult): number {
  return ttl > 0 ? Math.min(ttl, MAX_TTL) : 0;
}

function sizeOf({ contents }: ReadResult): number {
  let size = 0;
  for (const content of contents) {
    const { uri, mime_type: type } = content;
    const more = content.kind === "text" ? content.text : content.id + content.summary + (content.filename ?? "");
    size += uri.length + (type?.length ?? 0) + more.length;
  }
  return size;
}

/** One kind of list, by scope. */
export class ListCache<T> {
  readonly #lists: Shelf<Listing<T>>;
  readonly #flights = new Flights<Listing<T>>();
  /** Grows with every change: what was fetched before one is not kept after it. */
  #changes = 0;

  constructor(clock: Clock = Date.now) {
    this.#lists = new Shelf({ count: MAX_KEPT, size: MAX_ALL_KEPT_CHARS }, clock);
  }

  /** The list that is kept, else the one on its way, else what `fetch` gives; throws what `ResourceCache.read` does. */
  async read({ scope, signal }: Reading, fetch: (signal: AbortSignal) => Promise<Listing<T>>): Promise<Listing<T>> {
    const key = scopeKey(scope);
    return this.#lists.get(key) ?? this.#flights.join(key, signal, (over) => this.#fetched(key, fetch, over));
  }

  /** Nothing that is kept, or on its way, is given to whoever asks from now on. */
  clear(): void {
    this.#changes += 1;
    this.#lists.clear();
    this.#flights.close();
  }

  async #fetched(
    key: string,
    fetch: (signal: AbortSignal) => Promise<Listing<T>>,
    signal: AbortSignal,
  ): Promise<Listing<T>> {
    const changes = this.#changes;
    const listing = await fetch(signal);
    if (changes === this.#changes) this.#lists.set(key, listing, { size: listing.chars, ttl: LIST_TTL });
    return listing;
  }
}

/** How much is kept. */
interface ShelfLimits {
  /** Values. */
  readonly count: number;
  /** Sum of what `set` is told of their sizes. */
  readonly size: number;
}

interface Kept<T> {
  readonly value: T;
  readonly size: number;
  readonly expires: number;
}

/** Values by key; the one unused for longest makes room. */
export class Shelf<T> {
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept<T>>();
  readonly #limits: ShelfLimits;
  readonly #clock: Clock;
  #size = 0;

  constructor(limits: ShelfLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The value, if its time is not over. Counts as use. */
  get(key: string): T | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.delete(key);
    if (this.#clock() >= kept.expires) return undefined;
    this.#put(key, kept);
    return kept.value;
  }

  /** Whether exactly this value is kept. Does not count as use. */
  has(key: string, value: T): boolean {
    return this.#kept.get(key)?.value === value;
  }

  /** Keeps a value for `ttl` milliseconds; no time at all, or a size above the limit, and it is not kept. */
  set(key: string, value: T, { size, ttl }: { readonly size: number; readonly ttl: number }): void {
    this.delete(key);
    if (!(ttl > 0) || size > this.#limits.size) return;
    this.#put(key, { value, size, expires: this.#clock() + ttl });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#limits.count && this.#size <= this.#limits.size) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }

  /** Forgets what a test holds for. */
  forget(test: (value: T) => boolean): void {
    for (const [key, { value }] of this.#kept) if (test(value)) this.delete(key);
  }

  clear(): void {
    this.#kept.clear();
    this.#size = 0;
  }

  #put(key: string, kept: Kept<T>): void {
    this.#kept.set(key, kept);
    this.#size += kept.size;
  }
}

/** URIs that are remembered; above it everything counts as changed. */
const MAX_SEEN = 64;

/** Notices of changes during one fetch. */
class Watch {
  readonly #changed = new Set<string>();
  #all = false;

  /** One resource changed. */
  note(uri: string): void {
    this.#changed.add(uri);
    if (this.#changed.size > MAX_SEEN) this.noteAll();
  }

  /** Anything may have changed. */
  noteAll(): void {
    this.#all = true;
    this.#changed.clear();
  }

  /** Whether one of these changed. */
  touches(uris: ReadonlySet<string>): boolean {
    if (this.#all) return true;
    for (const uri of this.#changed) if (uris.has(uri)) return true;
    return false;
  }
}
