/**
 * Ranges of cells as office programs write them: `B2:D40`, `A:C`, `5:9`, with the name of a sheet or without.
 * @module
 */

/** Most columns of a sheet, in Excel. */
export const MAX_COLUMNS = 16_384;

/** Most rows of a sheet, in Excel and LibreOffice. */
export const MAX_ROWS = 1_048_576;

/** A block of cells: rows and columns from 1, the last ones included. */
export interface CellRange {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

/** All cells of a sheet. */
export const ALL_CELLS: CellRange = { firstRow: 1, lastRow: MAX_ROWS, firstColumn: 1, lastColumn: MAX_COLUMNS };

const CORNER = /^\$?([A-Za-z]{1,3})?\$?([0-9]{1,7})?$/;

/**
 * Reads `B2:D40`, `B2`, `A:C` or `5:9`, with `$` or without, the corners in any order. Undefined for anything else, and for what is beyond
 * the last row or column that there can be.
 */
export function parseRange(text: string): CellRange | undefined {
  const corners = text.trim().split(":");
  if (corners.length > 2) return undefined;
  const [from, to = from] = corners.map(parseCorner);
  if (from === undefined || to === undefined) return undefined;
  const isWhole = from.row === undefined || from.column === undefined;
  // `A` and `5` alone are no ranges, and `A:5` is none.
  if (isWhole && corners.length === 1) return undefined;
  if ((from.row === undefined) !== (to.row === undefined)) return undefined;
  if ((from.column === undefined) !== (to.column === undefined)) return undefined;
  const rows = [from.row ?? 1, to.row ?? MAX_ROWS];
  const columns = [from.column ?? 1, to.column ?? MAX_COLUMNS];
  return {
    firstRow: Math.min(...rows),
    lastRow: Math.max(...rows),
    firstColumn: Math.min(...columns),
    lastColumn: Math.max(...columns),
  };
}

function parseCorner(
  text: string,
): { readonly row: number | undefined; readonly column: number | undefined } | undefined {
  const [whole, letters, digits] = CORNER.exec(text.trim()) ?? [];
  if (whole === undefined || (letters === undefined && digits === undefined)) return undefined;
  const row = digits === undefined ? undefined : Number(digits);
  const column = letters === undefined ? undefined : columnNumber(letters);
  if (row !== undefined && (row < 1 || row > MAX_ROWS)) return undefined;
  return column !== undefined && column > MAX_COLUMNS ? undefined : { row, column };
}

/** Splits `Sheet2!B2:D40` and `'My sheet'!A:C` into the sheet and the range. Undefined for what does not end in a range. */
export function splitReference(text: string): { readonly sheet: string; readonly range: CellRange } | undefined {
  const at = text.lastIndexOf("!");
  const range = at < 1 ? undefined : parseRange(text.slice(at + 1));
  if (range === undefined) return undefined;
  const name = text.slice(0, at).trim();
  const sheet = /^'(.*)'$/s.exec(name)?.[1]?.replaceAll("''", "'") ?? name;
  return sheet === "" ? undefined : { sheet, range };
}

/** Writes a range as `B2:D40`, `A:C` or `5:9`. */
export function writeRange({ firstRow, lastRow, firstColumn, lastColumn }: CellRange): string {
  const allRows = firstRow === 1 && lastRow === MAX_ROWS;
  const allColumns = firstColumn === 1 && lastColumn === MAX_COLUMNS;
  const isWhole = allRows !== allColumns;
  const corner = (column: number, row: number): string =>
    `${isWhole && allColumns ? "" : columnName(column)}${isWhole && allRows ? "" : row}`;
  const first = corner(firstColumn, firstRow);
  const last = corner(lastColumn, lastRow);
  return first === last && !isWhole ? first : `${first}:${last}`;
}

/** Where both are; undefined if they have no cell in common. */
export function intersectRanges(one: CellRange, other: CellRange): CellRange | undefined {
  const both = {
    firstRow: Math.max(one.firstRow, other.firstRow),
    lastRow: Math.min(one.lastRow, other.lastRow),
    firstColumn: Math.max(one.firstColumn, other.firstColumn),
    lastColumn: Math.min(one.lastColumn, other.lastColumn),
  };
  return both.firstRow <= both.lastRow && both.firstColumn <= both.lastColumn ? both : undefined;
}

/** `AB` as 28. */
export function columnNumber(letters: string): number {
  let column = 0;
  for (let at = 0; at < letters.length; at++) column = column * 26 + (letters.charCodeAt(at) & 0xdf) - 64;
  return column;
}

/** 28 as `AB`. */
export function columnName(column: number): string {
  let name = "";
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26))
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}

/** Runs of numbers, first and last: `5-9, 12`. At most `most` are written. */
export function writeRuns(
  runs: readonly (readonly [number, number])[],
  most: number,
  name: (number: number) => string,
): string {
  const written = runs.slice(0, most).map(([from, to]) => (from === to ? name(from) : `${name(from)}-${name(to)}`));
  return `${written.join(", ")}${runs.length > most ? ` and ${runs.length - most} more` : ""}`;
}

/** What a formula refers to, moved by rows and columns: what `$` fixes stays, and so do texts and names. */
export function moveFormula(formula: string, rows: number, columns: number): string {
  return formula.replaceAll(
    /"(?:[^"]|"")*"|'(?:[^']|'')*'!|[\p{L}_.\\][\p{L}\p{N}_.]*\(|(?<![\p{L}\p{N}_.$])(\$?)([A-Za-z]{1,3})(\$?)([0-9]{1,7})(?![\p{L}\p{N}_.(!])/gu,
    (whole: string, fixedColumn?: string, letters?: string, fixedRow?: string, digits?: string) => {
      if (letters === undefined || digits === undefined) return whole;
      const column = columnNumber(letters) + (fixedColumn === "" ? columns : 0);
      const row = Number(digits) + (fixedRow === "" ? rows : 0);
      const isThere = column >= 1 && column <= MAX_COLUMNS && row >= 1 && row <= MAX_ROWS;
      return isThere ? `${fixedColumn}${columnName(column)}${fixedRow}${row}` : "#REF!";
    },
  );
}
