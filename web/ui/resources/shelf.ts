/**
 * What is known of a reader's resources: what was read of them, which are subscribed to, and which changed since.
 * @module
 */
import type { ResourceReader, ShownReading } from "./reader.js";
import { sentenceOf } from "./sentence.js";

/** Most resources of which something is known. */
const MAX_HELD = 500;
/** Most readings that are kept: the oldest goes first. */
const MAX_READINGS = 100;
/** How long, in milliseconds, subscribing may take. */
const PATIENCE = 30_000;

/** One sentence, and what may be tried again. */
export interface HeldProblem {
  readonly sentence: string;
  readonly retry: "read" | "subscribe";
}

/** What is known of one resource. */
export interface Held {
  readonly uri: string;
  /** What was read of it last. */
  readonly reading: ShownReading | undefined;
  /** When, in milliseconds since 1970. */
  readonly readAt: number | undefined;
  readonly isReading: boolean;
  readonly isSubscribed: boolean;
  /** It is being subscribed to, or no longer to be. */
  readonly isSubscribing: boolean;
  /** It changed since it was read. */
  readonly isUpdated: boolean;
  /** What failed last. */
  readonly problem: HeldProblem | undefined;
}

/** What happened to a resource, as the `detail` of a `change` event. */
export interface ShelfChange {
  readonly uri: string;
  readonly what: "read" | "failed" | "subscribed" | "unsubscribed" | "updated" | "begun";
}

const UNKNOWN: Omit<Held, "uri"> = {
  reading: undefined,
  readAt: undefined,
  isReading: false,
  isSubscribed: false,
  isSubscribing: false,
  isUpdated: false,
  problem: undefined,
};

/** The resources of one reader. Tells of every change by a `change` event. */
export class Shelf extends EventTarget {
  readonly #reader: ResourceReader;
  readonly #held = new Map<string, Held>();
  readonly #reading = new Map<string, AbortController>();

  /** Begins with nothing. */
  constructor(reader: ResourceReader) {
    super();
    this.#reader = reader;
  }

  /** All of which something is known, in the order in which they were met. */
  get all(): readonly Held[] {
    return [...this.#held.values()];
  }

  /** What is known of one. */
  get(uri: string): Held | undefined {
    return this.#held.get(uri);
  }

  /** Reads it, unless that is under way. */
  async read(uri: string): Promise<void> {
    if (this.#reading.has(uri)) return;
    const ending = new AbortController();
    const { signal } = ending;
    this.#reading.set(uri, ending);
    const wasUpdated = this.#held.get(uri)?.isUpdated === true;
    this.#note(uri, "begun", { isReading: true, isUpdated: false, problem: undefined });
    const end = (what: "read" | "failed", news: Partial<Held>): void => {
      if (signal.aborted) return;
      this.#reading.delete(uri);
      this.#note(uri, what, { ...news, isReading: false });
    };
    try {
      end("read", { reading: await this.#reader.read(uri, signal), readAt: Date.now() });
    } catch (error) {
      const problem = { sentence: sentenceOf(error, "It could not be read."), retry: "read" } as const;
      end("failed", { problem, ...(wasUpdated && { isUpdated: true }) });
    }
  }

  /** Gives a reading up. */
  stop(uri: string): void {
    this.#reading.get(uri)?.abort();
    if (this.#reading.delete(uri)) this.#note(uri, "begun", { isReading: false });
  }

  /** Asks to be told of its changes, or no longer. */
  async toggle(uri: string): Promise<void> {
    const before = this.#held.get(uri);
    if (before?.isSubscribing === true) return;
    const isWanted = before?.isSubscribed !== true;
    this.#note(uri, "begun", { isSubscribing: true, problem: undefined });
    const signal = AbortSignal.timeout(PATIENCE);
    try {
      await (isWanted ? this.#reader.subscribe(uri, signal) : this.#reader.unsubscribe(uri, signal));
      this.#note(uri, isWanted ? "subscribed" : "unsubscribed", { isSubscribed: isWanted, isSubscribing: false });
    } catch (error) {
      const sentence = sentenceOf(error, isWanted ? "It could not be subscribed to." : "The subscription did not end.");
      this.#note(uri, "failed", { isSubscribing: false, problem: { sentence, retry: "subscribe" } });
    }
  }

  /** Takes note of one of which nothing is known yet. */
  meet(uri: string): void {
    if (!this.#held.has(uri)) this.#note(uri, "begun", {});
  }

  /** It changed: what was read of it is old. Nothing happens where nothing is known of it. */
  updated(uri: string): void {
    if (this.#held.has(uri)) this.#note(uri, "updated", { isUpdated: true });
  }

  #note(uri: string, what: ShelfChange["what"], news: Partial<Held>): void {
    this.#held.set(uri, { ...(this.#held.get(uri) ?? { uri, ...UNKNOWN }), ...news });
    this.#makeRoom();
    this.dispatchEvent(new CustomEvent<ShelfChange>("change", { detail: { uri, what } }));
  }

  #makeRoom(): void {
    const read = this.all.filter(({ reading }) => reading !== undefined);
    const oldest = read.toSorted((one, other) => (other.readAt ?? 0) - (one.readAt ?? 0)).slice(MAX_READINGS);
    for (const held of oldest) this.#held.set(held.uri, { ...held, reading: undefined, readAt: undefined });
    for (const { uri, isSubscribed, isSubscribing, isReading } of this.all) {
      if (this.#held.size <= MAX_HELD) return;
      if (!isSubscribed && !isSubscribing && !isReading) this.#held.delete(uri);
    }
  }
}

const shelves = new WeakMap<ResourceReader, Shelf>();

/** The shelf of a reader, which lasts as long as it does. */
export function shelfOf(reader: ResourceReader): Shelf {
  const shelf = shelves.get(reader) ?? new Shelf(reader);
  shelves.set(reader, shelf);
  return shelf;
}

/** Tells that a resource changed, also while no element shows it. */
export function resourceUpdated(reader: ResourceReader, uri: string): void {
  shelfOf(reader).updated(uri);
}
