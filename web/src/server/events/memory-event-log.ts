/**
 * Events of one process.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { onAbort } from "../../core/abort.js";
import {
  CHANNEL_SECONDS,
  EVENTS_LOST,
  MAX_CHANNEL_BYTES,
  MAX_EVENT_BYTES,
  MAX_EVENTS,
  type EventEntry,
  type EventLog,
  type LoggedEvent,
} from "./event-log.js";

/** An entry, and what it weighs. */
interface Kept extends EventEntry {
  readonly bytes: number;
}

/** Keeps events as long as the object lives. */
export class MemoryEventLog implements EventLog {
  readonly #channels = new Map<string, Channel>();

  async append(name: string, event: LoggedEvent): Promise<string> {
    const bytes = Buffer.byteLength(JSON.stringify(event));
    if (bytes > MAX_EVENT_BYTES) throw tooLarge();
    return this.#channel(name).append(structuredClone(event), bytes);
  }

  async *follow(
    name: string,
    { after, signal }: { readonly after: string | null; readonly signal: AbortSignal },
  ): AsyncIterable<EventEntry> {
    const channel = this.#channel(name);
    let last = after;
    while (!signal.aborted) {
      const [next] = channel.behind(last);
      if (next !== undefined) {
        last = next.id;
        yield next;
      } else if (channel.isEnded) return;
      else await channel.changed(signal);
    }
  }

  async has(name: string): Promise<boolean> {
    return (this.#channels.get(name)?.size ?? 0) > 0;
  }

  async end(name: string): Promise<void> {
    const channel = this.#channels.get(name);
    this.#channels.delete(name);
    channel?.end();
  }

  #channel(name: string): Channel {
    const known = this.#channels.get(name);
    const channel = known ?? new Channel();
    // Those that were used last stand last.
    this.#channels.delete(name);
    this.#channels.set(name, channel);
    if (known === undefined) this.#forgetOld();
    return channel;
  }

  #forgetOld(): void {
    const before = Date.now() - CHANNEL_SECONDS * 1000;
    for (const [name, channel] of this.#channels) {
      if (channel.usedAt >= before) return;
      if (!channel.isFollowed) this.#channels.delete(name);
    }
  }
}

class Channel {
  usedAt = Date.now();
  isEnded = false;
  readonly #entries: Kept[] = [];
  readonly #waiting = new Set<() => void>();
  #bytes = 0;
  #last: readonly [at: number, number: number] = [0, 0];
  /** Of the last one that went. */
  #gone: string | null = null;

  get size(): number {
    return this.#entries.length;
  }

  get isFollowed(): boolean {
    return this.#waiting.size > 0;
  }

  append(event: LoggedEvent, bytes: number): string {
    const [at, number] = this.#last;
    const now = (this.usedAt = Date.now());
    this.#last = now > at ? [now, 0] : [at, number + 1];
    const id = this.#last.join("-");
    this.#entries.push({ id, event, bytes });
    this.#bytes += bytes;
    while (this.#entries.length > MAX_EVENTS || (this.#bytes > MAX_CHANNEL_BYTES && this.#entries.length > 1)) {
      const oldest = this.#entries.shift();
      this.#bytes -= oldest?.bytes ?? 0;
      this.#gone = oldest?.id ?? null;
    }
    this.#wake();
    return id;
  }

  /** The next entry behind an id, or what is said in its place. */
  *behind(after: string | null): Iterable<EventEntry> {
    if (this.#gone !== null && (after === null || isBefore(after, this.#gone))) {
      yield { id: this.#gone, event: EVENTS_LOST };
      return;
    }
    const next = after === null ? this.#entries[0] : this.#entries.find(({ id }) => isBefore(after, id));
    if (next !== undefined) yield { id: next.id, event: next.event };
  }

  async changed(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
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

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

function isBefore(left: string, right: string): boolean {
  const [[a, b], [c, d]] = [numbersOf(left), numbersOf(right)];
  return a < c || (a === c && b < d);
}

function numbersOf(id: string): readonly [bigint, bigint] {
  const [at = "0", number = "0"] = id.split("-");
  return [BigInt(at), BigInt(number)];
}

/** E_TOO_LARGE, of an event. */
export function tooLarge(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    `An event has more than ${MAX_EVENT_BYTES} bytes: put what is large into an artifact, and tell its reference.`,
  );
}
