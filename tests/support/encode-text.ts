/**
 * Texts in encodings that `TextEncoder` does not have: what `TextDecoder` makes of bytes, the other way round.
 * @module
 */

/** A text in an encoding of the Encoding Standard, or in UTF-32. Throws for a character that the encoding does not have. */
export function encodeText(text: string, label: string): Uint8Array {
  if (label.startsWith("utf-32")) return encodeUtf32(text, label === "utf-32be");
  if (label.startsWith("utf-16")) {
    const bytes = Buffer.from(text, "utf16le");
    return Uint8Array.from(label === "utf-16be" ? bytes.swap16() : bytes);
  }
  const codes = listCodes(label);
  return Uint8Array.from(
    Array.from(text).flatMap((character) => {
      const code = character.charCodeAt(0) < 0x80 ? character.charCodeAt(0) : codes.get(character);
      if (code === undefined) throw new Error(`${label} has no ${character}`);
      return code > 0xff ? [code >> 8, code & 0xff] : [code];
    }),
  );
}

function encodeUtf32(text: string, isBig: boolean): Uint8Array {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const view = new DataView(new ArrayBuffer(points.length * 4));
  points.forEach((point, at) => view.setUint32(at * 4, point, !isBig));
  return new Uint8Array(view.buffer);
}

const known = new Map<string, ReadonlyMap<string, number>>();

/** The bytes of each character beyond ASCII: one, or two as a number of 16 bits. */
function listCodes(label: string): ReadonlyMap<string, number> {
  const found = known.get(label);
  if (found !== undefined) return found;
  const codes = new Map<string, number>();
  const decoder = new TextDecoder(label);
  const note = (...bytes: readonly number[]): void => {
    const text = decoder.decode(Uint8Array.from(bytes));
    const code = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    if (Array.from(text).length === 1 && text !== "\u{fffd}" && !codes.has(text)) codes.set(text, code);
  };
  for (let lead = 0x80; lead < 0x100; lead += 1) {
    note(lead);
    for (let trail = 0x40; trail < 0x100; trail += 1) note(lead, trail);
  }
  known.set(label, codes);
  return codes;
}
