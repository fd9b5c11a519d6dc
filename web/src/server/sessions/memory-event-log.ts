/**
 * The event log of one process, in memory.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import { onAbort } from "../../core/abort.js";
import { ReplayBuffer } from "../../http/replay-buffer.js";
import {
  CHANNEL_SECONDS,
  ENDED_SECONDS,
  EVENTS_LOST,
  toFloor,
  isBefore,
  MAX_CHANNEL_BYTES,
  MAX_CHANNELS,
  MAX_EVENTS,
  placeAfter,
  writeEventText,
  type EventEntry,
  type EventLog,
  type LoggedEvent,
} from "./event-log.js";

/** Bounds of a log in memory. */
interface MemoryEventLogOptions {
  /** @defaultValue {@link MAX_CHANNELS} */
  readonly maxChannels?: number;
  /**
   * Most bytes of JSON of all channels, not counting the one appended to last.
   * @defaultValue 256 MiB
   */
  readonly maxBytes?: number;
  /** @defaultValue `Date.now` */
  readonly clock?: Clock;
}

const MAX_BYTES = 256 * 1024 * 1024;

/** Stores events in memory. */
export class MemoryEventLog implements EventLog {
  /** Channels with events or followers, those with the newest event last. */
  readonly #channels = new Map<string, Channel>();
  /** Until when each ended channel is remembered. */
  readonly #ended = new Map<string, number>();
  readonly #maxChannels: number;
  readonly #maxBytes: number;
  readonly #clock: Clock;
  #bytes = 0;
  #last: readonly [at: number, number: number] = [0, 0];

  constructor({ maxChannels = MAX_CHANNELS, maxBytes = MAX_BYTES, clock = Date.now }: MemoryEventLogOptions = {}) {
    this.#maxChannels = maxChannels;
    this.#maxBytes = maxBytes;
    this.#clock = clock;
  }

  async append(name: string, event: LoggedEvent): Promise<string> {
    const text = writeEventText(event);
    const id = this.#nextId();
    if (this.#wasEnded(name)) return id;
    const channel = this.#findKnown(name) ?? new Channel(this.#clock());
    this.#use(name, channel);
    const before = channel.bytes;
    channel.append(id, text);
    this.#bytes += channel.bytes - before;
    this.#makeRoom(channel);
    return id;
  }

  async *follow(
    name: string,
    { after, signal }: { readonly after: string | null; readonly signal: AbortSignal },
  ): AsyncIterable<EventEntry> {
    if (this.#wasEnded(name)) return;
    const channel = this.#findKnown(name) ?? new Channel(this.#clock());
    this.#channels.set(name, channel);
    const listener: Listener = { after };
    channel.enter();
    try {
      while (!signal.aborted) {
        const entry = channel.take(listener);
        if (entry !== undefined) yield entry;
        else if (channel.isEnded) return;
        else await channel.changed(signal);
      }
    } finally {
      channel.leave();
      // A channel without events goes with its last follower.
      if (channel.isEmpty && !channel.isFollowed) this.#forget(name, channel);
    }
  }

  async latest(name: string): Promise<EventEntry | null> {
    return this.#findKnown(name)?.latest ?? null;
  }

  async has(name: string): Promise<boolean> {
    const channel = this.#findKnown(name);
    return channel !== undefined && !channel.isEmpty;
  }

  async end(name: string): Promise<void> {
    const now = this.#clock();
    for (const [each, until] of this.#ended) {
      if (until > now && this.#ended.size < this.#maxChannels) break;
      this.#ended.delete(each);
    }
    this.#ended.delete(name);
    this.#ended.set(name, now + ENDED_SECONDS * 1000);
    const channel = this.#channels.get(name);
    if (channel === undefined) return;
    this.#forget(name, channel);
    channel.end();
  }

  #findKnown(name: string): Channel | undefined {
    const channel = this.#channels.get(name);
    if (channel === undefined || channel.isFollowed || channel.usedAt >= this.#oldest()) return channel;
    this.#forget(name, channel);
    return undefined;
  }

  /** The next id. Times never go back, whatever the clock does. */
  #nextId(): string {
    const [at, number] = this.#last;
    const now = this.#clock();
    this.#last = now > at ? [now, 0] : [at, number + 1];
    return this.#last.join("-");
  }

  #wasEnded(name: string): boolean {
    return (this.#ended.get(name) ?? 0) > this.#clock();
  }

  #oldest(): number {
    return this.#clock() - CHANNEL_SECONDS * 1000;
  }

  #use(name: string, channel: Channel): void {
    channel.usedAt = this.#clock();
    this.#channels.delete(name);
    this.#channels.set(name, channel);
  }

