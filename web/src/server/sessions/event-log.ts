/**
 * Events in channels, for clients that listen or come back. Refs and sizes, never bytes.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { isEventId } from "../http/sse.js";

/** An event, as JSON. */
export interface LoggedEvent {
  /** The kind of event. */
  readonly kind: string;
}

/** An event and its id. */
export interface EventEntry {
  /** `{milliseconds}-{number}`, greater for later events. */
  readonly id: string;
  /** The event as it was appended. */
  readonly event: LoggedEvent;
}

/** Stands for events that are no longer kept. Clients have to fetch again what they need. */
export const EVENTS_LOST = { kind: "events_lost" } as const;

/** Most events of a channel. Beyond that the oldest are dropped. */
export const MAX_EVENTS = 1000;

/** Most bytes of JSON of one event. */
export const MAX_EVENT_BYTES = 256 * 1024;

/** Most bytes of JSON of a channel, not counting the last event. */
export const MAX_CHANNEL_BYTES = 4 * 1024 * 1024;

/** Seconds until a channel expires that is not appended to or followed. */
export const CHANNEL_SECONDS = 24 * 60 * 60;

/** Seconds for which an ended channel is remembered. */
export const ENDED_SECONDS = 10 * 60;

/** Most channels. Beyond that those with the oldest last event are dropped. */
export const MAX_CHANNELS = 100_000;

/** Whether an event is small enough for a log. */
export function fits(event: LoggedEvent): boolean {
  return Buffer.byteLength(JSON.stringify(event)) <= MAX_EVENT_BYTES;
}

/** The JSON text of an event. Throws SluiceError E_TOO_LARGE. */
export function writeEventText(event: LoggedEvent): string {
  const text = JSON.stringify(event);
  if (Buffer.byteLength(text) <= MAX_EVENT_BYTES) return text;
  throw new SluiceError(
    "E_TOO_LARGE",
    `An event has more than ${MAX_EVENT_BYTES} bytes: store large content as an artifact and send its reference.`,
  );
}

/**
 * Stores events in channels, for all processes that share it. A channel is named by 1 to 256 characters. Anyone who
 * knows the name can read it: check access before.
 *
 * All methods throw SluiceError E_STORE_READ or E_STORE_WRITE; `append` throws E_TOO_LARGE for an event of more than
 * 256 KiB.
 */
export interface EventLog {
  /**
   * Appends an event to a channel, wakes its followers in every process, and returns the event's id. Events for a
   * channel that ended in the last ten minutes are dropped: their sender did not know yet.
   */
  append(channel: string, event: LoggedEvent): Promise<string>;
  /**
   * The stored events after an id, or all if it is null, and then each new one, until the signal. If some events
   * after the id are no longer stored, `{"kind": "events_lost"}` comes first, with the id of the last one that was
   * dropped. Ends after the last event if the channel is ended, and at once if it ended in the last ten minutes. A
   * slow follower does not delay others.
   *
   * @param options `after`: the id; `signal`: ends following without an error.
   */
  follow(
    channel: string,
    options: { readonly after: string | null; readonly signal: AbortSignal },
  ): AsyncIterable<EventEntry>;
  /** The last event of a channel, or null if there is none, or the channel is ended. */
  latest(channel: string): Promise<EventEntry | null>;
  /** Whether a channel exists: something was appended, and it was not ended since. */
  has(channel: string): Promise<boolean>;
  /** Ends a channel and deletes it. Its followers, in every process, get the events from before and then end. */
  end(channel: string): Promise<void>;
}

/** Milliseconds for reading a channel to its end. */
const DRAIN_TIMEOUT = 5000;

/** The stored events of a channel, which is ended after `last`. Throws SluiceError E_STORE_…. */
export async function drainChannel(
  events: EventLog,
  channel: string,
  last: LoggedEvent,
): Promise<readonly LoggedEvent[]> {
  if (!(await events.has(channel))) return [];
  const end = await events.append(channel, last);
  const found: LoggedEvent[] = [];
  const signal = AbortSignal.timeout(DRAIN_TIMEOUT);
  for await (const { id, event } of events.follow(channel, { after: null, signal })) {
    found.push(event);
    if (id === end) break;
  }
  await events.end(channel);
  return found;
}

/** The greatest number in an id, as in Redis. */
const LAST_NUMBER = 2n ** 64n - 1n;

/** Whether the first event id is before the second. */
export function isBefore(left: string, right: string): boolean {
  const [[a, b], [c, d]] = [parseEventId(left), parseEventId(right)];
  return a < c || (a === c && b < d);
}

/** An id just before a channel's first event. */
export function toFloor(first: string): string {
  return `${parseEventId(first)[0] - 1n}-${LAST_NUMBER}`;
}

/**
 * The position of a follower who has seen everything up to an id. Null for no id, and for one that no event can have.
 */
export function placeAfter(after: string | null): string | null {
  if (after === null || !isEventId(after)) return null;
  const [at, number] = parseEventId(after);
  if (at === 0n) return null;
  // Redis finds nothing after the very last id.
  return at < LAST_NUMBER
    ? `${at}-${number < LAST_NUMBER ? number : LAST_NUMBER}`
    : `${LAST_NUMBER}-${LAST_NUMBER - 1n}`;
}

function parseEventId(id: string): readonly [bigint, bigint] {
  const [at = "0", number = "0"] = id.split("-");
  return [BigInt(at), BigInt(number)];
}
