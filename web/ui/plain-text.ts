/**
 * Words that are anybody's (names, types, messages), made fit to stand on a page.
 * @module
 */

/** What cannot be seen, and hides what a line says or moves it: `photo\u202egpj.exe` must not look like a picture. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/u;
const ALL_HIDDEN = new RegExp(HIDDEN, "gu");
/** Of a longer text: what breaks lines and joins letters and emoji stays. */
const MISLEADING = /[^\P{Cc}\n\r\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}\u2028\u2029]/gu;
/** Units of a text that are looked at, for each character that is shown of it. */
const LOOKED_AT = 4;
/** Characters of a name that are shown where nothing else is said. */
const LONGEST = 200;

/** One line without control, bidirectional and zero-width characters, cut at `most` characters; empty for what is no text. */
export function plainText(text: unknown, most = LONGEST): string {
  if (typeof text !== "string") return "";
  const seen = replaceHidden(text.slice(0, LOOKED_AT * most), " ");
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

/** A name letter by letter, cut at `longest` units; `\ufffd` stands for each that hides. Of none, and of what is no text, the other. */
export function shownName(name: unknown, otherwise: string, longest = LONGEST): string {
  const text = typeof name !== "string" || name.trim() === "" ? otherwise : name;
  const seen = replaceHidden(text.slice(0, longest), "\ufffd");
  return text.length > longest ? `${seen}…` : seen;
}

/** A text with another character in the place of each that hides. */
export function replaceHidden(text: string, by: string): string {
  return text.replace(ALL_HIDDEN, by);
}
