/**
 * What callers hand to a store, checked before anything is made of it. JavaScript would take a string for no bytes at
 * all, and twice as wide numbers for others.
 * @module
 */
import { isBytes, noBytes, wrong } from "../core/call.js";

/**
 * The bytes that were given.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for anything but a Uint8Array, with `name` as its path.
 */
export function bytesOf(data: unknown, name: "data" | "chunk"): Uint8Array {
  if (isBytes(data)) return data;
  throw noBytes(name);
}

/**
 * A text as UTF-8.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for anything but a string.
 */
export function encoded(text: unknown): Uint8Array {
  if (typeof text === "string") return new TextEncoder().encode(text);
  throw wrong("text", "a string; bytes are stored by putBytes");
}

/**
 * The object that was given.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for anything else, null included, with `name` as its path.
 */
export function objectOf<T extends object>(value: T, name: string): T {
  if (typeof value === "object" && (value as unknown) !== null) return value;
  throw wrong(name, "an object, or left out");
}
