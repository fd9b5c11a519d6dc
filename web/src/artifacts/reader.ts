/**
 * Bytes in memory as a stream.
 * @module
 */

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
