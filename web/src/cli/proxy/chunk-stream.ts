/**
 * A web stream over chunks that something else makes.
 * @module
 */

/** Takes chunks no sooner than they are read. `stop` is called when nobody reads any more. */
export function chunkStream(chunks: AsyncIterable<Uint8Array>, stop: () => void): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => stop(),
    },
    { highWaterMark: 0 },
  );
}
