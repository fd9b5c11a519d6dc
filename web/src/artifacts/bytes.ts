/**
 * What callers hand to a store, checked before anything is made of it, and bytes as streams. JavaScript would take a string for
 * no bytes at all, and twice as wide numbers for others.
 * @module
 */
import { isBytes, noBytes, wrong } from "../errors/arguments.js";

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

/** What may be uploaded; chunks of a stream may have any size, and are not held. */
export type Uploaded = Uint8Array | string | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

/** The chunks of an upload, of a text its UTF-8. Throws E_INVALID_ARGUMENT at once for what is none. */
export function chunksOf(data: Uploaded): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  if (typeof data === "string") return [new TextEncoder().encode(data)];
  if (isBytes(data)) return [data];
  if (data instanceof ReadableStream) return streamed(data);
  if (isIterable(data)) return data;
  throw wrong("data", "a Uint8Array, a string, or a stream of Uint8Arrays");
}

function isIterable(data: unknown): boolean {
  return typeof data === "object" && data !== null && (Symbol.asyncIterator in data || Symbol.iterator in data);
}

/** Not every browser can iterate over a stream. */
async function* streamed(data: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = data.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const PIECE = 64 * 1024;

/** A stream of copies, in pieces, so that a reader can neither change the source nor hold it whole. */
export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller): void {
        if (at < bytes.byteLength) controller.enqueue(bytes.slice(at, (at += PIECE)));
        if (at >= bytes.byteLength) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
