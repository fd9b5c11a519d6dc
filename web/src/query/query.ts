/**
 * Asks a question of tabular data in SQL. SQLite answers it, over tables that are read while it asks for the next row.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { explainSample, planSample, type AnswerShape } from "./sample.js";
import {
  explainRefusal,
  isKnownDatabase,
  listNamedTables,
  listReadColumns,
  noteDatabase,
  rememberDatabase,
} from "./stored-database.js";
import {
  explainDialect,
  explainReserved,
  listMissingColumn,
  listMissingTable,
  quoteInSql,
  quoteName,
} from "./suggestion.js";
import {
  readCells,
  type Outcome,
  type Prepared,
  type QueryFailure,
  type StoredTables,
  type TableColumns,
  type TableSpec,
} from "./table-query.js";
import type { QueryThread } from "./thread.js";
import { explainTotal } from "./total-row.js";
import type { Cells, NamedTables, QueryAnswer, QueryOptions, QueryTable, TableBytes } from "./types.js";

/** Longest query, in characters. */
const MAX_QUERY_CHARS = 10_000;

/** Most tables of one query. */
const MAX_TABLES = 20;

/** Most members that rows of JSON alone have behind the first thousand. */
const MAX_MEMBERS = 10;

/** The name of the table that every query has, and what models call it where they do not know. */
const ROWS = "rows";
const STAND_INS: ReadonlySet<string> = new Set([
  "artifact",
  "csv",
  "data",
  "df",
  "file",
  "input",
  "json",
  "lines",
  "records",
  "t",
  "table",
  "tbl",
]);

/**
 * Answers one SELECT of SQLite over a table with the name `rows`, and over others that the query names. The only table may have the name
 * of its file, or one that means nothing else, such as `data`; any name where that of its file is not known.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the path `query` for a query that is wrong, E_TOO_LARGE with the remedy for
 *   one that needs too much memory or time; both while the rows are read, too. Reading may throw what the table throws.
 */
export async function query(sql: string, table: QueryTable, options: QueryOptions = {}): Promise<QueryAnswer> {
  const { signal, tables, module, ...limits } = options;
  signal?.throwIfAborted();
  if (sql.length > MAX_QUERY_CHARS) {
    throw wrongQuery(`The query has ${sql.length} characters, and ${MAX_QUERY_CHARS} are the most.`);
  }
  // The module is loaded when the first question is asked.
  const { openThread } = await import("#query");
  const thread = await openThread(signal, module, limits);
  try {
    const question = new Question(thread, sql, table, options);
    const prepared = await question.prepare(tables);
    return {
      columns: prepared.columns,
      rows: question.rows(prepared),
      get notes(): readonly string[] {
        return question.notes(prepared);
      },
    };
  } catch (error) {
    thread.close();
    throw error;
  }
}

/** The error for a query that is wrong. */
function wrongQuery(sentence: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "query" });
}

/** The error for what is too much to answer. The sentence names the remedy. */
function tooLarge(sentence: string): SluiceError {
  return new SluiceError("E_TOO_LARGE", sentence, { path: "query" });
}

class Question {
  readonly #thread: QueryThread;
  readonly #sql: string;
  readonly #rows: QueryTable;
  readonly #timeoutMs: number;
  readonly #numbers = new Map<TableBytes, number>();
  readonly #specs: TableSpec[] = [];
  /** What is to be known of each table. */
  readonly #told = new Map<string, readonly string[]>();
  #members: readonly string[] = [];
  #stored: StoredTables | undefined;
  /** What the rows showed. */
  #found: readonly string[] = [];

  constructor(thread: QueryThread, sql: string, rows: QueryTable, { timeoutMs = 20_000 }: QueryOptions) {
    this.#thread = thread;
    this.#sql = sql;
    this.#rows = rows;
    this.#timeoutMs = timeoutMs;
  }

