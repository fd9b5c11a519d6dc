/**
 * Answers what cannot be answered row by row, by squirreling over all rows, if they are not too many: joins, set operations,
 * window functions, and subqueries in expressions.
 * @module
 */
import { executeSql, type AsyncDataSource, type Statement } from "squirreling";
import { EngineFunctions } from "./engine-functions.js";
import { tooLarge, type Limits } from "./limits.js";
import type { Cells, QueryTable } from "./types.js";
import type { Result, Run } from "./run.js";
import { expressionsOf, statementsIn, tableNames, walk, wrongQuery } from "./statement.js";
import { Translation, type EngineTable } from "./translation.js";
import { comparable } from "./values.js";

/** Rows of an answer that are handed on at once. */
const BATCH = 500;

/** Cells that are read between two looks at the clock. */
const CELLS_BETWEEN = 512;

/** Most columns of a table: the engine looks for each among all. */
const MAX_COLUMNS = 2000;

/**
 * How often a cell may be computed for one of the answer. The engine computes a column of a subquery anew for each time that it is
 * named: named twice in each of thirty, a billion times, all at once.
 */
const MAX_WEIGHT = 10_000;

/** How often a cell of the table is computed at most for one cell of a statement's answer. */
function weightOf(statement: Statement, ctes: ReadonlyMap<string, number>): number {
  if (statement.type === "with") {
    const known = new Map(ctes);
    for (const { name, query } of statement.ctes) known.set(name.toLowerCase(), weightOf(query, known));
    return weightOf(statement.query, known);
  }
  if (statement.type === "compound") return Math.max(weightOf(statement.left, ctes), weightOf(statement.right, ctes));
  const tables = [statement.from, ...statement.joins].flatMap((place) =>
    "table" in place ? [ctes.get(place.table.toLowerCase()) ?? 1] : [],
  );
  const inner = statementsIn(statement).map((each) => weightOf(each, ctes));
  const named = expressionsOf(statement).map((expression) => {
    let count = 0;
    walk(expression, ({ type }) => void (count += type === "identifier" ? 1 : 0));
    return count;
  });
  return Math.max(1, ...tables, ...inner) * Math.max(1, ...named);
}

/** Answers a statement over all rows of its tables. Throws E_TOO_LARGE if these are too many. */
export async function answerWhole(statement: Statement, run: Run): Promise<Result> {
  const { limits, parsed } = run;
  if (weightOf(statement, new Map()) > MAX_WEIGHT) {
    throw wrongQuery(
      "The query computes values of values again and again: nest fewer subqueries, or use each column once.",
    );
  }
  const { named, sources } = await readTables(statement, run);
  const functions = new EngineFunctions(limits);
  const execute = (query: Statement): ReturnType<typeof executeSql> => {
    try {
      return executeSql({ tables: sources, query, functions: functions.within(query), signal: clockSignal(limits) });
    } catch (error) {
      // The engine says of some queries without a place that they are wrong.
      if (error instanceof Error && error.constructor === Error)
        throw wrongQuery(`The query cannot be answered: ${error.message}.`, { cause: error });
      throw error;
    }
  };
  const prepared = structuredClone(statement);
  await new Translation({ tables: named, textOf: parsed.textOf, functions, limits, execute }).prepare(prepared);
  const results = execute(prepared);
  return { columns: results.columns, batches: batchesOf(results, limits) };
}

interface TablesRead {
  /** The tables as the engine has them, by their names in the query. */
  readonly named: ReadonlyMap<string, EngineTable>;
  readonly sources: Record<string, AsyncDataSource>;
}

