/**
 * Answers a SELECT while the rows stream: each is read once, and only groups or the best rows are kept.
 * @module
 */
import { derivedAlias, type ExprNode, type SelectStatement, type Statement } from "squirreling";
import { Aggregate, type Accumulator } from "./aggregate.js";
import { compile, isTrue, NO_AGGREGATE, Unsupported, type CompileOptions, type Evaluator } from "./expression.js";
import { Limits, tooLarge } from "./limits.js";
import type { Cells, QueryAnswer, QueryOptions, QueryTable } from "./types.js";
import { Scope } from "./scope.js";
import {
  hasPart,
  expressionsOf,
  isAggregate,
  parsed,
  queryError,
  statementsIn,
  tableNames,
  type Parsed,
} from "./statement.js";
import { Tables } from "./tables.js";
import { compareValues, keyOf, plain } from "./values.js";
import { answerWhole } from "./whole.js";
import type { Run, Result } from "./run.js";

/** Most columns that a star stands for. */
const MAX_STAR = 10_000;

/** No row at all. */
const NO_ROW: Cells = [];

/** Rows that are handed from a query to the one around it. */
const BATCH = 500;

/** Answers a query. See `query`. */
export async function answer(sql: string, table: QueryTable, options: QueryOptions): Promise<QueryAnswer> {
  const question = parsed(sql);
  const statement = inlined(question.statement);
  const tables = new Tables(table);
  try {
    await tables.open(tableNames(statement), options.tables);
    const run: Run = { parsed: question, limits: new Limits(options), tables };
    const { columns, batches } = await resultOf(statement, run);
    return { columns, rows: plainRows(batches, run), notes: notesOf(tables) };
  } catch (error) {
    await tables.close();
    throw queryError(error);
  }
}

/** The notes of the tables, which may get more while they are read. */
function notesOf(tables: Tables): readonly string[] {
  return new Proxy([] as string[], { get: (target, key) => Reflect.get(tables.notes, key, target) as unknown });
}

async function* plainRows(batches: AsyncIterable<readonly Cells[]>, { tables, limits }: Run): AsyncGenerator<Cells> {
  try {
    for await (const batch of batches) {
      for (const row of batch) {
        if (limits.isLong) await limits.pause();
        yield row.map(plain);
      }
    }
  } catch (error) {
    throw queryError(error);
  } finally {
    await tables.close();
  }
}

/** `WITH a AS (…) SELECT … FROM a` as `SELECT … FROM (…) AS a`, if each part is used once, one in the other. */
function inlined(statement: Statement): Statement {
  if (statement.type !== "with") return statement;
  const ctes = new Map(statement.ctes.map(({ name, query }) => [name.toLowerCase(), query]));
  const seen = new Set<string>();
  const inline = (inner: Statement): Statement | undefined => {
    if (inner.type !== "select" || inner.joins.length > 0) return undefined;
    const { from } = inner;
    if (from.type !== "table") return inner;
    const name = from.table.toLowerCase();
    const cte = ctes.get(name);
    if (cte === undefined) return statementsIn(inner).length === 0 ? inner : undefined;
    if (seen.has(name)) return undefined;
    seen.add(name);
    const query = statementsIn(inner).length === 0 ? inline(cte) : undefined;
    return query && { ...inner, from: { ...from, type: "subquery", query, alias: from.alias ?? from.table } };
  };
  const whole = inline(statement.query);
  return whole !== undefined && seen.size === ctes.size ? whole : statement;
}

async function resultOf(statement: Statement, run: Run): Promise<Result> {
  if (statement.type !== "select" || !isSimple(statement)) return answerWhole(statement, run);
  const { from } = statement;
  if (from.type === "function") return answerWhole(statement, run);
  if (from.type === "subquery") {
    const inner = tableOf(await resultOf(from.query, run));
    return streamed(statement, inner, [from.alias ?? "table"], run);
  }
  try {
    const names = [from.table, ...(from.alias === undefined ? [] : [from.alias])];
    return streamed(statement, run.tables.get(from.table), names, run);
  } catch (error) {
    if (error instanceof Unsupported) return answerWhole(statement, run);
    throw error;
  }
}

/** Whether a statement reads one table once. */
function isSimple(select: SelectStatement): boolean {
  if (select.joins.length > 0 || select.from.type === "function") return false;
  return !hasPart(
    expressionsOf(select),
    ({ type }) =>
      type === "subquery" || type === "in" || type === "exists" || type === "not exists" || type === "window",
  );
}

