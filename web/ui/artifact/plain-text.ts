/**
 * Words that are anybody's (names, types, messages), made fit to stand on a page.
 * @module
 */

/** What cannot be seen, and hides what a line says or moves it. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const ALL_HIDDEN = new RegExp(HIDDEN, "gu");
/** Of a longer text: what breaks lines and joins letters and emoji stays. */
const MISLEADING = /[^\P{Cc}\n\r\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}\u2028\u2029]/gu;
/** Units of a text that are looked at, for each character that is shown of it. */
const LOOKED_AT = 4;

/** One line without control, bidirectional and zero-width characters, cut at `most` characters; empty for what is no text. */
export function plainText(text: unknown, most = 200): string {
  if (typeof text !== "string") return "";
  const seen = text.slice(0, LOOKED_AT * most).replace(ALL_HIDDEN, " ");
  const line = Array.from(seen.replace(/\s+/g, " ").trim());
  return line.length > most ? `${line.slice(0, most - 1).join("")}…` : line.join("");
}

/** Whether all of a text can be seen, so that what is shown of it is what it is. */
export function isPlain(text: string): boolean {
  return !HIDDEN.test(text);
}

/** Lines as they are; control and bidirectional characters in them are shown as `\ufffd`. */
export function plainLines(text: string): string {
  return text.replace(MISLEADING, "\ufffd");
}
