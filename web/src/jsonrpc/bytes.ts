/**
 * Byte arrays that arrive in pieces.
 * @module
 */
import { joinBytes } from "../artifacts/bytes.js";

/** The UTF-8 byte order mark. */
export const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/** A copy in memory of its own. `slice` of Node's buffers, which are byte arrays too, is none. */
export function copyBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

const decoder = new TextDecoder();

/** Decodes pieces as UTF-8. Invalid bytes become U+FFFD. */
export function decodePieces(pieces: readonly Uint8Array[]): string {
  // Joined first: a streaming decoder is costly to set up, and most texts here are short.
  return decoder.decode(joinBytes(pieces));
}

/** Reads bytes to their end. Undefined if there are more than `most`. Pieces are copied: their memory may be reused. */
export async function readBounded(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) return undefined;
    pieces.push(Uint8Array.from(chunk));
  }
  return joinBytes(pieces) as Uint8Array<ArrayBuffer>;
}

/** Maximum number of pieces that a {@link Tail} keeps before it joins them: a program may write many short ones. */
const MAX_PIECES = 256;

/** The last bytes of a stream. */
export class Tail {
  readonly #limit: number;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a piece, which is copied: it may be a view of a larger buffer. */
  add(piece: Uint8Array): void {
    this.#isCut ||= this.#size + piece.length > this.#limit;
    const kept = Uint8Array.from(piece.subarray(-this.#limit));
    this.#pieces.push(kept);
    this.#size += kept.length;
    if (this.#size <= 2 * this.#limit && this.#pieces.length <= MAX_PIECES) return;
    this.#pieces = [this.bytes];
    this.#size = Math.min(this.#size, this.#limit);
  }

  /** The bytes that are kept. */
  get bytes(): Uint8Array {
    return joinBytes(this.#pieces).slice(-this.#limit);
  }

  /** Whether there were more. */
  get isCut(): boolean {
    return this.#isCut;
  }
}