function tableOf({ columns, batches }: Result): QueryTable {
  return {
    columns,
    async *rows(wanted) {
      // Of two columns of one name, the first is meant.
      const known = new Map(columns.map((name, index) => [name, index] as const).toReversed());
      const places = wanted.map((name) => known.get(name) ?? -1);
      for await (const batch of batches) yield batch.map((row) => places.map((place) => row[place] ?? null));
    },
  };
}

/** A SELECT as functions of a row. */
interface Compiled {
  readonly columns: readonly string[];
  readonly where: Evaluator | undefined;
  readonly output: readonly Evaluator[];
  readonly having: Evaluator | undefined;
  readonly order: readonly { readonly value: Evaluator; readonly compare: (a: unknown, b: unknown) => number }[];
  /** Undefined if there are neither groups nor aggregates. */
  readonly groups: { readonly keys: readonly Evaluator[]; readonly aggregates: readonly Aggregate[] } | undefined;
}

/** Throws {@link Unsupported} before a row is read. */
function streamed(select: SelectStatement, table: QueryTable, names: readonly string[], run: Run): Result {
  const scope = new Scope(table, names);
  const compiled = compiledSelect(select, scope, table, names, run);
  const rows = table.rows(scope.needed);
  const { limit = Infinity, offset = 0, distinct, orderBy } = select;
  let batches: AsyncIterable<readonly Cells[]>;
  if (limit === 0) batches = emptyBatches();
  else if (compiled.groups !== undefined) batches = grouped(rows, compiled, compiled.groups, select, run);
  else if (orderBy.length > 0) batches = sorted(filtered(rows, compiled, run), compiled, select, run);
  else {
    const output = projected(filtered(rows, compiled, run), compiled, run);
    batches = sliced(distinct ? unique(output, run) : output, offset, limit);
  }
  return { columns: compiled.columns, batches };
}

async function* emptyBatches(): AsyncGenerator<readonly Cells[]> {
  // LIMIT 0 asks for the columns.
}

/** The name of a column without an alias: that of the column that it is, without its table, else its text. */
function outputName(expr: ExprNode, names: readonly string[], query: Parsed): string {
  if (expr.type !== "identifier") return query.textOf(expr);
  const { prefix, name } = expr;
  const isOfTable = prefix === undefined || names.some((each) => each.toLowerCase() === prefix.toLowerCase());
  return isOfTable ? name : `${prefix}.${name}`;
}

function compiledSelect(
  select: SelectStatement,
  scope: Scope,
  table: QueryTable,
  names: readonly string[],
  run: Run,
): Compiled {
  if (table.columns.length > MAX_STAR && select.columns.some(({ type }) => type === "star")) {
    throw tooLarge(
      `The table has ${table.columns.length} columns, and * stands for ${MAX_STAR} at most: name those that you need.`,
    );
  }
  const outputs = select.columns.flatMap((column) =>
    column.type === "star"
      ? table.columns.map((name) => ({ name, other: name, alias: undefined, expr: nameOf(name) }))
      : [
          {
            name: column.alias ?? outputName(column.expr, names, run.parsed),
            other: derivedAlias(column.expr),
            alias: column.alias,
            expr: column.expr,
          },
        ],
  );
  const aliasIn = (isOutput: boolean) => (name: string) => {
    const wanted = name.toLowerCase();
    const found =
      outputs.find(({ alias }) => alias?.toLowerCase() === wanted) ??
      (isOutput ? outputs.find(({ other }) => other.toLowerCase() === wanted) : undefined);
    return found?.expr;
  };
  const check = (): void => run.limits.check();
  const before: CompileOptions = { scope, alias: aliasIn(false), check };
  const after = [...outputs.map(({ expr }) => expr), ...select.orderBy.map(({ expr }) => expr)];
  const isGrouped = select.groupBy.length > 0 || select.having !== undefined || hasPart(after, isAggregate);
  const aggregates: Aggregate[] = [];
  const behind: CompileOptions = isGrouped
    ? { ...before, aggregate: aggregateIn(aggregates, { scope, check }, run.limits) }
    : before;
  return {
    columns: outputs.map(({ name }) => name),
    where: select.where && compile(select.where, before),
    output: outputs.map(({ expr }) => compile(expr, { ...behind, alias: () => undefined })),
    having: select.having && compile(select.having, { ...behind, alias: aliasIn(true) }),
    order: select.orderBy.map(({ expr, direction, nulls }) => ({
      value: compile(expr, { ...behind, alias: aliasIn(true), aliasFirst: true }),
      compare: comparison(direction, nulls),
    })),
    groups: isGrouped ? { keys: select.groupBy.map((expr) => compile(expr, before)), aggregates } : undefined,
  };
}

