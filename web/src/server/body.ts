/**
 * The body of an answer, held to the length that its headers promise.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { storageError } from "../errors/storage.js";

/**
 * Waits for the first piece, so that what fails before it can still be refused, and streams the rest as it is asked for.
 *
 * @returns a stream of exactly `length` bytes, or one that errors with a SluiceError (E_STORE_…).
 * @throws SluiceError for what fails before the first byte.
 */
export async function bodyOf(
  stream: ReadableStream<Uint8Array>,
  length: number,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const pieces = new Pieces(stream, length);
  let first: Uint8Array<ArrayBuffer> | null | undefined = await pieces.next();
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller): Promise<void> {
        const piece = first === undefined ? await pieces.next() : first;
        first = undefined;
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      },
      cancel: (reason) => pieces.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Pieces of a stream that are together as long as they should be. */
class Pieces {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #left: number;

  constructor(stream: ReadableStream<Uint8Array>, length: number) {
    this.#reader = stream.getReader();
    this.#left = length;
  }

  /** The next one that has any bytes; null behind the last. */
  async next(): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      return await this.#next();
    } catch (error) {
      await this.cancel(error).catch(() => undefined);
      throw storageError(error, "read");
    }
  }

  cancel(reason: unknown): Promise<void> {
    return this.#reader.cancel(reason);
  }

  async #next(): Promise<Uint8Array<ArrayBuffer> | null> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done && this.#left > 0) throw damaged();
      if (done) return null;
      if (value.byteLength > this.#left) throw damaged();
      this.#left -= value.byteLength;
      // No store gives views of shared memory.
      if (value.byteLength > 0) return value as Uint8Array<ArrayBuffer>;
    }
  }
}

function damaged(): SluiceError {
  return new SluiceError(
    "E_STORE_CORRUPT",
    "The stored bytes are not as many as were stored: delete the artifact, and call the tool again that gave it.",
  );
}
