/**
 * What happened, for whoever listens now or comes back: refs and sizes, never bytes.
 * @module
 */
import { SluiceError } from "../../errors/error.js";

/** Something that happened. JSON. */
export interface LoggedEvent {
  /** What it was. */
  readonly kind: string;
}

/** An event in its place. */
export interface EventEntry {
  /** `{milliseconds}-{number}`: later events have greater ones. */
  readonly id: string;
  /** As it was appended. */
  readonly event: LoggedEvent;
}

/** Told in the place of events that are no longer kept: whoever hears it looks anew at what it wants to know. */
export const EVENTS_LOST = { kind: "events_lost" } as const;

/** Events of one channel that are kept; the oldest make room. */
export const MAX_EVENTS = 1000;

/** Bytes of JSON that one event may have. */
export const MAX_EVENT_BYTES = 256 * 1024;

/** Bytes of JSON that are kept of one channel, the last event apart. */
export const MAX_CHANNEL_BYTES = 4 * 1024 * 1024;

/** Seconds that a channel is kept in which nothing happens, unless somebody follows it. */
export const CHANNEL_SECONDS = 24 * 60 * 60;

/** Seconds that it is known that a channel was ended. */
export const ENDED_SECONDS = 10 * 60;

/** Channels that are kept; those to which nothing was appended for longest make room. */
export const MAX_CHANNELS = 100_000;

/** A form that both memory and Redis write: 1 to 20 digits each. */
export function isEventId(text: string): boolean {
  return /^\d{1,20}-\d{1,20}$/.test(text);
}

/** Text of an event. Throws SluiceError E_TOO_LARGE. */
export function textOf(event: LoggedEvent): string {
  const text = JSON.stringify(event);
  if (Buffer.byteLength(text) <= MAX_EVENT_BYTES) return text;
  throw new SluiceError(
    "E_TOO_LARGE",
    `An event has more than ${MAX_EVENT_BYTES} bytes: put what is large into an artifact, and tell its reference.`,
  );
}

/**
 * Keeps events by channels, over all processes that share it. Channels are strings of 1 to 256 characters; whoever knows
 * one reads it: whose it is, is the caller's to check.
 *
 * All methods throw SluiceError E_STORE_READ or E_STORE_WRITE; `append` E_TOO_LARGE for an event of more than
 * 256 KiB.
 */
export interface EventLog {
  /**
   * Keeps an event behind those of its channel, and tells whoever listens, in every process. Gives its id. What is appended
   * to a channel that was ended within ten minutes is lost: whoever worked for it did not know yet.
   */
  append(channel: string, event: LoggedEvent): Promise<string>;
  /**
   * The events behind an id, all that are kept where it is null, and then each as it comes, until the signal. Where some
   * behind the id are no longer kept, `{"kind": "events_lost"}` comes first, with the id of the last one that went, or one before
   * all that are kept. Ends behind the last event when the channel is ended; at once when it was, within
   * ten minutes. A listener that is slow is held up alone, and holds up nobody.
   *
   * @param options `after`: the id; `signal`: ends listening, without an error.
   */
  follow(
    channel: string,
    options: { readonly after: string | null; readonly signal: AbortSignal },
  ): AsyncIterable<EventEntry>;
  /** Whether there is a channel of that name: something was appended, and it was not ended since. */
  has(channel: string): Promise<boolean>;
  /** Ends a channel, and forgets it. Whoever follows it, in every process, hears what was appended before, and comes to an end. */
  end(channel: string): Promise<void>;
}

/** The greatest number that an id may have, in Redis too. */
const LAST_NUMBER = 2n ** 64n - 1n;

/** Whether one event was before another, by their ids. */
export function isBefore(left: string, right: string): boolean {
  const [[a, b], [c, d]] = [numbersOf(left), numbersOf(right)];
  return a < c || (a === c && b < d);
}

/** An id behind which is everything of a channel whose first event this is, and behind nothing that was ever before it. */
export function floorOf(first: string): string {
  return `${numbersOf(first)[0] - 1n}-${LAST_NUMBER}`;
}

/** Where somebody is who has seen everything up to an id; null, as for whoever saw nothing, for none that an event can have. */
export function placeAfter(after: string | null): string | null {
  if (after === null || !isEventId(after)) return null;
  const [at, number] = numbersOf(after);
  if (at === 0n) return null;
  // The last two ids of all: behind the very last one Redis looks for nothing.
  return at < LAST_NUMBER
    ? `${at}-${number < LAST_NUMBER ? number : LAST_NUMBER}`
    : `${LAST_NUMBER}-${LAST_NUMBER - 1n}`;
}

function numbersOf(id: string): readonly [bigint, bigint] {
  const [at = "0", number = "0"] = id.split("-");
  return [BigInt(at), BigInt(number)];
}
