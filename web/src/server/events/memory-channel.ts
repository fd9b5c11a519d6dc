/**
 * One channel of events in memory.
 * @module
 */
import { onAbort } from "../../core/abort.js";
import { EVENTS_LOST, MAX_CHANNEL_BYTES, MAX_EVENTS, type EventEntry, type LoggedEvent } from "./event-log.js";
import { floorOf, isBefore, placeAfter } from "./event-id.js";

/** An event as it was appended: nobody who reads it changes it for others. */
interface Kept {
  readonly id: string;
  readonly text: string;
  readonly bytes: number;
}

/** Somebody who follows: an id, and since there is an event, which one is the next, counted from the channel's beginning. */
export interface Listener {
  readonly after: string | null;
  next?: number | undefined;
}

/** Keeps events, and wakes who waits for them. */
export class Channel {
  /** When somebody last appended, in milliseconds. */
  usedAt: number;
  isEnded = false;
  /** Bytes of what is kept. */
  bytes = 0;
  readonly #entries: Kept[] = [];
  readonly #waiting = new Set<() => void>();
  #followers = 0;
  /** Events that went, and an id behind them all. */
  #gone = 0;
  #floor: string | null = null;

  constructor(now: number) {
    this.usedAt = now;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get isFollowed(): boolean {
    return this.#followers > 0;
  }

  append(id: string, text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#floor ??= floorOf(id);
    this.#entries.push({ id, text, bytes });
    this.bytes += bytes;
    while (this.#entries.length > MAX_EVENTS || (this.bytes > MAX_CHANNEL_BYTES && this.#entries.length > 1))
      this.#drop(1);
    this.#wake();
  }

  /** Forgets what is kept: who did not hear it is told that it is lost. */
  clear(): void {
    this.#drop(this.#entries.length);
    this.#wake();
  }

  /** The next event for a listener, or what is said in the place of those that are lost; undefined where there is none yet. */
  take(listener: Listener): EventEntry | undefined {
    const next = (listener.next ??= this.#begin(listener.after));
    if (next === undefined) return undefined;
    if (next < this.#gone) {
      listener.next = this.#gone;
      return { id: this.#floor ?? "0-0", event: EVENTS_LOST };
    }
    const entry = this.#entries[next - this.#gone];
    if (entry === undefined) return undefined;
    listener.next = next + 1;
    return { id: entry.id, event: JSON.parse(entry.text) as LoggedEvent };
  }

  enter(): void {
    this.#followers += 1;
  }

  leave(): void {
    this.#followers -= 1;
  }

  /** Until something is there, or the channel is ended, or the signal is aborted, which it must not be yet. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        forget();
        resolve();
      };
      this.#waiting.add(wake);
      const forget = onAbort(signal, wake);
    });
  }

  end(): void {
    this.isEnded = true;
    this.#wake();
  }

  /** Where a listener begins: below what is kept, where something is lost to him; undefined while there is nothing. */
  #begin(after: string | null): number | undefined {
    if (this.#floor === null) return undefined;
    const place = placeAfter(after);
    if (place === null) return 0;
    if (isBefore(place, this.#floor)) return -1;
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(place, this.#entries[middle]?.id ?? place)) high = middle;
      else low = middle + 1;
    }
    return this.#gone + low;
  }

  #drop(count: number): void {
    for (const { id, bytes } of this.#entries.splice(0, count)) {
      this.bytes -= bytes;
      this.#floor = id;
      this.#gone += 1;
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
