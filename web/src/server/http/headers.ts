/**
 * Headers that every answer has, and media types as they stand in headers.
 * @module
 */

/**
 * Headers of every answer, of any type. A document made of it has its own origin, runs no script and loads nothing. No other
 * origin embeds it. Its address, which may contain the key of a session, is not sent as a referrer.
 */
export const SAFETY: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** The type of unknown bytes. */
export const UNKNOWN_TYPE = "application/octet-stream";

const MAX_TYPE = 255;
// RFC 6838 §4.2, which is stricter than the tokens of RFC 9110.
const NAME = "[a-z0-9][a-z0-9!#$&^_.+-]{0,126}";
const ESSENCE = new RegExp(`^(${NAME}/${NAME})[ \\t]*(?:;|$)`);

/** A media type in lower case without parameters, or null for an invalid one. */
export function parseEssence(mimeType: string | null): string | null {
  if (mimeType === null || mimeType.length > MAX_TYPE) return null;
  return ESSENCE.exec(mimeType.trim().toLowerCase())?.[1] ?? null;
}
