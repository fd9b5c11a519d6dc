/**
 * `Content-Disposition` (RFC 6266).
 * @module
 */

/** Whether a browser shows the bytes or saves them. */
export type Disposition = "inline" | "attachment";

/**
 * The value of the header for a name that {@link safeFilename} gave. A name beyond ASCII is written twice: as RFC 8187
 * says, and once more with `_` in place of what old readers do not know.
 */
export function contentDisposition(disposition: Disposition, filename: string): string {
  const plain = asciiOf(filename);
  const first = `${disposition}; filename="${plain}"`;
  return plain === filename ? first : `${first}; filename*=UTF-8''${extendedValue(filename)}`;
}

/**
 * Letters lose their accents, anything else beyond ASCII becomes `_`; so does what taking accents away may have laid bare
 * (`≮` is a `<` with one), and `%`, which some readers decode (RFC 6266, appendix D).
 */
function asciiOf(filename: string): string {
  const bare = filename.normalize("NFD").replace(/\p{M}/gu, "");
  return bare.replace(/[^ -~]|[%/\\:*?"<>|]/gu, "_");
}

/** RFC 8187 §3.2.1 allows fewer characters than URIs do. Lone halves of pairs were taken out before. */
function extendedValue(filename: string): string {
  return encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
