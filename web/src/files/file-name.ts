/**
 * Names of users' files: whatever somebody calls a file, what is kept is one name in one folder of any system
 * (user storage §5.2, §9.1).
 * @module
 */

/** UTF-8 bytes: the least of what file systems take. */
const MAX_BYTES = 255;
/** UTF-8 bytes of an extension, its dot included; what is longer is none. */
const MAX_EXTENSION = 20;
/** The name of what has none. */
const NAMELESS = "file";

/** What cannot be seen, or moves what can: controls, joiners, direction marks, halves of letters, private letters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
/** What some system keeps for itself. */
const RESERVED = /[<>:"|?*]/g;
/** Names that Windows keeps for devices, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:\.|$)/i;
/** What notes of ours begin with. */
const OURS = /^\[sluice\]/i;

/**
 * The name that a file is kept by: its last path component, of `/` and `\`, without a drive, hidden characters, reserved ones,
 * and dots or spaces at its ends; NFC; at most 255 UTF-8 bytes, with its extension. Never empty, never a device of Windows, and the
 * same for a name that came from here.
 */
export function fileName(name: string): string {
  const path = name.replaceAll("\\", "/").replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1).replace(/^[a-z]:(?=.)/i, "");
  const plain = last.replace(HIDDEN, "").replace(RESERVED, "_");
  const trimmed = trim(plain.normalize("NFC").replace(/\s+/gu, " "));
  const safe = DEVICE.test(trimmed) || OURS.test(trimmed) ? `_${trimmed}` : trimmed;
  return cut(safe) || NAMELESS;
}

/** Systems hide what begins with a dot, and lose dots and spaces at an end. */
function trim(name: string): string {
  return name.replace(/^[. ]+/, "").replace(/[. ]+$/, "");
}

function cut(name: string): string {
  if (bytesOf(name) <= MAX_BYTES) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && bytesOf(name.slice(dot)) <= MAX_EXTENSION ? name.slice(dot) : "";
  const base = name.slice(0, name.length - extension.length);
  return trim(begin(base, MAX_BYTES - bytesOf(extension)) + extension);
}

/** The beginning of a text, in whole code points. */
function begin(text: string, bytes: number): string {
  let [length, left] = [0, bytes];
  for (const point of text) {
    left -= bytesOf(point);
    if (left < 0) break;
    length += point.length;
  }
  return text.slice(0, length);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
