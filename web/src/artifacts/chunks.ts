/**
 * What may be uploaded, chunk by chunk.
 * @module
 */
import { isBytes, wrong } from "../core/call.js";

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
    await reader.cancel();
  }
}
