/**
 * Where values stand in JSON text. Nothing is parsed into objects: numbers of any length, the order of keys and keys that occur
 * twice stay as they are, and time is linear for any input, also for what is no JSON.
 * @module
 */

const QUOTE = 34;
const BACKSLASH = 92;
/** Shorter containers are gone through again when they are asked for. */
const LONG = 1_000;
/** Ends of deeper containers are not noted. */
const MOST_NOTED = 64;
const SCALAR = /[^\s,:[\]{}"]+/y;

/** The place behind white space. */
export function skipSpace(text: string, at: number): number {
  let place = at;
  for (;;) {
    const unit = text.charCodeAt(place);
    if (unit !== 32 && unit !== 10 && unit !== 13 && unit !== 9) return place;
    place += 1;
  }
}

/** The place behind the string that begins at `at`; -1 when it has no end. */
export function endOfString(text: string, at: number): number {
  let quote = at;
  for (;;) {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) return -1;
    let before = quote;
    while (before > at + 1 && text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
}

/** Ends of long containers by where they begin, so that a text is gone through once and not once for each level. */
export type Ends = Map<number, number>;

/** The place behind the value that begins at `at`; -1 when it has no end or is none. `ends` is filled, or asked. */
export function endOfValue(text: string, at: number, ends?: Ends): number {
  const first = text.charAt(at);
  if (first === '"') return endOfString(text, at);
  if (first === "{" || first === "[") return ends?.get(at) ?? endOfContainer(text, at, ends);
  SCALAR.lastIndex = at;
  return SCALAR.test(text) ? SCALAR.lastIndex : -1;
}

/** What a string in JSON source says. Broken escapes stay as they are written. */
export function decoded(source: string): string {
  try {
    const value: unknown = JSON.parse(source);
    return typeof value === "string" ? value : source;
  } catch {
    return source.replace(/^"|"$/g, "");
  }
}

/** Places in what a string says, in order, as places in its source, which begins at `begin` of `text`. */
export function sourcePlaces(text: string, begin: number, places: readonly number[]): number[] {
  let at = begin + 1;
  let said = 0;
  return places.map((place) => {
    while (said < place && at < text.length) {
      const escape = text.charCodeAt(at) === BACKSLASH;
      at += escape ? (text.charAt(at + 1) === "u" ? 6 : 2) : 1;
      said += 1;
    }
    return at;
  });
}

function endOfContainer(text: string, at: number, ends?: Ends): number {
  const open: number[] = [];
  let depth = 0;
  for (let place = at; place < text.length; place += 1) {
    const unit = text.charCodeAt(place);
    if (unit === QUOTE) {
      place = endOfString(text, place) - 1;
      if (place < 0) return -1;
    } else if (unit === 123 || unit === 91) {
      if (depth < MOST_NOTED) open[depth] = place;
      depth += 1;
    } else if (unit === 125 || unit === 93) {
      depth -= 1;
      const begin = open[depth] ?? place;
      if (depth < MOST_NOTED && place - begin >= LONG) ends?.set(begin, place + 1);
      if (depth === 0) return place + 1;
    }
  }
  return -1;
}
