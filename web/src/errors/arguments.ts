/**
 * What callers hand in, checked before anything is done with it.
 * @module
 */
import { SluiceError } from "./error.js";

/** Whether a value is a Uint8Array, of this realm or another. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** The error for a value that should have been bytes. */
export function noBytes(name: string): SluiceError {
  return wrong(name, "a Uint8Array; for text, use new TextEncoder().encode(text)");
}

/** E_INVALID_ARGUMENT: what it is about, and what it must be. */
export function wrong(name: string, expected: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${name} must be ${expected}.`, { path: name });
}

/** `a`, `a or b`, `a, b or c`: the words of which one is wanted. */
export function alternatives(words: readonly string[]): string {
  const others = words.slice(0, -1).join(", ");
  const last = words.at(-1) ?? "";
  return others === "" ? last : `${others} or ${last}`;
}

/** What an option must be, for a sentence, and whether it is. */
export type OptionTest = readonly [expected: string, holds: (value: unknown) => boolean];

/** A test for each option. */
export type OptionTests<T> = Readonly<Record<keyof T, OptionTest>>;

/** For what is tested where it is used. */
export const ANYTHING: OptionTest = ["", () => true];
/** For listeners and the like. */
export const FUNCTION: OptionTest = ["a function", (value) => typeof value === "function"];
/** For texts, the empty one too. */
export const TEXT: OptionTest = ["a string", (value) => typeof value === "string"];
/** For how many of something there may be. */
export const COUNT: OptionTest = [
  "a whole number above 0",
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
];
/** Whether a value is an object and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Gives back an object.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for anything else, null included, with `name` as its path.
 */
export function checkObject<T extends object>(value: T, name: string): T {
  if (typeof value === "object" && (value as unknown) !== null) return value;
  throw wrong(name, "an object, or left out");
}

/** The default namespace of artifacts. */
export const DEFAULT_NAMESPACE = "artifact";

/** The form of a namespace. */
export const NAMESPACE: RegExp = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Checks a namespace. Defaults to `artifact`.
 *
 * @throws SluiceError E_INVALID_ARGUMENT if it breaks the rule, which the message names.
 */
export function checkNamespace(namespace: string = DEFAULT_NAMESPACE): string {
  if (typeof namespace === "string" && NAMESPACE.test(namespace)) return namespace;
  throw new SluiceError(
    "E_INVALID_ARGUMENT",
    "A namespace is 1 to 64 characters, each an ASCII letter, a digit, '-', '_' or '.'.",
    { path: "namespace" },
  );
}

/** For objects that are no lists. */
export const OBJECT: OptionTest = ["an object", isObject];

/** Longest name of an unknown option in an error. */
const MAX_SHOWN = 64;

/**
 * Checks options, of which all may be left out but those that are needed.
 *
 * @param owner whose they are, as a sentence says it: `a ToolNode`.
 * @param failure makes the error of a sentence about the option of that name.
 * @param needed those that may not be left out.
 */
export function checkOptions<T extends object>(
  options: Partial<T>,
  tests: OptionTests<T>,
  owner: string,
  failure: (sentence: string, name: string) => Error,
  needed: readonly (keyof T & string)[] = [],
): void {
  const unfit = (name: string): Error =>
    failure(`The option ${name} of ${owner} must be ${tests[name as keyof T][0]}.`, name);
  checkOptionNames(options as T, owner, Object.keys(tests) as (keyof T & string)[], failure);
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !tests[name as keyof T][1](value)) throw unfit(name);
  }
  for (const name of needed) if (options[name] === undefined) throw unfit(name);
}

/**
 * Gives options back if they are an object with none but these names. For options whose values are checked where they are used.
 *
 * @param owner whose they are, as a sentence says it: `a MemoryArtifactStore`.
 * @param failure makes the error of a sentence about the option of that name: E_INVALID_ARGUMENT with it as the path when left out.
 */
export function checkOptionNames<T extends object>(
  options: T,
  owner: string,
  names: readonly (keyof T & string)[],
  failure: (sentence: string, name: string) => Error = invalid,
): T {
  if (!isObject(options)) throw failure(`The options of ${owner} must be an object.`, "options");
  const unknown = Object.keys(options).find((name) => !names.includes(name as keyof T & string));
  if (unknown === undefined) return options;
  const shown = unknown.slice(0, MAX_SHOWN);
  throw failure(`${JSON.stringify(shown)} is not an option of ${owner}; ${suggestRemedy(shown, names)}`, shown);
}

function invalid(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

function suggestRemedy(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? `the options are ${known.join(", ")}.` : `did you mean ${meant}?`;
}

/**
 * The candidate nearest to `word`: one that begins with it, or else one within a third of its length in
 * edits (a swap of neighbours is one edit). Undefined when none is near.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const compared = word.slice(0, 64);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const begins = word.length > 1 && candidate.startsWith(word);
    // It takes an edit for each letter that one of them is longer by.
    if (!begins && Math.abs(compared.length - candidate.length) >= bestDistance) continue;
    const distance = begins ? 0.5 : edits(compared, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Edits between two words: insertion, removal, replacement, swap of neighbours. */
function edits(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, at(beforeLast, j - 2) + 1);
      }
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
