/**
 * Text with references to stored artifacts and their positions.
 * @module
 */

/** What stood at a reference in the original (the `kind` of an entry in `_meta["sluice/refs"]`). */
export type HoleKind = "run" | "text" | "bytes" | "json";

/** One reference in a text. */
export interface Hole {
  /** Its start in UTF-16 units. In JSON source it includes the quotes if it replaces a whole value. */
  readonly begin: number;
  /** Where it ends. */
  readonly end: number;
  /** What stood there. */
  readonly kind: HoleKind;
  /** The artifact that holds it now. */
  readonly id: string;
  /** Its type according to the reference, or null. */
  readonly mimeType: string | null;
  /** Its size in bytes according to the reference, or null. */
  readonly size: number | null;
}

/** A text with its holes in order; they never overlap. */
export interface MarkedText {
  /** The text, with a reference in each hole. */
  readonly text: string;
  /** The holes, in order. */
  readonly holes: readonly Hole[];
}

/** A piece of a text: a string or a hole. */
export type Piece = string | Hole;

/** How references begin. */
export const SCHEME = "artifact://";

/** Parses a reference; null if it is invalid. */
export function readReference(uri: string): Pick<Hole, "id" | "mimeType" | "size"> | null {
  if (!uri.startsWith(SCHEME)) return null;
  const [name = "", query = ""] = uri.slice(SCHEME.length).split("?", 2);
  const said = new URLSearchParams(query.replaceAll("+", "%2B"));
  const size = said.get("size") ?? "";
  try {
    const id = decodeURIComponent(name);
    if (id === "") return null;
    return { id, mimeType: said.get("type"), size: /^\d{1,15}$/.test(size) ? Number(size) : null };
  } catch {
    return null;
  }
}

/** The holes that lie in a range of the text. */
export function holesWithin({ holes }: MarkedText, begin: number, end: number): readonly Hole[] {
  const first = lowerBound(holes, begin);
  let last = first;
  while (last < holes.length && (holes[last]?.end ?? 0) <= end) last += 1;
  return holes.slice(first, last);
}

/** The strings and holes in order, up to a number of characters. A hole counts 40. */
export function listPieces({ text, holes }: MarkedText, most = Infinity): { pieces: Piece[]; whole: boolean } {
  const pieces: Piece[] = [];
  let at = 0;
  let left = most;
  const take = (end: number): boolean => {
    const part = text.slice(at, Math.min(end, at + left));
    if (part !== "") pieces.push(part);
    left -= part.length;
    at += part.length;
    return at === end;
  };
  for (const hole of holes) {
    if (!take(hole.begin) || left <= 0) return { pieces, whole: false };
    pieces.push(hole);
    left -= 40;
    at = hole.end;
  }
  return { pieces, whole: left >= 0 ? take(text.length) : at === text.length };
}

/** Joins marked texts. */
export function joinTexts(parts: Iterable<MarkedText>): MarkedText {
  const holes: Hole[] = [];
  const texts: string[] = [];
  let length = 0;
  for (const part of parts) {
    for (const hole of part.holes) holes.push({ ...hole, begin: hole.begin + length, end: hole.end + length });
    texts.push(part.text);
    length += part.text.length;
  }
  return { text: texts.join(""), holes };
}

// The first hole that begins at `begin` or behind it.
function lowerBound(holes: readonly Hole[], begin: number): number {
  let low = 0;
  let high = holes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((holes[middle]?.begin ?? 0) < begin) low = middle + 1;
    else high = middle;
  }
  return low;
}
