/**
 * Keys of sessions: who has one may read what the session stored.
 * @module
 */

const BYTES = 16;
const KEY = /^[A-Za-z0-9_-]{22}$/;

/** A new key: 128 random bits, as 22 characters that need no encoding in an address. */
export function sessionKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Whether a string has the form of a key. */
export function isSessionKey(key: unknown): key is string {
  return typeof key === "string" && KEY.test(key);
}
