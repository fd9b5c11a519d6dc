/**
 * What the first rows show of the texts that a query computes with: numbers and dates as people write them, and members that are not
 * there. SQLite takes each without a word for something else.
 * @module
 */
import { quoteInSql, quoteName } from "./suggestion.js";
import type { TableColumns } from "./table-query.js";
import type { Cells } from "./types.js";

/** Rows that are looked at, columns of one table, those that a query names, and members of JSON. */
const ROWS = 1000;
const MAX_LOOKED_AT = 300;
const MAX_COLUMNS = 30;
const MAX_MEMBERS = 10;

/** Texts that are longer are no numbers and no dates. */
const MAX_TEXT = 64;

/** Characters of a cell or a name that a note quotes, and those that are blanks there. */
const MAX_QUOTED = 40;
const UNPRINTED = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** How a text is read: as it is, as a number with a point and with a comma, and as a date in three ways. */
const READINGS = 6;

/** Something that a query names: a column, or a member of JSON. */
export interface Sampled {
  /** As a note writes it in SQL. */
  readonly sql: string;
  /** As SQL reads it, where that cannot stand in a note. */
  readonly source?: string;
  /** The name of a column; of a member none. */
  readonly column?: string;
}

/** What is asked to look at some of them, in the order of {@link explainSample}. */
export interface SampleQuery {
  readonly sql: string;
  readonly sampled: readonly Sampled[];
}

/** The questions that show what a query computes with. */
export function planSample(
  sql: string,
  tables: readonly TableColumns[],
  { isNothing }: AnswerShape,
): readonly SampleQuery[] {
  const plain = blankStrings(sql);
  const looksAtNumbers = isNothing || DATE_FUNCTION.test(sql);
  const ofTables = tables.map(({ name: table, columns }) => ({
    from: quoteInSql(table),
    sampled: columns
      .filter(({ type, isRead }) => isRead === true && (looksAtNumbers || isTextual(type)))
      .slice(0, MAX_LOOKED_AT)
      .filter(({ name }) => isComputed(plain, name))
      .slice(0, MAX_COLUMNS)
      .map(({ name }) => sampleColumn(name)),
  }));
  return [...ofTables, { from: findSource(sql), sampled: listMembers(sql) }].flatMap(({ from, sampled }) =>
    from === undefined || sampled.length === 0 ? [] : [{ sql: writeSample(from, sampled), sampled }],
  );
}

/** A column. Its name comes from the file: one that is long, or not of one line, is shortened in notes and left out of their SQL. */
function sampleColumn(column: string): Sampled {
  const source = quoteInSql(column);
  const plain = column.replace(UNPRINTED, " ");
  if (plain === column && column.length <= MAX_TEXT) return { sql: source, column };
  return { sql: "…", source, column: plain.length > MAX_QUOTED ? `${plain.slice(0, MAX_QUOTED)}…` : plain };
}

const isTextual = (type: string): boolean => type !== "INTEGER" && type !== "REAL";

function writeSample(from: string, sampled: readonly Sampled[]): string {
  const texts = sampled.map(
    ({ sql, source = sql }, at) =>
      `CASE WHEN typeof(${source}) = 'text' THEN substr(${source}, 1, ${MAX_TEXT + 1}) ELSE ${source} END AS v${at}`,
  );
  const readings = sampled.map(
    (_, at) =>
      `v${at}, to_number(v${at}), to_number(v${at}, ','), to_date(v${at}), to_date(v${at}, 'dmy'), to_date(v${at}, 'mdy')`,
  );
  return `SELECT ${readings.join(", ")} FROM (SELECT ${texts.join(", ")} FROM ${from} LIMIT ${ROWS})`;
}

/** The same SQL, with nothing in its strings. */
function blankStrings(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'/g, "''");
}

/** Characters that a pattern gives a meaning. */
const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** Whether a query does more with a column than to show it. */
function isComputed(sql: string, column: string): boolean {
  if (/\border\s+by\b/i.test(sql)) return true;
  const name = `["\`[]?${column.replace(SPECIAL, "\\$&")}(?![\\w])["\`\\]]?`;
  const before = String.raw`(?:[(<>=+\-/*|]|\b(?:where|by|and|or|on|having|between|not|in|when|then|else|case|distinct))\s*(?:[\w"]+\.)?`;
  const behind = String.raw`\s*(?:[<>=!+\-/*|)]|\b(?:is|between|in|like|glob|not)\b)`;
  return new RegExp(`${before}${name}|${name}${behind}`, "i").test(sql);
}

