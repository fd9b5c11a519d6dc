/**
 * The length of a text as code points of the JSON that it is sent as.
 * @module
 */

const SHORT_ESCAPES: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x22, 0x5c]);

/** What a code point takes inside a JSON string that `JSON.stringify` wrote. */
function costOf(codePoint: number): number {
  if (SHORT_ESCAPES.has(codePoint)) return 2;
  return codePoint < 0x20 || (codePoint >= 0xd800 && codePoint <= 0xdfff) ? 6 : 1;
}

/** Code points that a text takes as JSON, without the quotes around it. */
export function jsonChars(text: string): number {
  return fitting(text, Infinity).chars;
}

/** The longest beginning of a text that takes at most `most` code points as JSON, and how many it takes. */
export function fitting(text: string, most: number): { readonly text: string; readonly chars: number } {
  let chars = 0;
  for (let at = 0; at < text.length;) {
    const codePoint = text.codePointAt(at) as number;
    const cost = costOf(codePoint);
    if (chars + cost > most) return { text: text.slice(0, at), chars };
    chars += cost;
    at += codePoint > 0xffff ? 2 : 1;
  }
  return { text, chars };
}

/** A text within a limit, ending with `…` where some of it is left out. */
export function shortened(text: string, most: number): string {
  const fit = fitting(text, most);
  return fit.text.length === text.length ? text : `${fitting(text, Math.max(0, most - 1)).text}…`;
}
