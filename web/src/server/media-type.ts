/**
 * The `Content-Type` that an artifact is served with. What a server called its bytes is not to be trusted.
 * @module
 */

/** What nobody said anything of. */
export const UNKNOWN_TYPE = "application/octet-stream";

const PLAIN = "text/plain";
const MAX_TYPE = 255;
// RFC 6838 §4.2, which is stricter than the tokens of RFC 9110.
const NAME = "[a-z0-9][a-z0-9!#$&^_.+-]{0,126}";
const ESSENCE = new RegExp(`^(${NAME}/${NAME})[ \\t]*(?:;|$)`);

/**
 * What a page of the same origin would run or apply if it were named in a script, a worker or a style sheet. As plain
 * text with `nosniff` it is none, even where a policy says `script-src 'self'`.
 */
const ACTIVE =
  /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript|css|cache-manifest))$/;

/** The part of a media type before its parameters, in lower case; null for what is no media type. */
export function essenceOf(mimeType: string | null): string | null {
  if (mimeType === null || mimeType.length > MAX_TYPE) return null;
  return ESSENCE.exec(mimeType.trim().toLowerCase())?.[1] ?? null;
}

/**
 * The value of `Content-Type`. Parameters that were declared are dropped: a charset among them was true of what the server
 * read, while texts are stored as UTF-8.
 */
export function servedType(mimeType: string | null): string {
  const essence = essenceOf(mimeType);
  // Parts of a multipart type would be types of their own.
  if (essence === null || essence.startsWith("multipart/")) return UNKNOWN_TYPE;
  const type = ACTIVE.test(essence) ? PLAIN : essence;
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}
