/**
 * Bytes that are pulled piece by piece. What stands over a stream, such as a check or a time limit, is a source over a source: a piece
 * crosses one web stream at most, and none where it is written by somebody who pulls it himself.
 * @module
 */

/** Gives bytes in pieces, one at a time. */
export interface ByteSource {
  /**
   * The next piece. Null at the end, and after `cancel`.
   *
   * @param reuse whether the reader is done with the piece before: its memory may then hold the next one.
   */
  next(reuse: boolean): Promise<Uint8Array | null>;
  /** Gives up the rest, also while a piece is awaited. */
  cancel(reason?: unknown): Promise<void>;
}

/** The sources of streams that nobody has read from. */
const untouched = new WeakMap<ReadableStream<Uint8Array>, ByteSource>();

/** A stream of a source. It pulls a piece when one is asked for, and holds none. */
export function streamFrom(source: ByteSource): ReadableStream<Uint8Array> {
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        untouched.delete(stream);
        const piece = await source.next(false);
        if (isCancelled) return;
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      },
      cancel(reason): Promise<void> {
        untouched.delete(stream);
        isCancelled = true;
        return source.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  untouched.set(stream, source);
  return stream;
}

/**
 * The source of a stream, which is locked from then on. Of a stream that {@link streamFrom} made, and that nobody has read from, it is
 * the one that was given; all other streams are read, and give pieces of their own.
 *
 * @throws TypeError if the stream is locked.
 */
export function sourceOf(stream: ReadableStream<Uint8Array>): ByteSource {
  const reader = stream.getReader();
  const source = untouched.get(stream);
  untouched.delete(stream);
  if (source !== undefined) return source;
  return {
    async next(): Promise<Uint8Array | null> {
      const { done, value } = await reader.read();
      return done ? null : value;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}
