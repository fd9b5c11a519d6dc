/**
 * Makes untrusted text (names, types, messages) safe to show.
 * @module
 */

/** Invisible characters, which can disguise a text: `photo\u202egpj.exe` must not look like a picture. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/u;
const ALL_HIDDEN = new RegExp(HIDDEN, "gu");
/** The same for longer texts, which keep line breaks and joiners. */
const MISLEADING = /[^\P{Cc}\n\r\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}\u2028\u2029]/gu;
/** UTF-16 units that are examined per character shown. */
const LOOKED_AT = 4;
/** Characters of a name by default. */
const LONGEST = 200;

/** One line without control, bidirectional and zero-width characters, cut at `most` characters. Empty for anything but a string. */
export function plainText(text: unknown, most = LONGEST): string {
  if (typeof text !== "string") return "";
  const seen = replaceHidden(text.slice(0, LOOKED_AT * most), " ");
  const line = Array.from(seen.replace(/\s+/g, " ").trim());
  return line.length > most ? `${line.slice(0, most - 1).join("")}…` : line.join("");
}

/** Whether a text has no invisible characters. */
export function isPlain(text: string): boolean {
  return !HIDDEN.test(text);
}

/** The text with its line breaks; control and bidirectional characters become `\ufffd`. */
export function plainLines(text: string): string {
  return text.replace(MISLEADING, "\ufffd");
}

/** A name, cut at `longest` UTF-16 units, with `\ufffd` for invisible characters. `otherwise` if there is none. */
export function toSafeName(name: unknown, otherwise: string, longest = LONGEST): string {
  const text = typeof name !== "string" || name.trim() === "" ? otherwise : name;
  const seen = replaceHidden(text.slice(0, longest), "\ufffd");
  return text.length > longest ? `${seen}…` : seen;
}

/** The text with invisible characters replaced. */
export function replaceHidden(text: string, by: string): string {
  return text.replace(ALL_HIDDEN, by);
}
