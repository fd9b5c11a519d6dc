/**
 * What `app/round-trip.js` answers wherever the package works.
 * @module
 */

/** The id is made from the SHA-256 of the bytes: the same by OpenSSL, WebCrypto and WebAssembly. */
export const ROUND_TRIP = { id: "tableau_b4d89da4c9bf", short: true, stored: true, restored: true };
