/**
 * A stream of bytes, chunk by chunk.
 * @module
 */

/** The chunks of a stream, which is let go of in every case; none of what is no stream. */
export async function* chunksOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (stream === null) return;
  // Not every browser can iterate over a stream.
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // A stream that failed, or fails at being let go, has nothing more to say.
    await reader.cancel().catch(() => undefined);
  }
}
