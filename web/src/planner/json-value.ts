/**
 * What tools tell, as JSON: an event has to survive a network and a state store.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** By their tags, so that those of other realms are found too. */
const BYTES = /^\[object (?:\w+Array|DataView|(?:Shared)?ArrayBuffer|Blob|File|ReadableStream|Response|Request)\]$/;
/** What JSON writes as an empty object. */
const COLLECTION = /^\[object (?:Weak)?(?:Map|Set)\]$/;
/** Characters of a key, and of a whole path, that an error repeats. */
const [MAX_KEY, MAX_PATH] = [64, 256];

/**
 * A copy of a value, as JSON has it: dates are texts, what has `toJSON` is what that gives, and functions are left out.
 *
 * @param path what the value is called, for errors: `value`.
 * @throws SluiceError E_INVALID_ARGUMENT with the path of what JSON has not: bytes, a BigInt, a Map or a Set, a cycle.
 */
export function jsonValue(value: unknown, path: string): unknown {
  /** From the whole to what is written now. */
  const open: { readonly value: unknown; readonly path: string }[] = [];
  // `JSON.stringify` says in which object a key is: those behind it are written.
  function checked(this: object, key: string, written: unknown): unknown {
    while (open.length > 0 && open.at(-1)?.value !== this) open.pop();
    const parent = open.at(-1)?.path;
    const place = parent === undefined ? path : within(parent, key, Array.isArray(this));
    // Buffers have a `toJSON`, which writes each byte as a number.
    for (const each of [Reflect.get(this, key) as unknown, written]) check(each, place);
    if (typeof written !== "object" || written === null) return written;
    if (open.some((outer) => outer.value === written)) throw refused(place, "holds itself: leave it out");
    open.push({ value: written, path: place });
    return written;
  }
  try {
    const text = JSON.stringify(value, checked) as string | undefined;
    return text === undefined ? null : (JSON.parse(text) as unknown);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const reason = error instanceof RangeError ? "is too deep or too long for JSON" : "cannot be written as JSON";
    throw refused(open.at(-1)?.path ?? path, reason, error);
  }
}

function check(value: unknown, path: string): void {
  const tag = Object.prototype.toString.call(value);
  if (tag === "[object BigInt]") throw refused(path, "is a BigInt, which JSON has not: write it as a string");
  if (BYTES.test(tag)) {
    throw refused(path, "is bytes, which JSON has not: store them with context.artifacts.upload, and pass the ref");
  }
  if (COLLECTION.test(tag)) throw refused(path, "is a Map or a Set, which JSON has not: make it an object or a list");
}

function within(parent: string, key: string, isList: boolean): string {
  const shown = key.slice(0, MAX_KEY);
  return `${parent}${isList ? `[${shown}]` : `.${shown}`}`.slice(0, MAX_PATH);
}

function refused(path: string, reason: string, cause?: unknown): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${path} ${reason}.`, { path }, { cause });
}
