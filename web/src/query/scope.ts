/**
 * The columns that a query names, and what it means by a name.
 * @module
 */
import type { QueryTable } from "./types.js";
import { wrongQuery } from "./statement.js";

/** Most columns or tables that an error lists. */
const NAMES_LISTED = 40;

/** Where the value of a name is. */
interface Place {
  /** Position in the rows that are read. */
  readonly index: number;
  /** Keys within the cell. */
  readonly path: readonly string[];
}

/** The names of the columns of a table: the exact name wins, then the first that differs in case alone. */
export class ColumnNames {
  readonly list: readonly string[];
  readonly #exact: ReadonlySet<string>;
  readonly #known: ReadonlyMap<string, string>;

  constructor(list: readonly string[]) {
    this.list = list;
    this.#exact = new Set(list);
    this.#known = new Map(list.toReversed().map((name) => [name.toLowerCase(), name] as const));
  }

  /** The column that a name means. */
  find(name: string): string | undefined {
    return this.#exact.has(name) ? name : this.#known.get(name.toLowerCase());
  }
}

/** The names of one table. Collects the columns that are needed. */
export class Scope {
  readonly #table: Pick<QueryTable, "columns" | "isOpen">;
  readonly #names: ReadonlySet<string>;
  readonly #columns: ColumnNames;
  readonly #needed = new Map<string, number>();

  /** `names` are those of the table. */
  constructor(table: Pick<QueryTable, "columns" | "isOpen">, names: readonly string[]) {
    this.#table = table;
    this.#names = new Set(names.map((name) => name.toLowerCase()));
    this.#columns = new ColumnNames(table.columns);
  }

  /** The columns that were asked for, in the order of the rows to be read. */
  get needed(): readonly string[] {
    return [...this.#needed.keys()];
  }

  /** Whether there is a column of that name. */
  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** Finds a column, or a value within one: `city`, `t.city`, `address.city`. */
  resolve(name: string, prefix?: string): Place {
    if (prefix === undefined) return this.#plain(name);
    const whole = this.#find(`${prefix}.${name}`);
    if (whole !== undefined) return this.#place(whole);
    if (this.#names.has(prefix.toLowerCase())) return this.#plain(name);
    const column = this.#find(prefix);
    if (column !== undefined) return this.#place(column, name.split("."));
    if (this.#table.isOpen === true) return this.#place(prefix, name.split("."));
    throw this.#unknown(`${prefix}.${name}`);
  }

  #plain(name: string): Place {
    const found = this.#find(name);
    if (found !== undefined) return this.#place(found);
    const [first = "", ...path] = name.split(".");
    const column = path.length > 0 ? this.#find(first) : undefined;
    if (column !== undefined) return this.#place(column, path);
    if (this.#table.isOpen === true) return this.#place(name);
    throw this.#unknown(name);
  }

  #find(name: string): string | undefined {
    return this.#columns.find(name);
  }

  #place(column: string, path: readonly string[] = []): Place {
    let index = this.#needed.get(column);
    if (index === undefined) {
      index = this.#needed.size;
      this.#needed.set(column, index);
    }
    return { index, path };
  }

  #unknown(name: string): Error {
    return wrongQuery(unknownColumn(name, this.#table.columns));
  }
}

/** Says that there is no such column, and which there are. */
export function unknownColumn(name: string, columns: readonly string[]): string {
  const near = nearest(name, columns);
  const quotes = near === undefined ? " Text stands in single quotes." : "";
  return `There is no column ${quotedName(name)}.${meant(near)} The columns are ${listed(columns)}.${quotes}`;
}

/** Says that there is no such table, and which there are. */
export function unknownTable(name: string, tables: readonly string[]): string {
  return `There is no table ${quotedName(name)}.${meant(nearest(name, tables))} The tables are ${listed(["rows", ...tables])}.`;
}

const MAX_NAME = 100;

/** A name in quotes, shortened. */
export function quotedName(name: string): string {
  return JSON.stringify(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
}

const meant = (near: string | undefined): string => (near === undefined ? "" : ` Did you mean ${quotedName(near)}?`);

function listed(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length > NAMES_LISTED ? ` and ${names.length - NAMES_LISTED} more` : "";
  return names.slice(0, NAMES_LISTED).map(quotedName).join(", ") + more;
}

function nearest(name: string, columns: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const most = Math.max(1, Math.floor(wanted.length / 3));
  return columns
    .slice(0, 1000)
    .map((column) => ({ column, far: distance(wanted, column.toLowerCase().slice(0, 100)) }))
    .filter(({ column, far }) => far <= most || (wanted.length > 2 && column.toLowerCase().includes(wanted)))
    .toSorted((a, b) => a.far - b.far)[0]?.column;
}

/** How many characters have to be changed to make one word of another (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= Math.min(a.length, 100); i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}
