/**
 * What callers hand in, checked before anything is done with it.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** Whether a value is a Uint8Array, of this realm or another. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** The error for a value that should have been bytes. */
export function noBytes(name: string): SluiceError {
  return wrong(name, "a Uint8Array; text is turned into one by new TextEncoder().encode(text)");
}

/** E_INVALID_ARGUMENT: what it is about, and what it must be. */
export function wrong(name: string, expected: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${name} must be ${expected}.`, { path: name });
}
