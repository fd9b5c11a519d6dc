/**
 * Resources that were read, kept for those who may have them (RFC 0.3 §7.3).
 * @module
 */
import { scopeKey } from "../../artifacts/scope.js";
import type { ArtifactScope, Clock } from "../../artifacts/store.js";
import { artifactsIn } from "./artifacts-in.js";
import type { ReadResult } from "./connection.js";
import { Flights } from "./flights.js";
import {
  MAX_ALL_KEPT_CHARS,
  MAX_KEPT,
  MAX_KEPT_ARTIFACTS,
  MAX_KEPT_CHARS,
  MAX_KEPT_CONTENTS,
  MAX_TTL,
  UNTOLD_TTL,
} from "./limits.js";
import { Shelf } from "./shelf.js";
import { untilAborted } from "../../core/abort.js";
import { Watch } from "./watch.js";

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