const nameOf = (name: string): ExprNode => ({ type: "identifier", name, positionStart: 0, positionEnd: 0 });

/** Numbers the aggregates of a query. Two that are alike are one. */
function aggregateIn(
  aggregates: Aggregate[],
  options: CompileOptions,
  limits: Limits,
): NonNullable<CompileOptions["aggregate"]> {
  const places = new Map<string, number>();
  return (node) => {
    if (!isAggregate(node)) return NO_AGGREGATE;
    const key = JSON.stringify(node, (name, value: unknown) => {
      if (name === "positionStart" || name === "positionEnd") return undefined;
      return typeof value === "bigint" ? `${value}n` : value;
    });
    const place = places.get(key) ?? aggregates.push(new Aggregate(node, options, limits)) - 1;
    places.set(key, place);
    return (_, all) => all[place];
  };
}

/** NULL is less than everything, unless the query says where it goes. */
function comparison(direction: string, nulls: string | undefined): (a: unknown, b: unknown) => number {
  const sign = direction === "DESC" ? -1 : 1;
  if (nulls === undefined) return (a, b) => sign * compareValues(a, b);
  const ofNull = nulls === "FIRST" ? -1 : 1;
  return (a, b) => {
    if (a == null || b == null) return a == null && b == null ? 0 : a == null ? ofNull : -ofNull;
    return sign * compareValues(a, b);
  };
}

async function* filtered(
  batches: AsyncIterable<readonly Cells[]>,
  { where }: Compiled,
  { limits }: Run,
): AsyncGenerator<readonly Cells[]> {
  for await (const batch of batches) {
    await limits.pause();
    yield where === undefined ? batch : await inTurns(batch, limits, (row) => (isTrue(where(row, [])) ? row : NO_ROW));
  }
  limits.check();
}

/** Makes rows of the rows of a batch, without {@link NO_ROW}. Others have their turn between two rows. */
async function inTurns(
  batch: readonly Cells[],
  limits: Limits,
  make: (row: Cells) => Cells,
): Promise<readonly Cells[]> {
  const made: Cells[] = [];
  for (const row of batch) {
    if (limits.isLong) await limits.pause();
    const each = make(row);
    if (each !== NO_ROW) made.push(each);
  }
  return made;
}

async function* projected(
  batches: AsyncIterable<readonly Cells[]>,
  { output }: Compiled,
  { limits }: Run,
): AsyncGenerator<readonly Cells[]> {
  const make = (row: Cells): Cells => output.map((value) => value(row, []));
  for await (const batch of batches) yield await inTurns(batch, limits, make);
}

async function* unique(batches: AsyncIterable<readonly Cells[]>, run: Run): AsyncGenerator<readonly Cells[]> {
  const isNew = newRows(run);
  for await (const batch of batches) yield batch.filter((row) => isNew(row));
}

/** Tells of each row whether it is the first of its kind. */
function newRows({ limits }: Run): (row: Cells) => boolean {
  const seen = new Set<unknown>();
  return (row) => {
    const key = keyOf(row);
    if (seen.has(key)) return false;
    if (seen.size >= limits.maxGroups) throw tooManyGroups(limits.maxGroups, "different rows");
    seen.add(limits.keep([key])[0]);
    return true;
  };
}

function tooManyGroups(most: number, what: string): Error {
  return tooLarge(`The query makes more than ${most} ${what}: filter the rows first, or group by fewer columns.`);
}

async function* sliced(
  batches: AsyncIterable<readonly Cells[]>,
  offset: number,
  limit: number,
): AsyncGenerator<readonly Cells[]> {
  let skip = offset;
  let left = limit;
  for await (const batch of batches) {
    const rows = batch.slice(skip, skip + left);
    skip = Math.max(0, skip - batch.length);
    left -= rows.length;
    if (rows.length > 0) yield rows;
    // Nothing more is read of the table.
    if (left <= 0) return;
  }
}

/** A row that is kept, with what it is sorted by. */
interface Ranked {
  readonly keys: Cells;
  readonly row: Cells;
  readonly at: number;
}

