/**
 * Answers what cannot be answered row by row, by squirreling over all rows, if they are not too many: joins, set operations,
 * window functions, and subqueries in expressions.
 * @module
 */
import { executeSql, type AsyncDataSource, type ExprNode, type SelectStatement, type Statement } from "squirreling";
import { isTrue, textFunction } from "./expression.js";
import { tooLarge, type Limits } from "./limits.js";
import type { Cells, QueryTable } from "./query.js";
import { unknownColumn } from "./scope.js";
import type { Result } from "./select.js";
import { expressionsOf, partsOf, statementsIn, walk, wrongQuery } from "./statement.js";
import { comparable, likeTest, MAX_PATTERN, textOf } from "./values.js";

/** The name of the table for squirreling. */
const TABLE = "rows";

/** Rows of an answer that are handed on at once. */
const BATCH = 500;

/** Cells that are read between two looks at the clock. */
const CELLS_BETWEEN = 512;

/** What is needed of a query that is answered. */
interface WholeRun {
  readonly limits: Limits;
}

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

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Answers a statement over all rows of a table. Throws E_TOO_LARGE if these are too many. */
export async function answerWhole(statement: Statement, table: QueryTable, { limits }: WholeRun): Promise<Result> {
  const columns = table.columns.filter((name) => name !== "__proto__");
  const prepared = structuredClone(statement);
  const names = new Set<string>();
  prepare(prepared, columns, new Set(), names);
  if (names.size > 1) {
    throw wrongQuery(
      `There is one table, and the query names ${names.size}: ${[...names].join(", ")}. Write ${TABLE} for each, with an alias.`,
    );
  }
  if (weightOf(prepared, new Map()) > MAX_WEIGHT) {
    throw wrongQuery(
      "The query computes values of values again and again: nest fewer subqueries, or use each column once.",
    );
  }
  const rows: Cells[] = [];
  for await (const batch of table.rows(columns)) {
    await limits.pause();
    for (const row of batch) rows.push(limits.keep(row));
    if (rows.length > limits.maxRows) {
      throw tooLarge(
        `Joins, subqueries, set and window functions are answered for up to ${limits.maxRows} rows, and there are more: filter or aggregate in one SELECT without them.`,
      );
    }
  }
  const source = sourceOf(columns, rows, limits);
  const results = executeSql({
    tables: { [TABLE]: source },
    query: prepared,
    functions: functionsWithin(limits),
    signal: clockSignal(limits),
  });
  return { columns: results.columns, batches: batchesOf(results, limits) };
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

/** Functions of texts that are ours, within bounds of time and memory, by their names there. */
const TEXTS = ["CONCAT", "REPLACE", "INSTR", "POSITION", "STRPOS", "LENGTH"];

interface OwnFunction {
  readonly apply: (...args: unknown[]) => never;
  readonly arguments: { readonly min: number; readonly max: number };
}

/** Functions in place of operators, and of what models write. */
function functionsWithin(limits: Limits): Record<string, OwnFunction> {
  const check = (): void => limits.check();
  const isPattern = (text: unknown, pattern: unknown): boolean | null => {
    if (text == null || pattern == null) return null;
    if (textOf(pattern).length > MAX_PATTERN) {
      throw wrongQuery(`A pattern of LIKE has more than ${MAX_PATTERN} characters.`);
    }
    return likeTest(textOf(pattern), check)(textOf(text));
  };
  const texts = TEXTS.map((name) => {
    const compute = textFunction(
      name,
      { type: "function", funcName: name, args: [], positionStart: 0, positionEnd: 0 },
      check,
    );
    return [`TEXT_${name}`, udf((...args) => compute(args), { min: 1, max: 1000 })] as const;
  });
  return {
    ...Object.fromEntries(texts),
    IS_LIKE: udf((text, pattern) => isPattern(text, pattern) === true),
    IS_NOT_LIKE: udf((text, pattern) => isPattern(text, pattern) === false),
    IS_KNOWN_FALSE: udf((value) => value != null && !isTrue(value), { min: 1, max: 1 }),
  };
}

function udf(apply: (...args: unknown[]) => unknown, counts = { min: 2, max: 2 }): OwnFunction {
  return { apply: (...args) => apply(...args) as never, arguments: counts };
}

/** Makes a statement safe, and NULL what SQL says it is, in place. Adds the names of tables that are no CTE. */
function prepare(
  statement: Statement,
  columns: readonly string[],
  ctes: ReadonlySet<string>,
  names: Set<string>,
): void {
  let known = ctes;
  if (statement.type === "with") known = new Set([...ctes, ...statement.ctes.map(({ name }) => name.toLowerCase())]);
  if (statement.type === "select") prepareSelect(statement, columns, known, names);
  else if (statement.type === "compound") for (const term of statement.orderBy) nullsFirst(term);
  for (const inner of statementsIn(statement)) prepare(inner, columns, known, names);
}

function prepareSelect(
  select: SelectStatement,
  columns: readonly string[],
  ctes: ReadonlySet<string>,
  names: Set<string>,
): void {
  const rename = (place: { table: string; alias?: string }): void => {
    if (ctes.has(place.table.toLowerCase())) return;
    names.add(place.table);
    place.alias ??= place.table;
    place.table = TABLE;
  };
  if (select.from.type === "table") rename(select.from);
  for (const join of select.joins) if (join.fromFunction === undefined) rename(join);
  for (const term of select.orderBy) nullsFirst(term);
  for (const expression of expressionsOf(select)) walk(expression, (node) => checkName(node, columns));
  if (select.where !== undefined) select.where = positive(select.where);
  if (select.having !== undefined) select.having = positive(select.having);
  for (const join of select.joins) if (join.on !== undefined) join.on = positive(join.on);
  for (const column of select.columns) if (column.type === "derived") rewrite(column);
  for (const term of select.orderBy) rewrite(term);
  select.groupBy = select.groupBy.map(replaced);
}

/** NULL is less than everything, as in the answers that stream. */
function nullsFirst(term: SelectStatement["orderBy"][number]): void {
  term.nulls ??= term.direction === "DESC" ? "LAST" : "FIRST";
}

/** Refuses names that every object has, and writes others as the table does. */
function checkName(node: ExprNode, columns: readonly string[]): void {
  if (node.type !== "identifier") return;
  const named = node as Mutable<typeof node>;
  if (columns.includes(node.name)) return;
  if (node.name in {}) throw wrongQuery(unknownColumn(node.name, columns));
  const other = columns.find((name) => name.toLowerCase() === node.name.toLowerCase());
  if (other !== undefined) named.name = other;
}

function rewrite(holder: { expr: ExprNode }): void {
  holder.expr = replaced(holder.expr);
}

/** LIKE as a function that takes no regular expression, and functions that squirreling lacks in its words. */
function replaced(node: ExprNode): ExprNode {
  const { type } = node;
  if (type === "binary") {
    const left = replaced(node.left);
    const right = replaced(node.right);
    return node.op === "LIKE" ? called("IS_LIKE", [left, right], node) : { ...node, left, right };
  }
  if (type === "unary") return { ...node, argument: replaced(node.argument) };
  if (type === "cast" || type === "in") return { ...node, expr: replaced(node.expr) };
  if (type === "in valuelist") return { ...node, expr: replaced(node.expr), values: node.values.map(replaced) };
  if (type === "function") {
    const args = node.args.map(replaced);
    const name = node.funcName.toUpperCase();
    if (TEXTS.includes(name)) return called(`TEXT_${name}`, args, node);
    if (name === "IFNULL") return called("COALESCE", args, node);
    if (name === "YEAR" || name === "MONTH" || name === "DAY")
      return called("EXTRACT", [literal(name, node), ...args], node);
    const whole = { ...node, args, ...(node.filter !== undefined && { filter: positive(node.filter) }) };
    if (name === "TOTAL") return called("COALESCE", [{ ...whole, funcName: "SUM" }, literal(0, node)], node);
    return whole;
  }
  if (type === "window") {
    for (const term of node.orderBy) rewrite(term);
    return { ...node, args: node.args.map(replaced), partitionBy: node.partitionBy.map(replaced) };
  }
  if (type === "case") {
    return {
      ...node,
      ...(node.caseExpr !== undefined && { caseExpr: replaced(node.caseExpr) }),
      whenClauses: node.whenClauses.map((clause) => ({
        ...clause,
        condition: node.caseExpr === undefined ? positive(clause.condition) : replaced(clause.condition),
        result: replaced(clause.result),
      })),
      ...(node.elseResult !== undefined && { elseResult: replaced(node.elseResult) }),
    };
  }
  return node;
}

const OPPOSITES: Partial<Record<string, string>> = {
  "=": "<>",
  "==": "<>",
  "<>": "=",
  "!=": "=",
  "<": ">=",
  ">=": "<",
  ">": "<=",
  "<=": ">",
};

/**
 * A condition without NOT before what may be NULL: squirreling knows true and false alone, so that NOT would make NULL true. `isNot`
 * asks for the opposite.
 */
function positive(node: ExprNode, isNot = false): ExprNode {
  if (node.type === "unary" && node.op === "NOT") return positive(node.argument, !isNot);
  if (node.type === "unary" && (node.op === "IS NULL" || node.op === "IS NOT NULL")) {
    const op = isNot === (node.op === "IS NULL") ? "IS NOT NULL" : "IS NULL";
    return { ...node, op, argument: replaced(node.argument) };
  }
  if (node.type === "binary") {
    const { op } = node;
    if (op === "AND" || op === "OR") {
      const other = op === "AND" ? "OR" : "AND";
      return { ...node, op: isNot ? other : op, left: positive(node.left, isNot), right: positive(node.right, isNot) };
    }
    const parts = [replaced(node.left), replaced(node.right)] as const;
    if (op === "LIKE") return called(isNot ? "IS_NOT_LIKE" : "IS_LIKE", [...parts], node);
    const opposite = OPPOSITES[op];
    if (opposite !== undefined) {
      return { ...node, op: (isNot ? opposite : op) as typeof op, left: parts[0], right: parts[1] };
    }
  }
  const whole = replaced(node);
  const isList = whole.type === "in" || whole.type === "in valuelist";
  // To the engine, NULL is in a list that has NULL.
  if (!isNot) return isList ? unlessNull(whole, [whole.expr]) : whole;
  const not: ExprNode = {
    type: "unary",
    op: "NOT",
    argument: whole,
    positionStart: node.positionStart,
    positionEnd: node.positionEnd,
  };
  if (node.type === "exists" || node.type === "not exists") return not;
  if (whole.type === "in valuelist") return unlessNull(not, partsOf(whole));
  if (whole.type === "in") {
    // Nothing is known not to be in rows that have NULL, but all is not in no rows.
    const hasNull: ExprNode = { ...whole, expr: { ...literal(0, node), value: null } as ExprNode };
    const isKnown = unlessNull({ ...not, type: "binary", op: "AND", left: not, right: { ...not, argument: hasNull } }, [
      whole.expr,
    ]);
    return { ...isKnown, type: "binary", op: "OR", left: isKnown, right: { ...whole, type: "not exists" } };
  }
  return called("IS_KNOWN_FALSE", [whole], node);
}

/** A condition that holds only if none of the values is NULL. */
function unlessNull(condition: ExprNode, values: readonly ExprNode[]): ExprNode {
  const { positionStart, positionEnd } = condition;
  return values.reduce<ExprNode>(
    (all, argument) => ({
      type: "binary",
      op: "AND",
      left: { type: "unary", op: "IS NOT NULL", argument, positionStart, positionEnd },
      right: all,
      positionStart,
      positionEnd,
    }),
    condition,
  );
}

function literal(value: string | number, { positionStart, positionEnd }: ExprNode): ExprNode {
  return { type: "literal", value, positionStart, positionEnd };
}

function called(funcName: string, args: ExprNode[], { positionStart, positionEnd }: ExprNode): ExprNode {
  return { type: "function", funcName, args, positionStart, positionEnd };
}
