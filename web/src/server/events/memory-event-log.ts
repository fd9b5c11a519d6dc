/**
 * Events of one process.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import {
  CHANNEL_SECONDS,
  ENDED_SECONDS,
  MAX_CHANNELS,
  textOf,
  type EventEntry,
  type EventLog,
  type LoggedEvent,
} from "./event-log.js";
import { Channel, type Listener } from "./memory-channel.js";

/** Bounds of a log in memory. */
export interface MemoryEventLogOptions {
  /** {@link MAX_CHANNELS} when left out. */
  readonly maxChannels?: number;
  /** Bytes of JSON of all channels, the one appended to last apart; 256 MiB when left out. */
  readonly maxBytes?: number;
  /** `Date.now` when left out. */
  readonly clock?: Clock;
}

const MAX_BYTES = 256 * 1024 * 1024;

/** Keeps events as long as the object lives. */
export class MemoryEventLog implements EventLog {
  /** Those that are kept or followed; to which was appended last stand last. */
  readonly #channels = new Map<string, Channel>();
  /** Until when it is known of a channel that it was ended. */
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
    const text = textOf(event);
    const id = this.#nextId();
    if (this.#wasEnded(name)) return id;
    const channel = this.#known(name) ?? new Channel(this.#clock());
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
    const channel = this.#known(name) ?? new Channel(this.#clock());
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
      // Nothing is left of what was only followed.
      if (channel.isEmpty && !channel.isFollowed) this.#forget(name, channel);
    }
  }

  async has(name: string): Promise<boolean> {
    const channel = this.#known(name);
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

  #known(name: string): Channel | undefined {
    const channel = this.#channels.get(name);
    if (channel === undefined || channel.isFollowed || channel.usedAt >= this.#oldest()) return channel;
    this.#forget(name, channel);
    return undefined;
  }

  /** Times never go back, whatever the clock does. */
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
        // Not looked at again with every event of others.
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
