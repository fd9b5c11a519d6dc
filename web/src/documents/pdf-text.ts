/**
 * The text of a page of a PDF, line by line as it is displayed: what stands on one line stays on it, so tables are rows.
 * @module
 */
import type { TextPiece } from "./pdfium.js";

/** Letters of scripts that run from right to left: Hebrew, Arabic and their neighbours. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/g;

/** Lines that a piece is compared with: pieces of one line come close together. */
const NEAR_LINES = 8;

// Of the size of characters: how far apart two pieces of a line are, two words, two columns, and two paragraphs.
const LINE = 0.4;
const WORD = 0.15;
const COLUMN = 1;
const PARAGRAPH = 2.2;

/** How close to each other the same piece is printed twice, for bold. */
const TWICE = 0.25;

interface Line {
  base: number;
  size: number;
  readonly pieces: { readonly piece: TextPiece; readonly at: number }[];
}

/** Lines of text, columns apart by three spaces, paragraphs by an empty line. Text that is turned stands behind the rest. */
export function writeLines(pieces: readonly TextPiece[]): string {
  const turns = [0, 1, 2, 3].map((turn) => pieces.filter((piece) => piece.turn === turn));
  return turns
    .toSorted((a, b) => b.length - a.length)
    .map((turned) => writeTurned(turned))
    .filter((text) => text !== "")
    .join("\n\n");
}

function writeTurned(pieces: readonly TextPiece[]): string {
  let text = "";
  let before: Line | undefined;
  for (const line of findLines(pieces)) {
    const isApart = before !== undefined && line.base - before.base > PARAGRAPH * Math.max(before.size, line.size);
    if (before !== undefined) text += isApart ? "\n\n" : "\n";
    text += writeLine(line);
    before = line;
  }
  return text;
}

/** The lines from top to bottom. */
function findLines(pieces: readonly TextPiece[]): readonly Line[] {
  const lines: Line[] = [];
  const ordered = pieces.map((piece, at) => ({ piece, at })).toSorted((a, b) => a.piece.base - b.piece.base);
  for (const each of ordered) {
    const { base, size } = each.piece;
    const line = lines
      .slice(-NEAR_LINES)
      .findLast((one) => Math.abs(one.base - base) <= LINE * Math.min(one.size, size) + 0.5);
    if (line === undefined) {
      lines.push({ base, size, pieces: [each] });
      continue;
    }
    line.pieces.push(each);
    line.base += (base - line.base) / line.pieces.length;
    line.size = Math.max(line.size, size);
  }
  return lines;
}

function writeLine({ pieces }: Line): string {
  const all = pieces.map(({ piece }) => piece.text).join("");
  const isLeftward = (all.match(RIGHT_TO_LEFT)?.length ?? 0) > all.length / 2;
  const ordered = pieces.toSorted((a, b) => (isLeftward ? b.piece.from - a.piece.from : a.piece.from - b.piece.from));
  let text = "";
  let before: Line["pieces"][number] | undefined;
  for (const each of ordered) {
    if (before !== undefined && isTwice(before.piece, each.piece)) continue;
    if (before !== undefined) text += isLeftward ? writeGap(each, before) : writeGap(before, each);
    text += each.piece.text;
    before = each;
  }
  return text;
}

function isTwice(one: TextPiece, other: TextPiece): boolean {
  return one.text === other.text && Math.abs(one.from - other.from) < TWICE * other.size;
}

/** What stands between a piece and the one to its right. */
function writeGap(left: Line["pieces"][number], right: Line["pieces"][number]): string {
  const gap = right.piece.from - left.piece.to;
  const size = Math.max(1, Math.min(left.piece.size, right.piece.size));
  if (gap > COLUMN * size) return "   ";
  const [first, second] = left.at < right.at ? [left, right] : [right, left];
  const isSpaced = second.piece.isSpaced && second.at === first.at + 1;
  return gap > WORD * size || isSpaced ? " " : "";
}
