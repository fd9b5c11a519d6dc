/**
 * Sizes, ages and foreign text as a person reads them.
 * @module
 */

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** `312 B`, `1.0 KB`, `2.1 MB`: powers of 1,024, one decimal from KB on, as in the core's descriptions. */
export function humanSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

/** `12 s`, `5 min`, `3 h`, `12 d`: whole units, the largest that fits. */
export function humanAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `1 artifact`, `2 artifacts`. */
export function counted(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/**
 * Foreign text made safe for a terminal: control, bidirectional, zero-width and tag characters become
 * `\u{…}`. Names of files and artifacts come from servers, and a terminal obeys escape sequences.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
