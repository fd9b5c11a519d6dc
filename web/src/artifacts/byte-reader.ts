/**
 * Bytes that are read piece by piece. What stands over a stream, such as a check or a time limit, is a reader over a reader: a piece
 * crosses one web stream at most, and none where the producer and the reader are both in this library.
 * @module
 */

/** Gives bytes in pieces, one at a time. */
export interface ByteReader {
  /**
   * The next piece. Null at the end, and after `cancel`.
   *
   * @param reuse whether the caller is done with the piece before: its memory may then hold the next one.
   */
  next(reuse: boolean): Promise<Uint8Array | null>;
  /** Gives up the rest, also while a piece is awaited. */
  cancel(reason?: unknown): Promise<void>;
}

/** The readers of streams that are still unread. */
const untouched = new WeakMap<ReadableStream<Uint8Array>, ByteReader>();

/** A stream over a reader. It reads a piece when one is asked for, and holds none. */
export function streamFrom(reader: ByteReader): ReadableStream<Uint8Array> {
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        untouched.delete(stream);
        const piece = await reader.next(false);
        if (isCancelled) return;
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      },
      cancel(reason): Promise<void> {
        untouched.delete(stream);
        isCancelled = true;
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  untouched.set(stream, reader);
  return stream;
}

/**
 * The reader of a stream, which is locked from then on. Of a stream that {@link streamFrom} made, and that is still unread, it is
 * the one that was given; all other streams are read, and give pieces of their own.
 *
 * @throws TypeError if the stream is locked.
 */
export function getByteReader(stream: ReadableStream<Uint8Array>): ByteReader {
  const locked = stream.getReader();
  const reader = untouched.get(stream);
  untouched.delete(stream);
  if (reader !== undefined) return reader;
  return {
    async next(): Promise<Uint8Array | null> {
      const { done, value } = await locked.read();
      return done ? null : value;
    },
    cancel: (reason) => locked.cancel(reason),
  };
}