const MEMBER = /(?:"[^"]+"|\b[A-Za-z_]\w*)(?:\.(?:"[^"]+"|\w+))?(?:\s*->>?\s*(?:'(?:[^']|'')*'|\d+))+/g;

/** The members of JSON that a query reads, each once. */
function listMembers(sql: string): readonly Sampled[] {
  const members = new Set(
    [...sql.matchAll(MEMBER)].map(([member]) => member).filter((member) => member.includes("->>")),
  );
  return [...members].slice(0, MAX_MEMBERS).map((member) => ({ sql: member }));
}

/** Where a query has its rows from: one table, and what `json_each` makes of it. Undefined where that is more. */
function findSource(sql: string): string | undefined {
  const plain = blankStrings(sql);
  const [, from = ""] =
    /\bfrom\b([\s\S]*?)(?:\b(?:where|group\s+by|order\s+by|limit|having|window|union)\b|;|$)/i.exec(plain) ?? [];
  if (/^\s*with\b|\bjoin\b/i.test(plain) || /\bselect\b/i.test(from) || from.includes("''")) return undefined;
  const others = from.replace(/\bjson_(?:each|tree)\s*\([^()]*\)/gi, "json").split(",");
  return from.trim() !== "" && others.slice(1).every((other) => other.trim().startsWith("json")) ? from : undefined;
}

/** One cell, in each reading. */
interface Reading {
  readonly raw: unknown;
  readonly point: number | null;
  readonly comma: number | null;
  readonly dates: readonly [unsaid: unknown, dmy: unknown, mdy: unknown];
}

/** What an answer is like. */
export interface AnswerShape {
  readonly rows: number;
  /** Whether it is a count of nothing, or no row. */
  readonly isNothing: boolean;
}

/** Says what the rows of {@link SampleQuery} show that the reader of the answer should know. */
export function explainSample(
  sql: string,
  { sampled }: SampleQuery,
  rows: readonly Cells[],
  shape: AnswerShape,
): readonly string[] {
  return sampled.flatMap((one, at) => {
    const readings = rows.map((cells): Reading => {
      const [raw, point, comma, unsaid, dmy, mdy] = cells.slice(at * READINGS, (at + 1) * READINGS);
      return { raw, point: point as number | null, comma: comma as number | null, dates: [unsaid, dmy, mdy] };
    });
    const note =
      explainTexts(sql, one, readings) ?? explainTimes(sql, one, readings) ?? explainNothing(sql, one, readings, shape);
    return note === undefined ? [] : [note];
  });
}

/** Texts that stand for no value, in lower case. */
const NULLS = new Set([
  "null",
  "(null)",
  "\\n",
  "n/a",
  "#n/a",
  "na",
  "n.a.",
  "nan",
  "none",
  "nil",
  "-",
  "--",
  "—",
  "–",
  "?",
  ".",
  "k.a.",
  "nd",
]);

/** What SQLite reads as a date, with seconds and a zone or without. */
const ISO = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| ?[+-]\d\d:\d\d)?)?$/;

/** The share of texts that have to be dates, and numbers. */
const MOST = 0.9;
const HALF = 0.5;

function explainTexts(sql: string, one: Sampled, readings: readonly Reading[]): string | undefined {
  const texts = readings.filter(({ raw }) => typeof raw === "string" && raw.trim() !== "");
  const nulls = texts.filter(({ raw }) => NULLS.has(String(raw).trim().toLowerCase()));
  const values = texts.filter(({ raw }) => !NULLS.has(String(raw).trim().toLowerCase()));
  if (texts.length === 0) return undefined;
  const name = nameSampled(one);
  const isIso = values.every(({ raw }) => ISO.test(String(raw)));
  return (
    explainObjects(sql, one, name, values) ??
    explainFlags(sql, name, values) ??
    explainCodes(sql, one, values) ??
    (isIso
      ? explainOffsets(sql, name, values)
      : (explainDates(sql, one, name, values) ??
        explainNumbers(sql, one, name, readings, texts, values) ??
        explainDurations(sql, one, name, values))) ??
    explainNulls(sql, one, name, nulls, readings.length) ??
    explainCase(sql, name, values)
  );
}

const nameSampled = ({ sql, column }: Sampled): string => (column === undefined ? sql : quoteName(column));

