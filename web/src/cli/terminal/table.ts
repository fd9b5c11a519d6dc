/**
 * Rows in columns: aligned on a terminal, tab-separated in a pipe.
 * @module
 */
import { onOneLine, wrap, type Output } from "./terminal.js";

/** One column: its heading, and whether its cells are aligned to the right. */
export interface Column {
  readonly title: string;
  readonly right?: boolean;
}

/** Lines of an aligned table under its headings, two spaces between columns. */
export function alignTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const titles = columns.map(({ title }) => title);
  const widths = columns.map((_, i) =>
    [titles, ...rows].reduce((widest, row) => Math.max(widest, width(row[i] ?? "")), 0),
  );
  return [titles, ...rows].map((row) =>
    row
      .map((cell, i) => {
        const space = " ".repeat((widths[i] ?? 0) - width(cell));
        return columns[i]?.right === true ? space + cell : cell + space;
      })
      .join("  ")
      .trimEnd(),
  );
}

/** Columns that a text takes on a terminal: wide East Asian characters take two, combining marks none. */
function width(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue;
    columns +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return columns;
}

/** Prints an aligned table under bold headings. Prints nothing without rows. */
export async function printTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  output: Output,
): Promise<void> {
  if (rows.length === 0) return;
  const [titles = "", ...lines] = alignTable(columns, rows);
  await output.write(`${output.bold(titles)}\n${lines.map((line) => `${line}\n`).join("")}`);
}

/** One row with tabs between its cells. Cells hold no tabs, since `printable` escapes them. */
export function joinRow(row: readonly string[]): string {
  return row.join("\t");
}

/** Least width of the last column, however long the other cells are. */
const LEAST = 24;

/** What happens to a last cell that does not fit the terminal. */
export type Overlong = "cut" | "wrap";

/** Prints rows of foreign text: a table whose last cell fits the terminal, or tab-separated lines in a pipe. */
export async function printRows(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  output: Output,
  overlong: Overlong = "cut",
): Promise<void> {
  const cells = rows.map((row) => row.map(onOneLine));
  if (!output.isTerminal) {
    await output.write(cells.map((row) => `${joinRow(row)}\n`).join(""));
    return;
  }
  const left = Math.max(LEAST, output.columns - widthBefore(columns, cells));
  const fitting = cells.flatMap((row) => fittingRows(row, left, overlong));
  await printTable(columns, fitting, output);
}

/** Characters before the last column. */
function widthBefore(columns: readonly Column[], cells: readonly (readonly string[])[]): number {
  const lines = alignTable(
    [...columns.slice(0, -1), { title: "|" }],
    cells.map((row) => [...row.slice(0, -1), "|"]),
  );
  return lines.reduce((most, line) => Math.max(most, line.length - 1), 0);
}

/** The row, with at most `most` characters per line in its last cell. */
function fittingRows(row: readonly string[], most: number, overlong: Overlong): string[][] {
  const [before, last = ""] = [row.slice(0, -1), row.at(-1)];
  if (overlong === "cut") return [[...before, shortenText(last, most)]];
  const [first = "", ...more] = wrap(last, most);
  return [[...before, first], ...more.map((line) => [...before.map(() => ""), line])];
}

/** The beginning of a text, at most `most` characters. */
function shortenText(text: string, most: number): string {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const beginning = characters.slice(0, most - 1).join("");
  return `${beginning.trimEnd()}…`;
}
