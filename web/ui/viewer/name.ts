/**
 * File names from servers, made safe to show and to save under.
 * @module
 */

// Controls, and what turns the direction of writing or cannot be seen: `photo\u202Egpj.exe` must not look like a picture.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;
/** Characters that are shown where nothing else is said. */
const LONGEST = 200;

/** A name, or another if there is none, in which every character can be seen. */
export function shownName(name: string | null | undefined, otherwise: string, longest = LONGEST): string {
  const text = name == null || name.trim() === "" ? otherwise : name;
  const seen = text.slice(0, longest).replace(HIDDEN, "\uFFFD");
  return text.length > longest ? `${seen}…` : seen;
}

/** A name to save under: without folders, and without characters that some file system refuses. */
export function savedName(shown: string): string {
  const plain = shown.replace(/[\uFFFD/\\<>:"|?*]/g, "_").replace(/^[.\s]+|[.\s]+$/g, "");
  return plain === "" ? "download" : plain;
}

/** The extension in lower case, without the dot; empty when there is none. */
export function extensionOf(name: string): string {
  return /\.([a-z0-9]{1,12})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
}
