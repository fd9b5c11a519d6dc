/**
 * Byte arrays that arrive in pieces.
 * @module
 */

/** The UTF-8 byte order mark. */
export const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/** Concatenates pieces. A single piece is returned as it is. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first, ...more] = pieces;
  if (first !== undefined && more.length === 0) return first;
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const decoder = new TextDecoder();

/** Decodes pieces as UTF-8. Invalid bytes become U+FFFD. */
export function textOf(pieces: readonly Uint8Array[]): string {
  // Joined first: a streaming decoder is costly to set up, and most texts here are short.
  return decoder.decode(joined(pieces));
}
