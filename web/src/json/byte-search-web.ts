/**
 * Searches for one byte, where Node's buffers are not.
 * @module
 */

/** The offset of the first such byte at `from` or behind it; -1 if there is none. */
export function indexOfByte(bytes: Uint8Array, byte: number, from = 0): number {
  return bytes.indexOf(byte, from);
}
