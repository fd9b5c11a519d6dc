/**
 * The row of totals that stands at the end of many tables, and would be added to what it adds up.
 * @module
 */
import { quoteInSql } from "./suggestion.js";

/** A row of totals: what a query that leaves it out asks for. */
export interface TotalRow {
  /** The text by which it is told; empty where there is none. */
  readonly text: string;
  /** The text of another one above it. */
  readonly other?: string;
  readonly condition: string;
}

/** Words of a total, in lower case, alone or with what they are a total of. */
const TOTAL =
  /^(?:(?:grand|overall|net|sub)[ -]?)?(?:totals?|sum|summe|gesamt(?:summe|betrag)?|endsumme|zwischensumme|total g[ée]n[ée]ral|total general|totale|totaal|suma|razem|celkem|toplam|итого|всего|合计|总计|合計)(?: \(.{1,20}\)| [A-Z]{3})?\s*:?$/i;

/** A total of some rows, short enough to be told. */
const SUBTOTAL = /^(?:[^\p{C}\p{Zl}\p{Zp}]{0,40} )?(?:sub-?)?total$/iu;

/** Titles of columns that can stand in a sentence: they come from the file. */
const PLAIN_TITLE = /^[^\p{C}\p{Zl}\p{Zp}]{0,64}$/u;

const NUMBER = /^[^\p{L}]{0,3}\d[\d.,' \u00A0\u202F]*[^\p{L}]{0,3}$/u;

/** Finds it in the last rows of a table. Undefined if the last one is as the others. */
export function findTotal(names: readonly string[], rows: readonly (readonly string[])[]): TotalRow | undefined {
  const last = rows.at(-1);
  if (last === undefined || rows.length < 2) return undefined;
  const numbers = last.filter((cell) => NUMBER.test(cell.trim())).length;
  if (numbers === 0) return undefined;
  const at = last.findIndex((cell) => TOTAL.test(cell.trim()));
  const place = Math.max(0, at);
  const title = names[place]?.trim() ?? "";
  const name = PLAIN_TITLE.test(title) ? quoteInSql(title === "" ? `column_${place + 1}` : title) : "…";
  if (at >= 0) {
    const text = (last[at] as string).trim();
    const other = rows
      .slice(0, -1)
      .find((cells) => SUBTOTAL.test(cells[at]?.trim() ?? ""))
      ?.[at]?.trim();
    const isBoth = other !== undefined && SUBTOTAL.test(text);
    return isBoth
      ? { text, other, condition: `${name} NOT LIKE '%total'` }
      : { text, condition: `${name} <> '${(last[at] as string).replaceAll("'", "''")}'` };
  }
  const isBlank = last[0]?.trim() === "" && rows.slice(0, -1).every(([first = ""]) => first.trim() !== "");
  return isBlank && numbers > 1 ? { text: "", condition: `${name} IS NOT NULL` } : undefined;
}

const AGGREGATE = /\b(?:sum|avg|total|count|min|max|median|percentile\w*)\s*\(|\border\s+by\b|\blimit\b/i;

/** Says so to who asks for what it would change. */
export function explainTotal({ text, other, condition }: TotalRow, sql: string): string | undefined {
  const isNamed = text === "" ? /\bis\s+not\s+null\b/i.test(sql) : sql.includes(`'${text}'`);
  const isLeftOut = other === undefined ? isNamed : /\bnot\s+like\b/i.test(sql);
  if (isLeftOut || !AGGREGATE.test(sql)) return undefined;
  const told = text === "" ? "has no name, and may be a total" : `is a total (${JSON.stringify(text)})`;
  if (other !== undefined)
    return `The last row ${told}, and so are others, such as ${JSON.stringify(other)}: WHERE ${condition} leaves them out.`;
  return `The last row ${told}, and is among the rows: WHERE ${condition} leaves it out.`;
}
