/**
 * Searches for one byte.
 * @module
 */

// Node compares many bytes at once, which takes a fiftieth of what its typed arrays take.
const { prototype } = (globalThis as { readonly Buffer?: { readonly prototype: Uint8Array } }).Buffer ?? Uint8Array;

/** The offset of the first such byte at `from` or behind it; -1 if there is none. */
export function indexOfByte(bytes: Uint8Array, byte: number, from = 0): number {
  return prototype.indexOf.call(bytes, byte, from);
}