async function readTables(statement: Statement, { limits, tables }: Run): Promise<TablesRead> {
  const wanted = namesIn(statement);
  const named = new Map<string, EngineTable>();
  const sources: Record<string, AsyncDataSource> = {};
  const known = new Map<QueryTable, EngineTable>();
  let count = 0;
  for (const name of tableNames(statement)) {
    const table = tables.get(name);
    let read = known.get(table);
    if (read === undefined) {
      const all = table.columns.filter((column) => column !== "__proto__");
      const columns = wanted === undefined ? all : all.filter((column) => wanted.has(column.toLowerCase()));
      if (columns.length > MAX_COLUMNS) {
        throw tooLarge(
          `Joins, subqueries, set and window functions are answered for up to ${MAX_COLUMNS} columns, and there are more: name the columns that you need.`,
        );
      }
      const rows: Cells[] = [];
      for await (const batch of table.rows(columns)) {
        await limits.pause();
        for (const row of batch) {
          if (limits.isLong) await limits.pause();
          rows.push(limits.keep(row));
        }
        if (count + rows.length > limits.maxRows) {
          throw tooLarge(
            `Joins, subqueries, set and window functions are answered for up to ${limits.maxRows} rows, and there are more: filter or aggregate in one SELECT without them.`,
          );
        }
      }
      count += rows.length;
      read = { id: `#${known.size}`, columns: all };
      known.set(table, read);
      sources[read.id] = sourceOf(columns, rows, limits);
    }
    named.set(name, read);
  }
  return { named, sources };
}

/** The names in a query that may be those of columns, in lower case. Undefined if it asks for all columns. */
function namesIn(statement: Statement): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  const stars: Statement[] = [];
  const add = (name: string): void => {
    // What follows a dot may be a member of the value.
    for (let at = name.length; at > 0; at = name.lastIndexOf(".", at - 1)) names.add(name.slice(0, at).toLowerCase());
  };
  const visit = (inner: Statement): void => {
    if (inner.type === "select") {
      if (inner.columns.some(({ type }) => type === "star")) stars.push(inner);
      for (const expression of expressionsOf(inner)) {
        walk(expression, (node) => {
          if (node.type !== "identifier") return;
          add(node.name);
          if (node.prefix !== undefined) add(`${node.prefix}.${node.name}`);
        });
      }
    } else if (inner.type === "compound") {
      for (const { expr } of inner.orderBy) walk(expr, (node) => void (node.type === "identifier" && add(node.name)));
    }
    for (const each of statementsIn(inner)) visit(each);
  };
  visit(statement);
  return stars.length > 0 ? undefined : names;
}

/** A signal that looks at the clock when it is asked: the engine computes without giving timers their turn. */
function clockSignal(limits: Limits): AbortSignal {
  return {
    get aborted() {
      limits.check();
      return false;
    },
  } as AbortSignal;
}

function sourceOf(columns: readonly string[], rows: readonly Cells[], limits: Limits): AsyncDataSource {
  let left = CELLS_BETWEEN;
  const cell = async (value: unknown): Promise<never> => {
    left -= 1;
    if (left <= 0) {
      await limits.pause();
      // Not before: once it is too late, each of many subqueries that run at once has to end at its next cell.
      left = CELLS_BETWEEN;
    }
    // The engine compares texts letter by letter.
    const number = comparable(value);
    return (typeof number === "bigint" ? number : value) as never;
  };
  const indexes = new Map(columns.map((name, index) => [name, index]));
  return {
    columns: [...columns],
    numRows: rows.length,
    scan: ({ columns: wanted = [...columns] }) => ({
      async *rows() {
        for (const row of rows) {
          const cells = Object.create(null) as Record<string, () => Promise<never>>;
          for (const name of wanted) cells[name] = async () => cell(row[indexes.get(name) as number] ?? null);
          yield { columns: wanted, cells };
        }
      },
      appliedWhere: false,
      appliedLimitOffset: false,
    }),
  };
}

async function* batchesOf(results: ReturnType<typeof executeSql>, limits: Limits): AsyncGenerator<readonly Cells[]> {
  let batch: Cells[] = [];
  for await (const { columns, cells } of results.rows()) {
    batch.push(await Promise.all(columns.map(async (name) => cells[name]?.())));
    if (batch.length < BATCH) continue;
    await limits.pause();
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
