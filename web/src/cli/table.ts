/**
 * Rows in columns: aligned for a person, tab-separated for a pipe.
 * @module
 */

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
