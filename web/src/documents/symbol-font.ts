/**
 * Signs of the fonts that have signs in place of letters, as characters of Unicode.
 * @module
 */

/** What signs of fonts for signs are: boxes to tick, arrows, bullets. */
const SYMBOLS: Readonly<Record<string, string>> = {
  "6c": "●",
  "6e": "■",
  "6f": "□",
  "71": "❑",
  a7: "▪",
  a8: "☐",
  d8: "➢",
  df: "←",
  e0: "→",
  e8: "→",
  fb: "✗",
  fc: "✓",
  fd: "☒",
  fe: "☑",
};

/** What the font Symbol has in place of letters. */
const GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ";
const SIGNS: Readonly<Record<string, string>> = {
  a3: "≤",
  a5: "∞",
  ab: "↔",
  ac: "←",
  ad: "↑",
  ae: "→",
  af: "↓",
  b0: "°",
  b1: "±",
  b3: "≥",
  b4: "×",
  b7: "•",
  b8: "÷",
  b9: "≠",
  bb: "≈",
  d6: "√",
  de: "⇒",
  e5: "∑",
  f2: "∫",
};

/** A sign of a font for signs as a character of Unicode; a question mark for one that is not known. */
export function readSymbol(font: string, code: string): string {
  const point = Number.parseInt(code, 16);
  if (!Number.isInteger(point) || point < 0x20 || point > 0xffff) return "";
  const low = point & 0xff;
  const key = low.toString(16);
  if (/^Wingdings/i.test(font)) return SYMBOLS[key] ?? "?";
  if (/^Symbol$/i.test(font)) return SIGNS[key] ?? GREEK[low - 0x41] ?? String.fromCharCode(low);
  return point >= 0xf000 ? "?" : String.fromCharCode(point);
}
