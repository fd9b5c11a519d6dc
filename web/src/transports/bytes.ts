/**
 * Bytes that come in pieces.
 * @module
 */

/** The byte order mark in UTF-8, which says nothing. */
export const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/** All pieces as one; a single one as it is. */
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

/** The text that all pieces are together. Invalid UTF-8 becomes U+FFFD, as in every client. */
export function textOf(pieces: readonly Uint8Array[]): string {
  // Not piece by piece: what decodes streams is costly to set up, and messages have many short names.
  return decoder.decode(joined(pieces));
}
