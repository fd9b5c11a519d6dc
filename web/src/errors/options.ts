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
/** For objects that are no lists. */
export const OBJECT: OptionTest = [
  "an object",
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
];

/** Characters that are told of an option that there is not. */
const MAX_SHOWN = 64;

/**
 * Checks options, of which all may be left out.
 *
 * @param owner whose they are, as a sentence says it: `a ToolNode`.
 * @param wrong makes the error of a sentence about the option of that name.
 */
export function checkOptions<T extends object>(
  options: Partial<T>,
  tests: OptionTests<T>,
  owner: string,
  wrong: (sentence: string, name: string) => Error,
): void {
  if (!OBJECT[1](options)) throw wrong(`The options of ${owner} must be an object.`, "options");
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(tests, name)) {
      const shown = name.slice(0, MAX_SHOWN);
      const remedy = remedyOf(shown, Object.keys(tests));
      throw wrong(`${JSON.stringify(shown)} is no option of ${owner}: ${remedy}`, shown);
    }
    const [expected, holds] = tests[name as keyof T];
    if (value !== undefined && !holds(value)) {
      throw wrong(`The option ${name} of ${owner} must be ${expected}.`, name);
    }
  }
}

function remedyOf(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? `there are ${known.join(", ")}.` : `did you mean ${meant}?`;
}
