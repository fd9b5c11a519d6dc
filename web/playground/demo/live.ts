/**
 * What changes at the demo server.
 * @module
 */
import { makeRandom } from "./random.js";

/** A text that a tool changes. */
export const NOTE = "note://today";
/** JSON that changes while a client is subscribed to it. */
export const METRICS = "metrics://live";

/** Milliseconds between two readings. */
const PACE = 5000;

/** The changing resources, which all sessions of a server share. */
export class Live {
  readonly #followers = new Map<string, Set<() => void>>();
  #note = "Fair at the lake on Saturday: five boxes of rain shells, two of head torches.";
  #reading = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Today's note. */
  get note(): string {
    return this.#note;
  }

  /** The newest reading, as JSON. */
  get metrics(): string {
    const chance = makeRandom(this.#reading + 11);
    const wave = Math.sin(this.#reading / 4);
    const metrics = {
      reading: this.#reading,
      visitors: Math.round(420 + wave * 90 + chance() * 40),
      orders_per_minute: Math.round((14 + wave * 4 + chance() * 3) * 10) / 10,
      conversion_percent: Math.round((3 + chance()) * 100) / 100,
    };
    return JSON.stringify(metrics, null, 2);
  }

  /** Changes the note. */
  write(note: string): void {
    this.#note = note;
    this.#tell(NOTE);
  }

  /** Calls `changed` for each change of a resource. Returns a function that stops it. */
  follow(uri: string, changed: () => void): () => void {
    const followers = this.#followers.get(uri) ?? new Set();
    this.#followers.set(uri, followers.add(changed));
    this.#watch();
    return () => {
      followers.delete(changed);
      this.#watch();
    };
  }

  /** Takes readings only while someone is subscribed. */
  #watch(): void {
    const isWanted = (this.#followers.get(METRICS)?.size ?? 0) > 0;
    if (isWanted) this.#timer ??= setInterval(() => this.#read(), PACE);
    else {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #read(): void {
    this.#reading += 1;
    this.#tell(METRICS);
  }

  #tell(uri: string): void {
    for (const changed of this.#followers.get(uri) ?? []) changed();
  }
}
