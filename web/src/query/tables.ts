/**
 * The tables that one query reads, by the names that it gives them.
 * @module
 */
import type { NamedTables, QueryTable } from "./types.js";
import { quotedName, unknownTable } from "./scope.js";
import { wrongQuery } from "./statement.js";

/** The name of the table that every query has. */
const ROWS = "rows";

/** Most names of tables in one query. */
const MOST = 20;

/** The tables of a query. Each is read once. */
export class Tables {
  readonly #rows: QueryTable;
  readonly #opened = new Map<string, QueryTable>();

  /** `rows` is the table of that name. */
  constructor(rows: QueryTable) {
    this.#rows = rows;
  }

  /**
   * Opens the tables of a query. A name that is no table's stands for `rows` if there is no more than one table.
   *
   * @throws SluiceError E_INVALID_ARGUMENT for a name that is no table; what opening throws.
   */
  async open(names: ReadonlySet<string>, others: NamedTables | undefined): Promise<void> {
    if (names.size > MOST) throw wrongQuery(`The query names more than ${MOST} tables: name fewer.`);
    const unknown: string[] = [];
    for (const name of names) {
      if (name.toLowerCase() === ROWS) this.#opened.set(name, this.#rows);
      else {
        const found = await others?.open(name);
        if (found === undefined) unknown.push(name);
        else this.#opened.set(name, found);
      }
    }
    const [first] = unknown;
    if (first === undefined) return;
    const known = (await others?.names()) ?? [];
    if (known.length > 1 || (known.length > 0 && names.size > 1)) throw wrongQuery(unknownTable(first, known));
    if (new Set(Array.from(names, (name) => name.toLowerCase())).size > 1) {
      const named = Array.from(names, quotedName).join(", ");
      throw wrongQuery(
        `There is one table, "${ROWS}", and the query names ${names.size}: ${named}. To join it with itself, write ${ROWS} for each, with an alias.`,
      );
    }
    for (const name of unknown) this.#opened.set(name, this.#rows);
  }

  /** The table that a name stands for. */
  get(name: string): QueryTable {
    return this.#opened.get(name) ?? this.#rows;
  }

  /** What the reader of the answer should know of the tables that are read. */
  get notes(): readonly string[] {
    return [...new Set(Array.from(this.#opened.values()).flatMap(({ notes = [] }) => notes))];
  }

  /** Gives up what the tables are read of. */
  async close(): Promise<void> {
    for (const table of new Set([this.#rows, ...this.#opened.values()])) await table.close?.();
  }
}
