/**
 * LZ4 frames (LZ4 Frame Format 1.6.4), as Arrow compresses with. Checksums are not checked.
 * @module
 */
import { toDamagedError } from "./document.js";

const MAGIC = 0x18_4d_22_04;

/** Shortest match (LZ4 Block Format). */
const MIN_MATCH = 4;

/** The content of one frame, of as many bytes as `size` says. Throws E_DOCUMENT if it has another length, or is damaged. */
export function decodeLz4Frame(input: Uint8Array, size: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (input.length < 7 || view.getUint32(0, true) !== MAGIC) throw toDamagedError("compressed Arrow table");
  const flags = view.getUint8(4);
  const [hasBlockSums, hasSize, hasDictionary] = [flags & 0x10, flags & 0x08, flags & 0x01];
  const output = new Uint8Array(size);
  let to = 0;
  // The flags, the block size and the header's checksum have a byte each.
  let from = 7 + (hasSize === 0 ? 0 : 8) + (hasDictionary === 0 ? 0 : 4);
  for (;;) {
    if (from + 4 > input.length) throw toDamagedError("compressed Arrow table");
    const header = view.getUint32(from, true);
    from += 4;
    if (header === 0) break;
    const end = from + (header & 0x7f_ff_ff_ff);
    if (end > input.length) throw toDamagedError("compressed Arrow table");
    const block = input.subarray(from, end);
    to = header >>> 31 === 0 ? decodeBlock(block, output, to) : copyBlock(block, output, to);
    from = end + (hasBlockSums === 0 ? 0 : 4);
  }
  if (to !== size) throw toDamagedError("compressed Arrow table");
  return output;
}

function copyBlock(block: Uint8Array, output: Uint8Array, to: number): number {
  if (to + block.length > output.length) throw toDamagedError("compressed Arrow table");
  output.set(block, to);
  return to + block.length;
}

/** Decodes a block behind what is there of the output: matches may reach into the blocks before. Gives where the output ends then. */
function decodeBlock(block: Uint8Array, output: Uint8Array, start: number): number {
  let to = start;
  let from = 0;
  const readLength = (first: number): number => {
    let length = first;
    if (first !== 0x0f) return length;
    for (;;) {
      const byte = block[from++];
      if (byte === undefined) throw toDamagedError("compressed Arrow table");
      length += byte;
      if (byte !== 0xff) return length;
    }
  };
  while (from < block.length) {
    const token = block[from++] as number;
    const literals = readLength(token >> 4);
    if (from + literals > block.length || to + literals > output.length) throw toDamagedError("compressed Arrow table");
    output.set(block.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    // The last sequence ends behind its literals.
    if (from >= block.length) return to;
    if (from + 2 > block.length) throw toDamagedError("compressed Arrow table");
    const offset = (block[from] as number) | ((block[from + 1] as number) << 8);
    from += 2;
    const match = readLength(token & 0x0f) + MIN_MATCH;
    if (offset === 0 || offset > to || to + match > output.length) throw toDamagedError("compressed Arrow table");
    if (offset >= match) output.copyWithin(to, to - offset, to - offset + match);
    else for (let at = to; at < to + match; at++) output[at] = output[at - offset] as number;
    to += match;
  }
  return to;
}
