/**
 * Ages and foreign text as a person reads them.
 * @module
 */

/** `12 s`, `5 min`, `3 h`, `12 d`: whole units, the largest that fits. */
export function humanAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/**
 * Foreign text made safe for a terminal: control, bidirectional, zero-width and tag characters become
 * `\u{…}`. Names of files and artifacts come from servers, and a terminal obeys escape sequences.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
