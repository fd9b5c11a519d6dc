/**
 * What callers hand in, checked before anything is done with it.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { StandIn } from "../artifacts/unstored.js";
import { SluiceError } from "../errors/error.js";
import type { TransformOptions } from "./sluice.js";
import type { OnStoreFailure } from "./store-access.js";

type Test = readonly [expected: string, holds: (value: unknown) => boolean];

const OPTIONS: Readonly<Record<Exclude<keyof TransformOptions, "namespace" | "scope">, Test>> = {
  tool: ["a string", (value) => typeof value === "string"],
  dialect: ['"observation" or "mcp"', (value) => value === "observation" || value === "mcp"],
  clientShowsImages: ["true or false", (value) => typeof value === "boolean"],
  transformed: ["true or false", (value) => typeof value === "boolean"],
  keepOriginal: ["a number of bytes", (value) => Number.isSafeInteger(value) && (value as number) >= 0],
  readResource: ["a function", (value) => typeof value === "function"],
  signal: ["an AbortSignal", (value) => value instanceof AbortSignal],
};
const TESTS = Object.entries(OPTIONS);
/** No text is longer: the core's memory has 32 bits. */
const MOST_CHARS = 2 ** 31;
const ON_FAILURE: readonly OnStoreFailure[] = ["answer", "throw"];

/** Throws E_INVALID_ARGUMENT with the path of the option that is wrong, whether or not anything will be stored. */
export function checkCall(options: TransformOptions, standIn: StandIn): void {
  checkObject(options, "options");
  const { namespace, scope } = options;
  for (const [name, [expected, holds]] of TESTS) {
    const value = options[name as keyof TransformOptions];
    if (value !== undefined && !holds(value)) throw wrong(name, expected);
  }
  if (namespace === undefined && scope === undefined) return;
  standIn.check({ ...(namespace !== undefined && { namespace }), ...(scope !== undefined && { scope }) });
}

/** The same for what `restore` is told. */
export function checkRestore(options: { readonly scope?: ArtifactScope }, standIn: StandIn): void {
  checkObject(options, "options");
  if (options.scope !== undefined) standIn.check({ scope: options.scope });
}

/** Whether a value is a Uint8Array, of this realm or another. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** The error for a value that should have been bytes. */
export function noBytes(name: string): SluiceError {
  return wrong(name, "a Uint8Array; text is turned into one by new TextEncoder().encode(text)");
}

/** Throws E_INVALID_ARGUMENT for a way to fail that is none. */
export function checkOnFailure(way: unknown): void {
  const ways: readonly unknown[] = ON_FAILURE;
  if (!ways.includes(way)) throw wrong("onStoreFailure", ON_FAILURE.map((known) => `"${known}"`).join(" or "));
}

/** Throws E_INVALID_ARGUMENT for a number of characters that is none; undefined is that which is configured. */
export function checkMaxChars(maxChars: unknown): void {
  if (maxChars === undefined) return;
  const holds = Number.isInteger(maxChars) && (maxChars as number) > 0 && (maxChars as number) <= MOST_CHARS;
  if (!holds) throw wrong("maxChars", `a whole number from 1 to ${MOST_CHARS}`);
}

function checkObject(value: unknown, name: string): void {
  if (typeof value !== "object" || value === null) throw wrong(name, "an object");
}

/** E_INVALID_ARGUMENT: what it is about, and what it must be. */
export function wrong(name: string, expected: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${name} must be ${expected}.`, { path: name });
}
