/**
 * JSON Pointer (RFC 6901).
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { MAX_POINTER } from "./limits.js";
import { quoted } from "./untrusted.js";

/** The tokens of a pointer, unescaped; none for the whole document. Throws E_INVALID_ARGUMENT. */
export function parsePointer(text: string): readonly string[] {
  if (text === "") return [];
  if (text.length > MAX_POINTER) throw wrong(`The pointer is longer than ${MAX_POINTER} characters.`);
  if (!text.startsWith("/")) {
    throw wrong(`pointer ${quoted(text)} does not start with "/": write "/a/b/0", or "" for the whole document.`);
  }
  if (/~(?![01])/.test(text)) {
    throw wrong(`pointer ${quoted(text)} has a "~" that is neither "~0" (for "~") nor "~1" (for "/").`);
  }
  return text
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The pointer with these tokens. */
export function pointerOf(tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function wrong(message: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", message, { path: "pointer" });
}