  #makeRoom(newest: Channel): void {
    const oldest = this.#oldest();
    for (const [name, channel] of this.#channels) {
      const isFull = this.#channels.size > this.#maxChannels || this.#bytes > this.#maxBytes;
      if (channel === newest || (!isFull && channel.usedAt >= oldest)) return;
      if (!channel.isFollowed) this.#forget(name, channel);
      else {
        if (isFull) this.#clear(channel);
        // Moves it to the end, so that it is not looked at with every event.
        this.#use(name, channel);
      }
    }
  }

  #forget(name: string, channel: Channel): void {
    if (this.#channels.get(name) !== channel) return;
    this.#channels.delete(name);
    this.#bytes -= channel.bytes;
  }

  #clear(channel: Channel): void {
    this.#bytes -= channel.bytes;
    channel.clear();
  }
}

/** An event as text, so that no reader can change it for others. */
interface Kept {
  readonly id: string;
  readonly text: string;
  readonly bytes: number;
}

function parseKept({ id, text }: Kept): EventEntry {
  return { id, event: JSON.parse(text) as LoggedEvent };
}

/** A follower: the id that it has seen, and the number of its next event, counted from the channel's beginning. */
interface Listener {
  readonly after: string | null;
  next?: number | undefined;
}

/** The events of a channel, and its waiting followers. */
class Channel {
  /** The time of the last append, in milliseconds. */
  usedAt: number;
  isEnded = false;
  readonly #events = new ReplayBuffer<Kept>({
    maxEvents: MAX_EVENTS,
    maxBytes: MAX_CHANNEL_BYTES,
    onDrop: ({ id }) => {
      this.#floor = id;
    },
  });
  readonly #waiting = new Set<() => void>();
  #followers = 0;
  /** The id of the last event that was dropped, or an id before the first. */
  #floor: string | null = null;

  constructor(now: number) {
    this.usedAt = now;
  }

  /** Bytes of all stored events. */
  get bytes(): number {
    return this.#events.bytes;
  }

  get isEmpty(): boolean {
    return this.#events.isEmpty;
  }

  get isFollowed(): boolean {
    return this.#followers > 0;
  }

  get latest(): EventEntry | null {
    const last = this.#events.at(this.#events.end - 1);
    return last === undefined ? null : parseKept(last);
  }

  append(id: string, text: string): void {
    this.#floor ??= toFloor(id);
    this.#events.append({ id, text, bytes: Buffer.byteLength(text) });
    this.#wake();
  }

  /** Drops all events. Followers that have not seen them get {@link EVENTS_LOST}. */
  clear(): void {
    while (!this.#events.isEmpty) this.#events.drop();
    this.#wake();
  }

  /** The next event for a listener, {@link EVENTS_LOST}, or undefined if there is none yet. */
  take(listener: Listener): EventEntry | undefined {
    const next = (listener.next ??= this.#begin(listener.after));
    if (next === undefined) return undefined;
    if (next < this.#events.start) {
      listener.next = this.#events.start;
      return { id: this.#floor ?? "0-0", event: EVENTS_LOST };
    }
    const kept = this.#events.at(next);
    if (kept === undefined) return undefined;
    listener.next = next + 1;
    return parseKept(kept);
  }

  enter(): void {
    this.#followers += 1;
  }

  leave(): void {
    this.#followers -= 1;
  }

  /** Waits for an event, the end of the channel, or the signal, which must not be aborted yet. */
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

  /** Where a listener starts: -1 if it has lost events, undefined while there are none. */
  #begin(after: string | null): number | undefined {
    if (this.#floor === null) return undefined;
    const place = placeAfter(after);
    if (place === null) return 0;
    if (isBefore(place, this.#floor)) return -1;
    let [low, high] = [this.#events.start, this.#events.end];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (isBefore(place, this.#events.at(middle)?.id ?? place)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
