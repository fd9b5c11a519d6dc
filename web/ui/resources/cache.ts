/**
 * What is known of the resources of a reader: what was read, which are subscribed to, and which changed since.
 * @module
 */
import { plainText } from "../plain-text.js";
import { type ResourceReader, describeError, type ShownReading } from "./reader.js";
import type { Row } from "./list.js";

/** Resources in the cache. */
const MAX_RESOURCES = 500;
/** Contents in the cache; the oldest are dropped first. */
const MAX_READINGS = 100;
/** Milliseconds that a subscription may take. */
const SUBSCRIBE_TIMEOUT = 30_000;

/** An error, and what a retry repeats. */
interface ResourceProblem {
  readonly sentence: string;
  readonly retry: "read" | "subscribe";
}

/** A resource in the cache. */
export interface CachedResource {
  readonly uri: string;
  /** Its contents, as read last. */
  readonly reading: ShownReading | undefined;
  /** When, in milliseconds since 1970. */
  readonly readAt: number | undefined;
  readonly isReading: boolean;
  readonly isSubscribed: boolean;
  /** A subscription is being started or ended. */
  readonly isSubscribing: boolean;
  /** It changed since it was read. */
  readonly isUpdated: boolean;
  /** The last error. */
  readonly problem: ResourceProblem | undefined;
}

/** A change of a resource, the `detail` of a `change` event. */
export interface CacheChange {
  readonly uri: string;
  readonly what: "read" | "failed" | "subscribed" | "unsubscribed" | "updated" | "begun";
}

const UNKNOWN: Omit<CachedResource, "uri"> = {
  reading: undefined,
  readAt: undefined,
  isReading: false,
  isSubscribed: false,
  isSubscribing: false,
  isUpdated: false,
  problem: undefined,
};

/** The cache of one reader. Dispatches a `change` event for every change. */
export class ResourceCache extends EventTarget {
  readonly #reader: ResourceReader;
  readonly #held = new Map<string, CachedResource>();
  readonly #reading = new Map<string, AbortController>();

  /** Starts empty. */
  constructor(reader: ResourceReader) {
    super();
    this.#reader = reader;
  }

  /** All cached resources, in the order in which they were added. */
  get all(): readonly CachedResource[] {
    return [...this.#held.values()];
  }

  /** One resource. */
  get(uri: string): CachedResource | undefined {
    return this.#held.get(uri);
  }

  /** Reads a resource, unless that is running. */
  async read(uri: string): Promise<void> {
    if (this.#reading.has(uri)) return;
    const ending = new AbortController();
    const { signal } = ending;
    this.#reading.set(uri, ending);
    const wasUpdated = this.#held.get(uri)?.isUpdated === true;
    this.#note(uri, "begun", { isReading: true, isUpdated: false, problem: undefined });
    const end = (what: "read" | "failed", news: Partial<CachedResource>): void => {
      if (signal.aborted) return;
      this.#reading.delete(uri);
      this.#note(uri, what, { ...news, isReading: false });
    };
    try {
      end("read", { reading: await this.#reader.read(uri, signal), readAt: Date.now() });
    } catch (error) {
      const problem = { sentence: describeError(error, "It could not be read."), retry: "read" } as const;
      end("failed", { problem, ...(wasUpdated && { isUpdated: true }) });
    }
  }

  /** Cancels a read. */
  stop(uri: string): void {
    this.#reading.get(uri)?.abort();
    if (this.#reading.delete(uri)) this.#note(uri, "begun", { isReading: false });
  }

  /** Starts or ends a subscription. */
  async toggle(uri: string): Promise<void> {
    const before = this.#held.get(uri);
    if (before?.isSubscribing === true) return;
    const isWanted = before?.isSubscribed !== true;
    this.#note(uri, "begun", { isSubscribing: true, problem: undefined });
    const signal = AbortSignal.timeout(SUBSCRIBE_TIMEOUT);
    try {
      await (isWanted ? this.#reader.subscribe(uri, signal) : this.#reader.unsubscribe(uri, signal));
      this.#note(uri, isWanted ? "subscribed" : "unsubscribed", { isSubscribed: isWanted, isSubscribing: false });
    } catch (error) {
      const sentence = describeError(error, isWanted ? "Subscribing failed." : "Unsubscribing failed.");
      this.#note(uri, "failed", { isSubscribing: false, problem: { sentence, retry: "subscribe" } });
    }
  }

  /** Adds a resource. */
  add(uri: string): void {
    if (!this.#held.has(uri)) this.#note(uri, "begun", {});
  }

  /** Marks a cached resource as changed. */
  updated(uri: string): void {
    if (this.#held.has(uri)) this.#note(uri, "updated", { isUpdated: true });
  }

  #note(uri: string, what: CacheChange["what"], news: Partial<CachedResource>): void {
    this.#held.set(uri, { ...(this.#held.get(uri) ?? { uri, ...UNKNOWN }), ...news });
    this.#makeRoom();
    this.dispatchEvent(new CustomEvent<CacheChange>("change", { detail: { uri, what } }));
  }

  #makeRoom(): void {
    const read = this.all.filter(({ reading }) => reading !== undefined);
    const oldest = read.toSorted((one, other) => (other.readAt ?? 0) - (one.readAt ?? 0)).slice(MAX_READINGS);
    for (const held of oldest) this.#held.set(held.uri, { ...held, reading: undefined, readAt: undefined });
    for (const { uri, isSubscribed, isSubscribing, isReading } of this.all) {
      if (this.#held.size <= MAX_RESOURCES) return;
      if (!isSubscribed && !isSubscribing && !isReading) this.#held.delete(uri);
    }
  }
}

const caches = new WeakMap<ResourceReader, ResourceCache>();

/** The cache of a reader, kept as long as the reader. */
export function findCache(reader: ResourceReader): ResourceCache {
  const cache = caches.get(reader) ?? new ResourceCache(reader);
  caches.set(reader, cache);
  return cache;
}

/** Marks a resource as changed, also while no element shows it. */
export function resourceUpdated(reader: ResourceReader, uri: string): void {
  findCache(reader).updated(uri);
}

/** Announcements of changes. */
const TOLD: Readonly<Partial<Record<CacheChange["what"], string>>> = {
  read: "was read",
  failed: "failed",
  subscribed: "is subscribed to",
  unsubscribed: "is no longer subscribed to",
  updated: "was updated",
};

/** The announcement of a change; undefined if there is none. */
export function sentenceOfChange({ uri, what }: CacheChange, listed: readonly Row[]): string | undefined {
  const told = TOLD[what];
  if (told === undefined) return undefined;
  const name = listed.find((row) => row.uri === uri)?.name ?? uri;
  return `${plainText(name, 100)} ${told}.`;
}

/** Passes each of the page's updates to the cache once, so that reading a resource clears its mark. */
export class UpdateTracker {
  #marked: ReadonlySet<string> = new Set();

  /** Marks the URIs that are new in `updates`. Listed resources are added to the cache. */
  mark(updates: ReadonlySet<string>, cache: ResourceCache, listed: readonly Row[]): void {
    const uris = new Set(listed.map(({ uri }) => uri));
    for (const uri of updates) {
      if (this.#marked.has(uri)) continue;
      if (uris.has(uri)) cache.add(uri);
      cache.updated(uri);
    }
    this.#marked = new Set(updates);
  }

  /** Starts over for another cache. */
  forget(): void {
    this.#marked = new Set();
  }
}