  /** Prepares the query with the tables and members that it names, which SQLite finds out. */
  async prepare(others: NamedTables | undefined): Promise<Prepared> {
    const failure = await this.#add(ROWS, this.#rows);
    if (failure !== undefined) throw this.#toError(failure, []);
    for (;;) {
      const outcome = await this.#thread.ask({ is: "prepare", sql: this.#sql });
      if ("value" in outcome) return outcome.value;
      const { message } = outcome.failure;
      const table = /^no such table: (?:main\.)?(.+)$/s.exec(message)?.[1];
      const column = findColumn(message);
      if (this.#stored !== undefined) await this.#fail(outcome.failure);
      if (table !== undefined) await this.#addMissing(table, others, message);
      else if (column === undefined || !(await this.#addMember(column))) await this.#fail(outcome.failure);
    }
  }

  async *rows({ columns, tables }: Prepared): AsyncGenerator<Cells> {
    const filled = columns.map(() => false);
    let count = 0;
    let isNothing = true;
    try {
      for (let isLast = false; !isLast;) {
        const batch = await this.#take(this.#thread.ask({ is: "next" }));
        isLast = batch.isLast;
        for (const row of readCells(batch.cells, columns.length)) {
          count += 1;
          isNothing &&= count === 1 && row.every((cell) => cell === null || cell === 0);
          for (const [at, cell] of row.entries()) filled[at] ||= cell !== null;
          yield row;
        }
      }
      const samples = await this.#look(tables, { rows: count, isNothing });
      this.#found = [...samples, ...explainEmpty(this.#sql, columns, filled, count)];
    } finally {
      this.#thread.close();
    }
  }

  /** Looks at what the query computed with, once it is answered. */
  async #look(before: readonly TableColumns[], shape: AnswerShape): Promise<readonly string[]> {
    const read = before.filter(({ isRead }) => isRead === true);
    const now = this.#stored === undefined ? await this.#thread.ask({ is: "tables" }) : [];
    const named = this.#stored === undefined ? read : listReadColumns(this.#sql, this.#stored);
    const odd = now
      .filter(({ name }) => read.some((table) => table.name === name))
      .flatMap(({ columns }) => columns.flatMap((column) => (column.texts === undefined ? [] : [explainOdd(column)])));
    const found: string[] = [];
    for (const sample of planSample(this.#sql, named, shape)) {
      const prepared = await this.#thread.ask({ is: "prepare", sql: sample.sql });
      // A member of an outer query's table cannot be asked alone.
      if ("failure" in prepared) continue;
      const rows: Cells[] = [];
      for (let isLast = false; !isLast;) {
        const batch = await this.#thread.ask({ is: "next" });
        isLast = "failure" in batch || batch.value.isLast;
        if ("value" in batch) rows.push(...readCells(batch.value.cells, prepared.value.columns.length));
      }
      found.push(...explainSample(this.#sql, sample, rows, shape));
    }
    const isUnclosed = now.some((table) => table.isUnclosed === true && read.some(({ name }) => name === table.name));
    return [...(isUnclosed ? [UNCLOSED] : []), ...odd, ...found];
  }

  /** What is to be known of the tables that the query reads. */
  notes({ tables }: Prepared): readonly string[] {
    const read = tables.filter(({ isRead }) => isRead === true);
    const columns = read.flatMap((table) => table.columns.filter((column) => column.isRead === true));
    const commas = columns.filter((column) => column.commas === true).map(({ name }) => JSON.stringify(name));
    const longer = read.reduce((sum, table) => sum + (table.longer ?? 0), 0);
    if (this.#stored !== undefined) return [...noteDatabase(this.#stored), ...new Set(this.#found)];
    return [
      ...new Set([
        ...read.flatMap(({ name }) => this.#told.get(name) ?? []),
        ...(commas.length === 0 ? [] : [`A comma in ${[...new Set(commas)].join(", ")} is read as the decimal point.`]),
        ...(longer === 0
          ? []
          : [`${longer} of the first rows have more cells than the header: these cells are left out.`]),
        ...this.#found,
        ...explainDivision(this.#sql, columns),
      ]),
    ];
  }

  /** Adds a table. A failure is why it has no rows. */
  async #add(name: string, { form, bytes, notes = [], total }: QueryTable): Promise<QueryFailure | undefined> {
    const number = this.#numbers.get(bytes) ?? (await this.#thread.hold(bytes));
    this.#numbers.set(bytes, number);
    const isKnown = form.kind === "database" && isKnownDatabase(form.sha256);
    const spec = { name, artifact: number, form, isKnown };
    const outcome = await this.#thread.ask({ is: "add", tables: [spec] });
    if ("failure" in outcome) return outcome.failure;
    if (form.kind === "database") {
      this.#stored = await this.#thread.ask({ is: "database" });
      rememberDatabase(form.sha256, this.#stored);
    }
    this.#specs.push(spec);
    const note = total === undefined ? undefined : explainTotal(total, this.#sql);
    this.#told.set(name, note === undefined ? notes : [...notes, note]);
    return undefined;
  }

  /** Adds the table that a name means. Throws E_INVALID_ARGUMENT if there is none. */
  async #addMissing(name: string, others: NamedTables | undefined, message: string): Promise<void> {
    if (this.#specs.length >= MAX_TABLES)
      throw wrongQuery(`The query names more than ${MAX_TABLES} tables: name fewer.`);
    const found = await others?.open(name);
    if (found !== undefined) {
      const failure = await this.#add(name, found);
      if (failure === undefined) return;
      if (failure.fault !== "place") throw this.#toError(failure, []);
    }
    const known = (await others?.names()) ?? [];
    const other = known.find((each) => each !== name && each.toLowerCase() === name.toLowerCase());
    const meant = other === undefined ? undefined : await others?.open(other);
    if (meant !== undefined && (await this.#add(name, meant)) === undefined) return;
    const hint = explainDialect(message, this.#sql);
    if (hint !== "") throw wrongQuery(`There is no table ${quoteName(name)}.${hint}`);
    // The one table has the name of its file, or one that says nothing. Where that name is not known it has any, but no two.
    const lower = name.toLowerCase();
    const { names } = this.#rows;
    const saysNothing = STAND_INS.has(lower);
    const isMeant = known.length === 0 && (names === undefined || names.includes(lower));
    // Of several tables none is meant by a word that says nothing.
    if (!isMeant && !(saysNothing && known.length <= 1)) throw wrongQuery(listMissingTable(name, [ROWS, ...known]));
    if (this.#specs.length > 1) {
      const named = [...this.#specs.slice(1).map((spec) => spec.name), name];
      throw wrongQuery(
        `There is one table, "${ROWS}", and the query names ${named.length}: ${named.map(quoteName).join(", ")}. To join it with itself, write ${ROWS} for each, with an alias.`,
      );
    }
    const isKnown = saysNothing || names !== undefined;
    const notes = isKnown ? [] : [`${quoteName(name)} is taken for ${ROWS}, the one table that there is.`];
    const failure = await this.#add(name, { ...this.#rows, notes: [...(this.#rows.notes ?? []), ...notes] });
    if (failure !== undefined) throw this.#toError(failure, []);
  }

  /** Looks for a member in the rows of JSON behind those by which the columns were told. Whether there is one. */
  async #addMember(column: string): Promise<boolean> {
    const open = (await this.#thread.ask({ is: "tables" })).filter(({ isOpen }) => isOpen === true);
    const isKnown = (name: string): boolean => open.some(({ columns }) => columns.some((each) => each.name === name));
    const names = [column, column.slice(column.indexOf(".") + 1)].filter((name) => !isKnown(name));
    if (open.length === 0 || this.#members.length >= MAX_MEMBERS || column.includes("\0")) return false;
    let found: string | undefined;
    for (const name of new Set(names)) {
      for (const table of open) {
        if (found === undefined && (await this.#hasMember(table.name, name))) found = name;
      }
    }
    const isNew = found !== undefined && !this.#members.includes(found);
    if (found !== undefined && isNew) this.#members = [...this.#members, found];
    await this.#restart(this.#members);
    return isNew;
  }

  async #hasMember(table: string, name: string): Promise<boolean> {
    await this.#restart([...this.#members, name]);
    const sql = `SELECT 1 FROM ${quoteInSql(table)} WHERE ${quoteInSql(name)} IS NOT NULL LIMIT 1`;
    const prepared = await this.#thread.ask({ is: "prepare", sql });
    if ("failure" in prepared) return false;
    const batch = await this.#thread.ask({ is: "next" });
    return "value" in batch && batch.value.cells.length > 0;
  }

  async #restart(members: readonly string[]): Promise<void> {
    await this.#thread.ask({ is: "restart", members });
    await this.#take(this.#thread.ask({ is: "add", tables: this.#specs }));
  }

  async #take<T>(asked: Promise<Outcome<T>>): Promise<T> {
    const outcome = await asked;
    return "value" in outcome ? outcome.value : this.#fail(outcome.failure);
  }

  async #fail(failure: QueryFailure): Promise<never> {
    throw this.#toError(failure, failure.fault === "query" ? await this.#thread.ask({ is: "tables" }) : []);
  }

  #toError(
    { fault, message, row, rowsRead, groups, table }: QueryFailure,
    tables: readonly TableColumns[],
  ): SluiceError {
    const form = this.#specs.find(({ name }) => name === table)?.form ?? this.#rows.form;
    const far = `${rowsRead.toLocaleString("en")} rows were read`;
    if (fault === "time") {
      return tooLarge(
        `The query took longer than ${this.#timeoutMs / 1000} s; ${far}. Ask for less: with a simpler condition, fewer columns, or LIMIT without ORDER BY.`,
      );
    }
    if (fault === "memory") {
      const seen = groups > 0 ? `${groups.toLocaleString("en")} groups were seen, and ${far}` : far;
      return tooLarge(
        `The query needs more memory than it may take; ${seen}. Filter the rows first, group by fewer values, pick fewer columns, or add LIMIT.`,
      );
    }
    if (fault === "row") {
      return form.kind === "csv"
        ? tooLarge(`Row ${row} is longer than 1 MiB: a quote in it may never be closed. Read it with lines.`)
        : tooLarge(`Row ${row} is larger than 4 MiB: read it with pointer or bytes.`);
    }
    if (fault === "syntax") {
      return new SluiceError("E_JSON_SYNTAX", `Row ${row} is not JSON: read it with lines or bytes.`, {
        path: "query",
      });
    }
    if (fault === "place") {
      if (form.kind === "csv") return wrongQuery("The text has no rows: it is empty.");
      return new SluiceError("E_INVALID_ARGUMENT", "There are no rows at that pointer: point to an array or object.", {
        path: "pointer",
      });
    }
    if (fault === "read")
      return new SluiceError("E_STORE_READ", "The artifact could not be read: try again.", { path: "query" });
    if (fault === "database") return new SluiceError("E_DOCUMENT", message, { path: "query" });
    if (this.#stored !== undefined) {
      const refused = explainRefusal(message, this.#sql, this.#stored);
      if (refused !== undefined) return wrongQuery(refused);
      const missing = /^no such table: (?:main\.)?(.+)$/s.exec(message)?.[1];
      const names = this.#stored.tables.map(({ name }) => name);
      const hint = explainDialect(message, this.#sql);
      if (missing !== undefined && hint === "") return wrongQuery(listMissingTable(missing, names));
    }
    const column = findColumn(message);
    if (column !== undefined) {
      const known = this.#stored === undefined ? tables : listNamedTables(this.#sql, this.#stored);
      const columns = known.flatMap((each) => each.columns.map(({ name }) => name));
      const cells = this.#told.get(ROWS)?.find((note) => note.includes("column_1 is")) ?? "";
      return wrongQuery(`${listMissingColumn(column, [...new Set(columns)], this.#sql)} ${cells}`.trim());
    }
    if (message === "string or blob too big") {
      return tooLarge("The query makes a text of more than 64 MB: make a shorter one, with substr.");
    }
    if (message.endsWith("may not be modified"))
      return wrongQuery("A query is one SELECT: it reads, and changes nothing.");
    if (message.endsWith(".")) return wrongQuery(message);
    const reserved = message.endsWith("syntax error") ? explainReserved(this.#sql, tables) : undefined;
    return wrongQuery(`SQLite cannot answer the query: ${message}.${reserved ?? explainDialect(message, this.#sql)}`);
  }
}

/** The column that SQLite says is missing: as the query names it, or in quotes, where it takes it for a text. */
function findColumn(message: string): string | undefined {
  const [, text, name] = /^no such column: (?:"(.*)" - should this be .*|(.+))$/s.exec(message) ?? [];
  return text ?? name;
}

const UNCLOSED =
  'A quote is never closed, so that all behind it is one row: rows "-1" shows where it begins, and lines or search find what it holds.';

/** Texts among numbers. */
function explainOdd({ name, texts = 0, text = "" }: TableColumns["columns"][number]): string {
  const cells = texts === 1 ? "cell is" : "cells are";
  return `${texts.toLocaleString("en")} ${cells} text in ${quoteName(name)}, which has numbers, such as ${quoteName(text)}: SQLite takes its first digits, or 0, and sorts it above all numbers; to_number(${quoteInSql(name)}) is the number, or NULL.`;
}

/** A quotient of whole numbers has no rest, which other dialects do not agree about. */
function explainDivision(sql: string, columns: readonly TableColumns["columns"][number][]): readonly string[] {
  const plain = sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g, "x");
  const isWhole = columns.every(({ type }) => type === "INTEGER" || type === "TEXT");
  if (
    !plain.includes("/") ||
    !isWhole ||
    /\d\.\d|\breal\b|\bfloat\b|\bavg\s*\(|\btotal\s*\(|to_number|unixepoch/i.test(sql)
  )
    return [];
  return ["Whole numbers are divided without a rest, so that 7 / 2 is 3: write 1.0 * a / b for fractions."];
}

/** Columns of an answer without a value. */
function explainEmpty(
  sql: string,
  columns: readonly string[],
  filled: readonly boolean[],
  rows: number,
): readonly string[] {
  const empty = columns.filter((_, at) => filled[at] === false);
  if (rows === 0 || empty.length === 0 || !/[(>]/.test(sql)) return [];
  const some = empty.slice(0, MAX_EMPTY).map(quoteName).join(", ");
  return [
    `${some} ${empty.length > 1 ? "are" : "is"} NULL in every row: no row has a value, there is no such member, or SQLite reads no date or number there.`,
  ];
}

/** Columns that are named one by one. */
const MAX_EMPTY = 3;
