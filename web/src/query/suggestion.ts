/**
 * What may be meant by a query that SQLite does not understand: names that are near, and how SQLite says what other dialects do.
 * @module
 */

/** Names that an error lists. */
const NAMES_LISTED = 40;

/** Says that there is no such column, and which there are. `name` may be a path into JSON, as in `customer.city`. */
export function listMissingColumn(name: string, columns: readonly string[], sql: string): string {
  const unquoted = columns.find(
    (each) => each === name || (each.startsWith(name) && /[^\w]/.test(each) && sql.includes(each)),
  );
  if (unquoted !== undefined) return `There is a column ${quoteName(unquoted)}: write it in double quotes.`;
  const path = findPath(name, columns);
  if (path !== undefined) return `There is no column ${quoteName(name)}. A member of JSON is written ${path}.`;
  const last = name.slice(name.lastIndexOf(".") + 1);
  const near = findNearest(last, columns);
  const quotes = near === undefined ? " Text stands in single quotes." : "";
  return `There is no column ${quoteName(last)}.${suggest(near)} The columns are ${listNames(columns)}.${quotes}`;
}

/** Says that there is no such table, and which there are. */
export function listMissingTable(name: string, tables: readonly string[]): string {
  return `There is no table ${quoteName(name)}.${suggest(findNearest(name, tables))} The tables are ${listNames(tables)}.`;
}

const RESERVED =
  /^(?:add|all|alter|and|as|between|by|case|check|create|default|delete|distinct|else|end|exists|foreign|from|group|having|in|index|into|is|join|limit|not|null|on|or|order|primary|references|select|set|table|then|to|union|unique|update|using|values|when|where)$/i;

/** Which column has to be quoted, since its name is a word of SQL. */
export function explainReserved(
  sql: string,
  tables: readonly { readonly columns: readonly { readonly name: string }[] }[],
): string | undefined {
  const word = tables
    .flatMap(({ columns }) => columns.map(({ name }) => name))
    .find(
      (name) => RESERVED.test(name) && new RegExp(String.raw`(?<!["'\w])${name}(?!["'\w])(?!\s+by\b)`, "i").test(sql),
    );
  return word === undefined ? undefined : ` The column ${quoteName(word)} is a word of SQL: write it in double quotes.`;
}

const MAX_NAME = 100;

/** A name in quotes, shortened. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
}

/** How SQLite reaches inside JSON, if a part of the name is a column: `customer.city` is `customer->>'$.city'`. */
function findPath(name: string, columns: readonly string[]): string | undefined {
  const parts = name.slice(0, 1000).split(".");
  const known = new Set(columns.map((column) => column.toLowerCase()));
  const at = parts.slice(0, -1).findIndex((part) => known.has(part.toLowerCase()));
  if (at < 0) return undefined;
  return `${parts.slice(0, at + 1).join(".")}->>'$.${parts.slice(at + 1).join(".")}'`;
}

/** A name as SQL has it. */
export const quoteInSql = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const suggest = (near: string | undefined): string => (near === undefined ? "" : ` Did you mean ${quoteName(near)}?`);

function listNames(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length > NAMES_LISTED ? ` and ${names.length - NAMES_LISTED} more` : "";
  return names.slice(0, NAMES_LISTED).map(quoteName).join(", ") + more;
}

/** Most names that are compared, and most characters of each. */
const COMPARED_NAMES = 1000;

function findNearest(name: string, names: readonly string[]): string | undefined {
  const wanted = name.toLowerCase().slice(0, MAX_NAME);
  const most = Math.max(1, Math.floor(wanted.length / 3));
  return names
    .slice(0, COMPARED_NAMES)
    .map((each) => ({ each, far: measureDistance(wanted, each.toLowerCase().slice(0, MAX_NAME)) }))
    .filter(({ each, far }) => far <= most || (wanted.length > 2 && each.toLowerCase().includes(wanted)))
    .toSorted((a, b) => a.far - b.far)[0]?.each;
}

/** How many characters have to be changed to make one word of another (Levenshtein). */
function measureDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}

/** How SQLite says what other dialects call by these names. */
const FUNCTIONS: readonly (readonly [names: RegExp, remedy: string])[] = [
  [
    /^(?:YEAR|MONTH|DAY|HOUR|DATE_TRUNC|DATE_PART|DATE_FORMAT|TO_CHAR|DATEPART)$/,
    "strftime('%Y-%m', day) takes dates apart",
  ],
  [/^(?:NOW|GETDATE|CURDATE)$/, "datetime('now') is the time"],
  [/^(?:DATEDIFF|DATE_DIFF)$/, "julianday(a) - julianday(b) is the number of days"],
  [/^LEFT$/, "substr(a, 1, 3) is the beginning"],
  [/^RIGHT$/, "substr(a, -3) is the end"],
  [/^(?:POSITION|STRPOS|LOCATE|CHARINDEX|CONTAINS)$/, "instr(a, 'part') is a place, 0 where there is none"],
  [/^GREATEST$/, "max(a, b) is the larger one"],
  [/^LEAST$/, "min(a, b) is the smaller one"],
  [/^(?:REGEXP.*|RLIKE|SIMILAR)$/, "there are no regular expressions: use LIKE or GLOB"],
  [/^(?:JSON_VALUE|JSON_QUERY|GET_JSON_OBJECT)$/, "a->>'$.b' is a member of JSON"],
  [/^(?:UNNEST|EXPLODE|FLATTEN)$/, "json_each(a) is a table of the elements of an array"],
  [/^(?:ARRAY_LENGTH|CARDINALITY)$/, "json_array_length(a) counts elements"],
  [/^(?:ARRAY_AGG|COLLECT_LIST|LIST|JSON_ARRAYAGG)$/, "json_group_array(a) makes an array of a group"],
  [/^LISTAGG$/, "group_concat(a, ', ') joins texts of a group"],
  [/^SPLIT_PART$/, "substr and instr take texts apart"],
];

/** What to write in place of what SQLite did not understand; empty if that is not known. */
export function explainDialect(message: string, sql: string): string {
  if (/\b(?:from|join)\s+artifact:/i.test(sql))
    return ' The artifact of uri is the table rows; the URI of another one stands in double quotes: JOIN "artifact://…".';
  const [, name] = /^no such (?:function|table): (?:main\.)?(\w+)/.exec(message) ?? [];
  const remedy = name === undefined ? undefined : FUNCTIONS.find(([names]) => names.test(name.toUpperCase()))?.[1];
  if (remedy !== undefined) return ` In SQLite ${remedy}.`;
  if (message === "integer overflow") return " TOTAL(a) adds numbers that are rounded.";
  const [, near] = /^near "([^"]*)": syntax error/.exec(message) ?? [];
  if (near === undefined) return message.startsWith('unrecognized token: ":') ? " Write CAST(a AS REAL)." : "";
  const word = near.toUpperCase();
  if (word === "ILIKE") return " LIKE ignores the case of a to z.";
  if (word === "FROM" && /\bextract\s*\(/i.test(sql)) return " In SQLite strftime('%Y-%m', day) takes dates apart.";
  if (word === "SEPARATOR") return " Write the separator behind a comma: group_concat(a, ', ').";
  if (near === ".") return " A member of JSON is written a->>'$.b.c'.";
  return /^[a-z_]+$/i.test(near) ? ` If ${quoteName(near)} is a column, write it in double quotes.` : "";
}
