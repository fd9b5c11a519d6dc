/**
 * Options that callers give, held against a table of what there is.
 * @module
 */
import { nearest } from "./nearest.js";

/** What an option must be, for a sentence, and whether it is. */
export type OptionTest = readonly [expected: string, holds: (value: unknown) => boolean];

/** A test for each option. */
export type OptionTests<T> = Readonly<Record<keyof T, OptionTest>>;

/** For what is tested where it is used. */
export const ANYTHING: OptionTest = ["", () => true];
/** For listeners and the like. */
export const FUNCTION: OptionTest = ["a function", (value) => typeof value === "function"];
/** For texts, the empty one too. */
export const TEXT: OptionTest = ["a text", (value) => typeof value === "string"];
/** For how many of something there may be. */
export const COUNT: OptionTest = [
  "a whole number above 0",
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
];
/** For objects that are no lists. */
export const OBJECT: OptionTest = [
  "an object",
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
];

/** Characters that are told of an option that there is not. */
const MAX_SHOWN = 64;

/**
 * Checks options, of which all may be left out but those that are needed.
 *
 * @param owner whose they are, as a sentence says it: `a ToolNode`.
 * @param wrong makes the error of a sentence about the option of that name.
 * @param needed those that may not be left out.
 */
export function checkOptions<T extends object>(
  options: Partial<T>,
  tests: OptionTests<T>,
  owner: string,
  wrong: (sentence: string, name: string) => Error,
  needed: readonly (keyof T & string)[] = [],
): void {
  const unfit = (name: string): Error =>
    wrong(`The option ${name} of ${owner} must be ${tests[name as keyof T][0]}.`, name);
  if (!OBJECT[1](options)) throw wrong(`The options of ${owner} must be an object.`, "options");
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(tests, name)) {
      const shown = name.slice(0, MAX_SHOWN);
      const remedy = remedyOf(shown, Object.keys(tests));
      throw wrong(`${JSON.stringify(shown)} is no option of ${owner}: ${remedy}`, shown);
    }
    if (value !== undefined && !tests[name as keyof T][1](value)) throw unfit(name);
  }
  for (const name of needed) if (options[name] === undefined) throw unfit(name);
}

function remedyOf(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? `there are ${known.join(", ")}.` : `did you mean ${meant}?`;
}
