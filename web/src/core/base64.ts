/**
 * Bytes as base64 while they come.
 * @module
 */

const ALPHABET = new TextEncoder().encode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
const PADDING = 0x3d;
/** Bytes that are encoded at a time: a multiple of three. */
const PIECE = 196_608;

/** Padded base64, standard alphabet, in pieces of bounded size whatever comes. */
export async function* base64Of(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of bytes) {
    let from = 0;
    if (rest.length > 0) {
      const missing = 3 - rest.length;
      const group = new Uint8Array([...rest, ...chunk.subarray(0, missing)]);
      from = Math.min(missing, chunk.length);
      rest = group;
      if (group.length < 3) continue;
      yield encoded(group);
    }
    const end = chunk.length - ((chunk.length - from) % 3);
    for (let at = from; at < end; at += PIECE) yield encoded(chunk.subarray(at, Math.min(end, at + PIECE)));
    // The chunk may be used again by whoever gave it.
    rest = chunk.slice(end);
  }
  if (rest.length > 0) yield encoded(rest);
}

function encoded(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PADDING);
  let to = 0;
  for (let at = 0; at < bytes.length; at += 3) {
    const second = bytes[at + 1] ?? 0;
    const third = bytes[at + 2] ?? 0;
    const group = ((bytes[at] as number) << 16) | (second << 8) | third;
    out[to] = ALPHABET[group >> 18] as number;
    out[to + 1] = ALPHABET[(group >> 12) & 63] as number;
    if (at + 1 < bytes.length) out[to + 2] = ALPHABET[(group >> 6) & 63] as number;
    if (at + 2 < bytes.length) out[to + 3] = ALPHABET[group & 63] as number;
    to += 4;
  }
  return out;
}