/** Objects and arrays of JSON are texts, which are larger than any number. */
function explainObjects(
  sql: string,
  { sql: written, column }: Sampled,
  name: string,
  values: readonly Reading[],
): string | undefined {
  if (column === undefined || values.length === 0 || !values.every(({ raw }) => /^(?:\{"|\{\}|\[)/.test(String(raw))))
    return undefined;
  const own = `["\`[]?${column.replace(SPECIAL, "\\$&")}["\`\\]]?`;
  const use = String.raw`\b(?:sum|avg|min|max|total)\s*\(\s*(?:\w+\.)?${own}\s*\)|(?<![\w"])${own}\s*(?:[<>=!]|(?:not\s+)?(?:in|between)\b|desc\b|asc\b)`;
  if (!new RegExp(use, "i").test(blankStrings(sql))) return undefined;
  const [, key] = /^\{"([^"]{1,40})"/.exec(String(values[0]?.raw)) ?? [];
  const member = key === undefined ? `${written}->>0 is its first element` : `${written}->>'$."${key}"' is a member`;
  return `${name} is JSON in most rows, such as ${quote(values[0] as Reading)}, and compared as text: ${member}.`;
}

/** Words for yes and no, which SQLite takes for nothing. */
const FLAGS: readonly (readonly string[])[] = [
  ["true", "false"],
  ["yes", "no"],
  ["y", "n"],
  ["t", "f"],
  ["ja", "nein"],
  ["wahr", "falsch"],
  ["oui", "non"],
  ["vrai", "faux"],
  ["sí", "no"],
  ["si", "no"],
];

function explainFlags(sql: string, name: string, values: readonly Reading[]): string | undefined {
  const words = [...new Set(values.map(({ raw }) => String(raw)))].slice(0, 3);
  const isFlag = FLAGS.some((pair) => words.every((word) => pair.includes(word.toLowerCase())));
  if (!isFlag || words.length > 2 || words.length === 0 || words.some((word) => sql.includes(`'${word}'`)))
    return undefined;
  return `${name} is text, ${words.map((word) => `'${word}'`).join(" or ")}, and true is 1 in SQLite: compare it with the text.`;
}

/** Codes such as `007` are no numbers. */
function explainCodes(sql: string, { column }: Sampled, values: readonly Reading[]): string | undefined {
  const code = values.find(({ raw }) => /^0\d+$/.test(String(raw)));
  if (code === undefined || column === undefined) return undefined;
  const name = column.replace(SPECIAL, "\\$&");
  if (!new RegExp(String.raw`\b${name}"?\s*(?:[<>=!]+|in\s*\(|between)\s*\d`, "i").test(blankStrings(sql)))
    return undefined;
  return `${quoteName(column)} is text with leading zeros: compare it as in = '${String(code.raw)}'.`;
}

const DATE_FUNCTION = /\b(?:date|time|datetime|strftime|julianday|unixepoch|timediff)\s*\(/i;

function explainOffsets(sql: string, name: string, values: readonly Reading[]): string | undefined {
  if (!DATE_FUNCTION.test(sql)) return undefined;
  const other = values.find(
    ({ raw }) => /[+-](?!00:00)\d\d:\d\d$/.test(String(raw)) && String(raw).length > MIN_OFFSET,
  );
  return other === undefined
    ? undefined
    : `${name} has times with an offset, such as ${quote(other)}: date functions make UTC of them; substr(${name}, 1, 10) is the day as it is written.`;
}

/** What numbers are as points in time, by how large they are; SQLite takes them for Julian days. */
const TIMES: readonly (readonly [least: number, most: number, unit: string, write: (name: string) => string])[] = [
  [1e8, 1e10, "seconds since 1970", (name) => `date(${name}, 'unixepoch')`],
  [1e11, 1e13, "milliseconds since 1970", (name) => `date(${name} / 1000, 'unixepoch')`],
  [1e14, 1e16, "microseconds since 1970", (name) => `date(${name} / 1000000, 'unixepoch')`],
  [18_000_101, 22_000_101, "days such as 20250131", (name) => `to_date(${name})`],
  [20_000, 80_000, "days as Excel counts them", (name) => `date((${name} - 25569) * 86400, 'unixepoch')`],
];

function explainTimes(sql: string, one: Sampled, readings: readonly Reading[]): string | undefined {
  const numbers = readings.flatMap(({ raw }) => (typeof raw === "number" ? [raw] : []));
  const written = (one.column ?? one.sql).replace(SPECIAL, "\\$&");
  const call = String.raw`\b(?:date|time|datetime|julianday|unixepoch|strftime\s*\(\s*'[^']*'\s*,|date\s*\()\s*\(?\s*(?:\w+\.)?"?${written}"?\s*`;
  if (numbers.length === 0 || !new RegExp(`${call}[,)]`, "i").test(sql)) return undefined;
  const time = TIMES.find(([least, most]) => numbers.every((number) => number >= least && number < most));
  const isJulian = numbers.every((number) => number > 2e6 && number < 3e6);
  if (time === undefined && !isJulian && new RegExp(`${call}\\)`, "i").test(sql))
    return `${nameSampled(one)} is a number, which date functions take for a Julian day.`;
  if (time === undefined || (time[0] < 1e10 && time[0] > 1e7 && /'(?:unixepoch|auto)'/i.test(sql))) return undefined;
  const [, , unit, write] = time;
  return `${nameSampled(one)} seems to hold ${unit}: ${write(one.sql)} is the day.`;
}

/** Shorter texts are days, whose end looks like an offset. */
const MIN_OFFSET = 16;

function explainDates(
  sql: string,
  { sql: written }: Sampled,
  name: string,
  values: readonly Reading[],
): string | undefined {
  const [unsaid, dmy, mdy] = [0, 1, 2].map(
    (at) => values.filter(({ dates }) => typeof dates[at] === "string").length,
  ) as [number, number, number];
  if (Math.max(unsaid, dmy, mdy) < values.length * MOST || values.length === 0 || /\bto_date\s*\(/i.test(sql))
    return undefined;
  const sample = values.find(({ raw }) => !ISO.test(String(raw))) as Reading;
  const begin = `${name} is text, such as ${quote(sample)}, which SQLite does not read as a date: `;
  if (unsaid >= dmy && unsaid >= mdy) return `${begin}to_date(${written}) is ISO 8601.`;
  if (dmy === mdy)
    return `${begin}to_date(${written}, 'dmy') is ISO 8601, or 'mdy': the first rows do not tell which comes first, the day or the month.`;
  return `${begin}to_date(${written}, '${dmy > mdy ? "dmy" : "mdy"}') is ISO 8601.`;
}

function explainNumbers(
  sql: string,
  { sql: written }: Sampled,
  name: string,
  readings: readonly Reading[],
  texts: readonly Reading[],
  values: readonly Reading[],
): string | undefined {
  if (/\bto_number\s*\(/i.test(sql)) return undefined;
  const plain = readings.filter(({ raw }) => typeof raw === "number").length;
  const withPoint = values.filter(({ point }) => point !== null);
  const withComma = values.filter(({ comma }) => comma !== null);
  const isComma = withComma.length > withPoint.length;
  const numbers = isComma ? withComma : withPoint;
  // Of amounts nearly all are some; numbers may be mixed with texts.
  const bare = plain + numbers.filter(({ raw }) => PLAIN.test(String(raw))).length;
  const total = values.length + plain;
  if (numbers.length + plain < total * MOST && bare < total * HALF) return undefined;
  if (numbers.length === 0 && plain === 0) return undefined;
  const units = [...new Set(numbers.map(({ raw }) => String(raw).replace(/[\d.,'’\s()+−–-]/g, "")))];
  if (units.length > MAX_UNITS) return undefined;
  if (units.length > 1) {
    const some = units
      .slice(0, 2)
      .map((unit) => numbers.find(({ raw }) => String(raw).endsWith(unit) || String(raw).startsWith(unit)));
    return `${name} is text with several units, such as ${some.map((each) => quote(each ?? (numbers[0] as Reading))).join(" and ")}: numbers of one unit alone can be added and compared, and to_number(${written}) leaves the unit out.`;
  }
  const sample = numbers.find(({ raw }) => !PLAIN.test(String(raw))) ?? numbers[0];
  const odd = texts.filter((each) => !numbers.includes(each));
  const isEither =
    !isComma && numbers.some(({ raw, point, comma }) => comma !== null && comma !== point && String(raw).includes("."));
  const call = isComma ? `to_number(${written}, ',')` : `to_number(${written})`;
  return [
    `${name} is ${plain > 0 ? "in part " : ""}text`,
    ...(sample === undefined ? [] : [`, such as ${quote(sample)}`]),
    ...(odd.length === 0 || sample === undefined
      ? []
      : [`, and ${odd.length} of the first ${readings.length} are no numbers, such as ${quote(odd[0] as Reading)}`]),
    isEither && withComma.length === withPoint.length
      ? `: to_number(${written}, ',') is the number if the point separates thousands, and ${call} if decimals follow it.`
      : `, which SQLite adds and compares as text: ${call} is the number${odd.length > 0 ? ", or NULL" : ""}.`,
  ].join("");
}

/** Lengths of time, of which SQLite takes the first figures alone. */
function explainDurations(
  sql: string,
  { sql: written }: Sampled,
  name: string,
  values: readonly Reading[],
): string | undefined {
  const count = values.filter(({ raw }) => DURATION.test(String(raw))).length;
  const isAdded = /\b(?:sum|avg|total|median)\s*\(/i.test(sql);
  const figures = isAdded ? values.filter(({ raw }) => /^[^\p{L}\d]?\d/u.test(String(raw))).length : 0;
  if (
    count + figures === 0 ||
    Math.max(count, figures) < values.length * MOST ||
    /\b(?:unixepoch|to_number|to_date)\s*\(/i.test(sql)
  )
    return undefined;
  const isClock = values.every(({ raw }) => /^[01]\d:[0-5]\d:[0-5]\d$|^2[0-3]:[0-5]\d:[0-5]\d$/.test(String(raw)));
  const remedy = isClock ? `; unixepoch('1970-01-01 ' || ${written}) is its seconds` : "";
  return `${name} is text, such as ${quote(values[0] as Reading)}, of which SQLite adds the first figures alone, and which it compares as text${remedy}.`;
}

const DURATION = /^\d+:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?$|^(?:\d+(?:\.\d+)?\s*[A-Za-z]{1,7}\s*){2,4}$/;

/** Words that stand for no value, where SQL's NULL may be meant. */
function explainNulls(
  sql: string,
  { sql: written }: Sampled,
  name: string,
  nulls: readonly Reading[],
  rows: number,
): string | undefined {
  const [first] = nulls;
  const isMeant = /\bis\s+(?:not\s+)?null\b|\b(?:count|min|max|coalesce|ifnull)\s*\(\s*(?!\*)/i.test(sql);
  if (first === undefined || !isMeant || sql.includes(`'${String(first.raw)}'`)) return undefined;
  return `${name} is ${quote(first)} in ${nulls.length} of the first ${rows} rows, a text and not NULL: NULLIF(${written}, '${String(first.raw).replaceAll("'", "''")}').`;
}

/** Letters that are not ASCII have no case for SQLite. */
function explainCase(sql: string, name: string, values: readonly Reading[]): string | undefined {
  const isText = /'[^']*[^\p{ASCII}][^']*'/u.test(sql) && /\blike\b/i.test(sql);
  const isFolded = /\b(?:lower|upper)\s*\(/i.test(sql);
  const other = values.find(({ raw }) => /(?!\p{ASCII})[\p{Lu}\p{Ll}]/u.test(String(raw)));
  if (other === undefined || !(isText || isFolded)) return undefined;
  return `LIKE, LOWER and UPPER know the case of a to z alone: letters of ${name} such as in ${quote(other)} have to be written as they are.`;
}

const PLAIN = /^-?\d+(?:\.\d+)?$/;

/** Units of one column; names that end with letters have more. */
const MAX_UNITS = 5;

/** What there is in place of what was not found. */
function explainNothing(
  sql: string,
  one: Sampled,
  readings: readonly Reading[],
  { isNothing }: AnswerShape,
): string | undefined {
  const values = readings.filter(({ raw }) => raw !== null);
  const name = nameSampled(one);
  if (one.column === undefined && readings.length > 0 && values.length === 0)
    return `${name} is NULL in the first ${readings.length} rows: there may be no such member.`;
  if (!isNothing || values.length === 0) return undefined;
  if (!/\b(?:where|having|on)\b|\b(?:sum|avg|total)\s*\(/i.test(sql)) return undefined;
  const some = [...new Map(values.map((value) => [String(value.raw), value])).values()].slice(0, 3);
  return `Nothing was found; ${name} is such as ${some.map(quote).join(", ")}.`;
}

/** A cell in quotes. It may come from anywhere, so that it stays short and on one line. */
function quote({ raw }: Reading): string {
  const text = String(raw).replace(UNPRINTED, " ");
  const short = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return typeof raw === "number" ? short : JSON.stringify(short);
}
