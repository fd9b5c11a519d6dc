/**
 * Resources that were read: kept by scope and URI for those who may have them, and stored as artifacts.
 * @module
 */
import { scopeKey } from "../../artifacts/scope.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, Clock } from "../../artifacts/store.js";
import { isTruncated, withoutTimes } from "../../artifacts/reference.js";
import { untilAborted } from "../../core/abort.js";
import { STORE_SILENCE, StoreAccess } from "../../core/store-access.js";
import type { SluiceError } from "../../errors/error.js";
import { SingleFlight } from "../../core/keyed-work.js";
import type { SilenceListener } from "../resilience/attempt.js";
import {
  LIST_TTL,
  type Listing,
  MAX_ALL_KEPT_CHARS,
  MAX_KEPT,
  MAX_KEPT_ARTIFACTS,
  MAX_KEPT_CHARS,
  MAX_KEPT_CONTENTS,
  MAX_STORED_TEXTS,
  MAX_TOLD,
  MAX_TTL,
  UNTOLD_TTL,
} from "./listing.js";
import type { ArtifactContent, ReadResult, TextContent } from "../source-features.js";

export interface CacheDeps {
  /** Whether an artifact still exists. */
  readonly exists: (id: string, scope: ArtifactScope) => Promise<boolean>;
  /**
   * Whether results are kept between reads. Concurrent reads are always joined.
   * @defaultValue `true`
   */
  readonly keeps?: boolean;
  /**
   * Whether users share results that the source calls public. False where users have their own sessions.
   * @defaultValue `true`
   */
  readonly sharesPublic?: boolean;
  /** Maximum number of results. Defaults to {@link MAX_KEPT}. */
  readonly maxKept?: number;
  readonly clock?: Clock;
}

/** One caller's read. */
export interface Reading {
  readonly scope: ArtifactScope;
  readonly signal?: AbortSignal | undefined;
  /** The caller's own limit of time. Only reads with the same limit are joined. */
  readonly timeoutSeconds?: number | undefined;
  /** Told when the source takes long. */
  readonly silence?: SilenceListener | undefined;
}

/** Asks the source. `silence` tells everyone who waits. */
type Fetch<T> = (signal: AbortSignal, silence: SilenceListener | undefined) => Promise<T>;

interface Entry {
  readonly result: ReadResult;
  /** The requested URI and those of the contents: files of a folder have their own. */
  readonly uris: ReadonlySet<string>;
  /** The artifacts that it refers to. */
  readonly artifacts: readonly string[];
}

/**
 * Results by scope and URI. Results with artifacts belong to one scope; public results without artifacts are shared.
 */
export class ResourceCache {
  readonly #deps: CacheDeps;
  readonly #entries: Shelf<Entry>;
  readonly #fetches = new SingleFlight<ReadResult, SilenceListener>();
  readonly #watches = new Set<Watch>();

  constructor(deps: CacheDeps) {
    this.#deps = deps;
    const limits = { count: deps.maxKept ?? MAX_KEPT, size: MAX_ALL_KEPT_CHARS };
    this.#entries = new Shelf(limits, deps.clock ?? Date.now);
  }

