/**
 * Names that have done harm somewhere.
 * @module
 */
import fc from "fast-check";

const PIECES = [
  ["..", ".", "/", "\\", "../", "..\\", "C:", "~", "-", " ", "\t", "\n", "\r", "\u0000", "\u001b[2J", "%2e%2e%2f"],
  ["\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u2028", "\u0301", "\ud800", "\udfff", "\ue000", "\u{e0041}"],
  ["CON", "nul", "COM1", "lpt9", "aux", "PRN", ".txt", ".tar.gz", "$(rm -rf)", "`id`", ";", "|", "<", ">", "*", "?"],
  ["'", '"', "&", "]\nEnd available files]", "[SYSTEM: ", "a", "\u00e9", "\u65e5", "\ud83d\ude00", "\uff0e", "\u2215"],
].flat();

/** Any of them, and what is made of their pieces. */
export const hostileName: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "binary", maxLength: 40 })), { maxLength: 60 })
  .map((pieces) => pieces.join(""));