/** Sorts rows that are kept, equal ones as they came. */
function ranking({ order }: Compiled): (a: Ranked, b: Ranked) => number {
  return (a, b) => {
    for (const [index, { compare }] of order.entries()) {
      const found = compare(a.keys[index], b.keys[index]);
      if (found !== 0) return found;
    }
    return a.at - b.at;
  };
}

/** The best rows in order. Keeps at most twice as many as are wanted. */
async function* sorted(
  batches: AsyncIterable<readonly Cells[]>,
  compiled: Compiled,
  { limit = Infinity, offset = 0, distinct }: SelectStatement,
  run: Run,
): AsyncGenerator<readonly Cells[]> {
  const { limits } = run;
  const rank = ranking(compiled);
  const isNew = distinct ? newRows(run) : () => true;
  const most = offset + limit;
  const kept: Ranked[] = [];
  let worst: Ranked | undefined;
  let at = 0;
  const prune = (): void => {
    kept.sort(rank);
    for (const { keys, row } of kept.splice(most)) {
      limits.release(keys);
      limits.release(row);
    }
    worst = kept.length >= most ? kept.at(-1) : undefined;
  };
  for await (const batch of batches) {
    for (const row of batch) {
      if (limits.isLong) await limits.pause();
      const keys = compiled.order.map(({ value }) => value(row, []));
      const candidate: Ranked = { keys, row, at: (at += 1) };
      // Of equal rows that are one in the answer, the first would have to be the best.
      if (worst !== undefined && rank(candidate, worst) > 0) continue;
      const output = compiled.output.map((value) => value(row, []));
      if (!isNew(output)) continue;
      kept.push({ keys: limits.keep(keys), row: limits.keep(output), at });
      if (kept.length >= 2 * most) prune();
      else if (kept.length > limits.maxRows) {
        prune();
        if (kept.length > limits.maxRows) {
          throw tooLarge(`The query would sort more than ${limits.maxRows} rows: add LIMIT, or filter the rows first.`);
        }
      }
    }
  }
  prune();
  yield* chunks(kept.slice(offset).map(({ row }) => row));
}

function* chunks(rows: readonly Cells[]): Generator<readonly Cells[]> {
  for (let from = 0; from < rows.length; from += BATCH) yield rows.slice(from, from + BATCH);
}

/** One group. */
interface Group {
  /** Its first row: what is not aggregated is taken of it. */
  readonly first: Cells;
  readonly accumulators: readonly Accumulator[];
}

/** One row for each group. */
async function* grouped(
  batches: AsyncIterable<readonly Cells[]>,
  compiled: Compiled,
  { keys, aggregates }: NonNullable<Compiled["groups"]>,
  select: SelectStatement,
  run: Run,
): AsyncGenerator<readonly Cells[]> {
  const { limits } = run;
  const { limit = Infinity, offset = 0, distinct } = select;
  const groups = new Map<unknown, Group>();
  const started = (first: Cells): Group => ({ first, accumulators: aggregates.map((each) => each.create()) });
  // Without GROUP BY there is one group, also if no row is there.
  if (keys.length === 0) groups.set(null, started(NO_ROW));
  for await (const batch of filtered(batches, compiled, run)) {
    for (const row of batch) {
      if (limits.isLong) await limits.pause();
      const key = keys.length === 0 ? null : keyOf(keys.map((value) => value(row, [])));
      let group = groups.get(key);
      if (group === undefined || group.first === NO_ROW) {
        if (groups.size >= limits.maxGroups) throw tooManyGroups(limits.maxGroups, "groups");
        const first = limits.keep(row);
        group = group === undefined ? started(first) : { ...group, first };
        groups.set(limits.keep([key])[0], group);
      }
      for (const [index, aggregate] of aggregates.entries()) {
        aggregate.add(group.accumulators[index] as Accumulator, row);
      }
    }
  }
  const isNew = distinct ? newRows(run) : () => true;
  const ranked: Ranked[] = [];
  for (const { first, accumulators } of groups.values()) {
    if (limits.isLong) await limits.pause();
    const all = accumulators.map((each) => each.result());
    if (compiled.having !== undefined && !isTrue(compiled.having(first, all))) continue;
    const row = compiled.output.map((value) => value(first, all));
    if (!isNew(row)) continue;
    ranked.push({ keys: compiled.order.map(({ value }) => value(first, all)), row, at: ranked.length });
  }
  if (compiled.order.length > 0) ranked.sort(ranking(compiled));
  limits.check();
  yield* chunks(ranked.slice(offset, offset + limit).map(({ row }) => row));
}
