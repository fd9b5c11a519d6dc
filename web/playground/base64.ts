/**
 * Bytes as base64.
 * @module
 */

/** Bytes that become text at once: a multiple of 3, so that the pieces join, and few enough for a call's arguments. */
const PIECE = 24_576;

/** Bytes in base64, padded. */
export function base64(bytes: Uint8Array): string {
  // Where there is one, the platform's own takes a tenth of the time (ES2026).
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
