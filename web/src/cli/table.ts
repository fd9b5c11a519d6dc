/**
 * Rows in columns: aligned for a person, tab-separated for a pipe.
 * @module
 */
import { wrap } from "./help.js";
import { printable, type Output } from "./terminal.js";

/** One column: its heading, and whether its cells stand to the right. */
export interface Column {
  readonly title: string;
  readonly right?: boolean;
}

/** Lines of an aligned table under its headings, two spaces between columns. */
export function alignedTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
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

/** One row with tabs between its cells. Cells hold no tabs: `printable` has seen to that. */
export function tabbedRow(row: readonly string[]): string {
  return row.join("\t");
}

/** Columns of a terminal that a text takes: wide East Asian characters take two, combining marks none. */
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

/** Columns that the last cell has at least, however long the others are. */
const LEAST = 24;

/** What becomes of a last cell that is longer than the terminal is wide. */
export type Overlong = "cut" | "wrap";

/** Prints rows; nothing where there are none. In a table the last cell is made to fit the terminal. */
export async function printRows(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  output: Output,
  overlong: Overlong = "cut",
): Promise<void> {
  const cells = rows.map((row) => row.map(onOneLine));
  if (!output.isTerminal) {
    await output.write(cells.map((row) => `${tabbedRow(row)}\n`).join(""));
    return;
  }
  if (cells.length === 0) return;
  const left = Math.max(LEAST, output.columns - widthBefore(columns, cells));
  const fit = cells.flatMap((row) => fitting(row, left, overlong));
  const [titles = "", ...lines] = alignedTable(columns, fit);
  await output.write(`${output.bold(titles)}\n${lines.map((line) => `${line}\n`).join("")}`);
}

/** Characters before the last column. */
function widthBefore(columns: readonly Column[], cells: readonly (readonly string[])[]): number {
  const lines = alignedTable(
    [...columns.slice(0, -1), { title: "|" }],
    cells.map((row) => [...row.slice(0, -1), "|"]),
  );
  return lines.reduce((most, line) => Math.max(most, line.length - 1), 0);
}

/** The row, with a last cell of so many characters a line. */
function fitting(row: readonly string[], most: number, overlong: Overlong): string[][] {
  const [before, last = ""] = [row.slice(0, -1), row.at(-1)];
  if (overlong === "cut") return [[...before, shortened(last, most)]];
  const [first = "", ...more] = wrap(last, most);
  return [[...before, first], ...more.map((line) => [...before.map(() => ""), line])];
}

/** Foreign text as one line that a terminal does not obey. */
export function onOneLine(text: string): string {
  return printable(text.replace(/\s+/g, " ").trim());
}

/** The beginning of a text, of so many characters at most. */
function shortened(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most
    ? text
    : `${characters
        .slice(0, most - 1)
        .join("")
        .trimEnd()}…`;
}
