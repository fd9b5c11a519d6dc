/**
 * Bytes as base64.
 * @module
 */

/** Bytes per chunk: a multiple of 3, so that chunks can be joined, and few enough to be passed as arguments. */
const PIECE = 24_576;

/** Bytes in base64, padded. */
export function base64(bytes: Uint8Array): string {
  // The native method (ES2026) takes a tenth of the time.
  const own = (bytes as { toBase64?: () => string }).toBase64?.();
  if (own !== undefined) return own;
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))));
  }
  return pieces.join("");
}

/** Text in base64 of its UTF-8. */
export function base64Text(text: string): string {
  return base64(new TextEncoder().encode(text));
}
