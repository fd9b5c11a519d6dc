/**
 * JSON Pointers (RFC 6901).
 * @module
 */

/** Joins tokens to a pointer. */
export function joinPointer(tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Splits a pointer without its leading slash into unescaped tokens. */
export function splitPointer(pointer: string): readonly string[] {
  return pointer.split("/").map(unescapeToken);
}

/** Decodes one token of a pointer in a URI fragment (RFC 6901 §6). Undefined if it is not percent-encoded UTF-8. */
export function fragmentToken(part: string): string | undefined {
  try {
    return unescapeToken(decodeURIComponent(part));
  } catch {
    return undefined;
  }
}

function unescapeToken(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