  /**
   * Returns the cached result, joins a read under way in the same scope, or calls `fetch`. Failures, and results that
   * changed at the source meanwhile, are not cached.
   *
   * @throws the signal's reason, or what `fetch` throws.
   */
  async read(uri: string, reading: Reading, fetch: Fetch<ReadResult>): Promise<ReadResult> {
    const { scope, signal } = reading;
    const own = ownKey(scope, uri);
    const shared = this.#deps.sharesPublic === false ? [] : [toSharedKey(uri)];
    for (const key of [own, ...shared]) {
      const result = await untilAborted(this.#findKept(key, scope), signal);
      if (result !== undefined) return result;
    }
    return joinFetch(this.#fetches, own, reading, (over, silence) =>
      this.#fetched(uri, own, (ended) => fetch(ended, silence), over),
    );
  }

  /** A resource changed: drops all results that contain it. */
  invalidate(uri: string): void {
    for (const watch of this.#watches) watch.note(uri);
    this.#fetches.close();
    this.#entries.forget(({ uris }) => uris.has(uri));
  }

  /** Drops everything. */
  clear(): void {
    for (const watch of this.#watches) watch.noteAll();
    this.#fetches.close();
    this.#entries.clear();
  }

  async #findKept(key: string, scope: ArtifactScope): Promise<ReadResult | undefined> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const there = await Promise.all(entry.artifacts.map((id) => this.#isThere(id, scope)));
    // A notification may have arrived while the store was asked.
    if (there.every(Boolean) && this.#entries.has(key, entry)) return entry.result;
    if (this.#entries.has(key, entry)) this.#entries.delete(key);
    return undefined;
  }

  /** If the store fails, the artifact counts as missing, and the source is asked. */
  async #isThere(id: string, scope: ArtifactScope): Promise<boolean> {
    try {
      return await this.#deps.exists(id, scope);
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
      if (this.#deps.keeps !== false) this.#keep(uri, own, result, watch);
      return result;
    } finally {
      this.#watches.delete(watch);
    }
  }

  #keep(uri: string, own: string, result: ReadResult, watch: Watch): void {
    const { contents } = result;
    const size = measureResult(result);
    if (contents.length > MAX_KEPT_CONTENTS || size > MAX_KEPT_CHARS) return;
    const entry = { result, uris: new Set([uri, ...contents.map((each) => each.uri)]), artifacts: artifactsIn(result) };
    if (entry.artifacts.length > MAX_KEPT_ARTIFACTS || watch.touches(entry.uris)) return;
    const isShared = result.cache_scope === "public" && this.#deps.sharesPublic !== false;
    const key = isShared && entry.artifacts.length === 0 ? toSharedKey(uri) : own;
    this.#entries.set(key, entry, { size, ttl: readTtl(result) });
  }
}

/** Joins a read under way that ends for the same silence, and is watched if this one is; or starts it. */
function joinFetch<T>(
  fetches: SingleFlight<T, SilenceListener>,
  key: string,
  { signal, timeoutSeconds, silence }: Reading,
  fetch: Fetch<T>,
): Promise<T> {
  const all = (listeners: ReadonlySet<SilenceListener>): SilenceListener | undefined =>
    silence && {
      after: silence.after,
      onSilence: (index) => listeners.forEach((each) => each.onSilence(index)),
      onOver: (seconds) => listeners.forEach((each) => each.onOver(seconds)),
    };
  const kind = `${timeoutSeconds ?? ""}${silence === undefined ? "" : " watched"}`;
  return fetches.join(`${kind} ${key}`, signal, (over, listeners) => fetch(over, all(listeners)), silence);
}

function ownKey(scope: ArtifactScope, uri: string): string {
  return `${scopeKey(scope)} ${uri}`;
}

/** No scope key starts with "public". */
function toSharedKey(uri: string): string {
  return `public ${uri}`;
}

/** Milliseconds. 0 for an invalid time. */
function readTtl({ ttl_ms: ttl = UNTOLD_TTL }: ReadResult): number {
  return ttl > 0 ? Math.min(ttl, MAX_TTL) : 0;
}

function measureResult({ contents }: ReadResult): number {
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
  readonly #fetches = new SingleFlight<Listing<T>, SilenceListener>();
  /** Counts changes: a list that was fetched before a change is not cached. */
  #changes = 0;

  constructor(clock: Clock = Date.now) {
    this.#lists = new Shelf({ count: MAX_KEPT, size: MAX_ALL_KEPT_CHARS }, clock);
  }

  /** Returns the cached list, joins a fetch under way, or calls `fetch`. Throws like `ResourceCache.read`. */
  async read(reading: Reading, fetch: Fetch<Listing<T>>): Promise<Listing<T>> {
    const key = scopeKey(reading.scope);
    const fetchResult: Fetch<Listing<T>> = (over, silence) =>
      this.#fetched(key, (ended) => fetch(ended, silence), over);
    return this.#lists.get(key) ?? joinFetch(this.#fetches, key, reading, fetchResult);
  }

  /** Drops all lists, including those under way. */
  clear(): void {
    this.#changes += 1;
    this.#lists.clear();
    this.#fetches.close();
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

/** Limits of a shelf. */
interface ShelfLimits {
  /** Maximum number of values. */
  readonly count: number;
  /** Maximum sum of sizes. */
  readonly size: number;
}

interface Kept<T> {
  readonly value: T;
  readonly size: number;
  readonly expires: number;
}

/** Values by key. The least recently used value is dropped first. */
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

  /** The value, unless it has expired. Counts as use. */
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

  /** Keeps a value for `ttl` milliseconds. Not kept if `ttl` is not positive or the size exceeds the limit. */
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

  /** Drops the values that match. */
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

/** Maximum number of remembered URIs. Beyond it, everything counts as changed. */
const MAX_SEEN = 64;

/** Notifications of changes during one fetch. */
class Watch {
  readonly #changed = new Set<string>();
  #all = false;

  /** One resource changed. */
  note(uri: string): void {
    this.#changed.add(uri);
    if (this.#changed.size > MAX_SEEN) this.noteAll();
  }

  /** Everything may have changed. */
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

/** One content of a resource: a short text, also stored as an artifact if possible, or an artifact. */
export type ResourceContent =
  | (TextContent & {
      /** The text as an artifact. Left out if it was not stored. */
      readonly artifact?: ArtifactRef;
    })
  | ArtifactContent;

/** Everything read from a resource. */
export interface ResourceReading {
  /** In the source's order. */
  readonly contents: readonly ResourceContent[];
  /** The artifacts that still exist, each once, including at most 1000 that the contents refer to. */
  readonly artifacts: readonly ArtifactRef[];
  /** Errors of the store. The contents are complete nevertheless. */
  readonly failures: readonly SluiceError[];
}

/** Where contents are stored. */
interface KeepingDeps {
  readonly namespace: string;
  readonly store: ArtifactStore;
  /** Whether short texts are stored. */
  readonly storesText: boolean;
  readonly scope: ArtifactScope;
  readonly signal?: AbortSignal | undefined;
}

/** Stores the short texts of a result, at most {@link MAX_STORED_TEXTS}, if requested, and looks up its artifacts. */
export async function keepContents(result: ReadResult, deps: KeepingDeps): Promise<ResourceReading> {
  const store = new TolerantStore(deps);
  const contents: ResourceContent[] = [];
  let toStore = deps.storesText ? MAX_STORED_TEXTS : 0;
  for (const content of result.contents) {
    if (content.kind === "text" && toStore > 0) {
      contents.push(await store.stored(content));
      toStore -= 1;
    } else contents.push(content);
  }
  for (const id of artifactsIn(result).slice(0, MAX_TOLD)) await store.look(id);
  return { contents, artifacts: store.artifacts, failures: store.failures };
}

/** The store during one read. Its errors are collected rather than thrown. */
class TolerantStore {
  readonly #deps: KeepingDeps;
  readonly #artifacts = new Map<string, ArtifactRef>();
  readonly #access: StoreAccess;

  constructor(deps: KeepingDeps) {
    this.#deps = deps;
    this.#access = new StoreAccess({ store: deps.store, onFailure: "answer" }, deps.signal);
  }

  get artifacts(): readonly ArtifactRef[] {
    return [...this.#artifacts.values()];
  }

  /** Each message once. */
  get failures(): readonly SluiceError[] {
    return this.#access.failures;
  }

  async stored(content: TextContent): Promise<ResourceContent> {
    const { namespace, scope } = this.#deps;
    const { text, uri, mime_type } = content;
    if (text === "") return content;
    const info = { namespace, scope, source: { uri }, ...(mime_type !== null && { mime_type }) };
    const artifact = await this.#attempt("write", (store) => store.putText(text, info));
    // An unstored text is shown as it is.
    if (artifact === undefined || isTruncated(artifact)) return content;
    this.#artifacts.set(artifact.id, artifact);
    return { ...content, artifact };
  }

  async look(id: string): Promise<void> {
    const found = await this.#attempt("read", (store) => store.stat(id, this.#deps.scope));
    if (found !== undefined && found !== null) this.#artifacts.set(id, withoutTimes(found));
  }

  #attempt<T>(act: "read" | "write", work: (store: ArtifactStore) => Promise<T>): Promise<T | undefined> {
    const most = act === "read" ? STORE_SILENCE.look : STORE_SILENCE.bytes;
    return this.#access.attempt<T | undefined>(
      () => this.#access.call(act, work, most),
      () => undefined,
    );
  }
}

/** A reference in a text, as the core writes it. A source may have written the same. */
const REFERENCE = /artifact:\/\/([A-Za-z0-9_.-]+)/g;

/** Ids, each once: first those of contents, then those that texts refer to. */
function artifactsIn({ contents }: ReadResult): readonly string[] {
  const ids = new Set<string>();
  for (const content of contents) if (content.kind === "artifact") ids.add(content.id);
  for (const content of contents) {
    if (content.kind === "text") for (const [, id] of content.text.matchAll(REFERENCE)) ids.add(id as string);
  }
  return [...ids];
}

/** What a model sees of an artifact. */
export function nameArtifact(content: ArtifactContent): Readonly<Record<string, unknown>> {
  const { id, mime_type, size_bytes, filename } = content;
  return { id, mime_type, size_bytes, ...(filename !== null && { filename }) };
}
