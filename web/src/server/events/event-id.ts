/**
 * Where an event is in its channel.
 * @module
 */
import { isEventId } from "./event-log.js";

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
