/**
 * Bytes as base64, in any runtime.
 * @module
 */

// A multiple of three, so that only the last piece is padded; few enough for one call's arguments.
const PIECE = 24 * 1024;

/** Base64 with padding (RFC 4648 §4). */
export function base64Of(bytes: Uint8Array): string {
  let encoded = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    encoded += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  }
  return encoded;
}
