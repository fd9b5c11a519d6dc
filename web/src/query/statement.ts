/**
 * A query as a tree: parsed, walked, and what is wrong with it told.
 * @module
 */
import { parseSql, type ExprNode, type SelectStatement, type Statement } from "squirreling";
import { SluiceError } from "../errors/error.js";

/** Deepest nesting of a query. */
const MAX_DEPTH = 100;

/** The names of functions that aggregate. */
export const AGGREGATES: ReadonlySet<string> = new Set([
  "COUNT",
  "SUM",
  "TOTAL",
  "AVG",
  "MIN",
  "MAX",
  "STDDEV_SAMP",
  "STDDEV_POP",
  "MEDIAN",
  "PERCENTILE_CONT",
  "APPROX_QUANTILE",
  "ARRAY_AGG",
  "JSON_ARRAYAGG",
  "STRING_AGG",
  "GROUP_CONCAT",
  "LISTAGG",
]);

/** Functions that models write and squirreling lacks, for its parser, with how many arguments each takes. */
const ADDED_FUNCTIONS = Object.fromEntries(
  Object.entries({
    IFNULL: [2, 2],
    YEAR: [1, 1],
    MONTH: [1, 1],
    DAY: [1, 1],
    TOTAL: [1, 1],
    GROUP_CONCAT: [1, 2],
    LISTAGG: [1, 2],
  } as const).map(([name, [min, max]]) => [name, { apply: () => null, arguments: { min, max } }]),
);

/** A parsed query. */
export interface Parsed {
  readonly statement: Statement;
  /** The source text that a part of the query was made of. */
  readonly textOf: (part: { readonly positionStart: number; readonly positionEnd: number }) => string;
}

/** Parses a query. Throws E_INVALID_ARGUMENT. */
export function parsed(sql: string): Parsed {
  const text = standardSql(sql);
  try {
    const statement = parseSql({ query: text, functions: ADDED_FUNCTIONS });
    checkTree(statement, 0);
    return {
      statement,
      textOf: ({ positionStart, positionEnd }) =>
        text
          .slice(positionStart, positionEnd)
          .trim()
          .replaceAll(/\s+/g, " ")
          // Quotes that are ours: see `standardSql`.
          .replaceAll(/(?<=[\w$]\.)"([A-Za-z_]\w*)"/g, "$1"),
    };
  } catch (error) {
    throw queryError(error);
  }
}

const TOKENS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`([^`]*)`|--[^\n]*|\/\*[\s\S]*?\*\/|(?<![\w.]|\b(?:LIMIT|OFFSET)\s+)(\d{16,})(?![\w.])|([\p{L}_$][\p{L}\p{N}_$]*)((?:\s*\.\s*(?:[\p{L}_$][\p{L}\p{N}_$]*|"(?:[^"]|"")*"|`[^`]*`))*)/giu;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*|"((?:[^"]|"")*)"|`([^`]*)`/gu;

/**
 * What other dialects write, as the parser takes it: `backticks`, ILIKE, names in any alphabet, and a.b.c. Whole numbers that a number
 * cannot hold become text, as in tables.
 */
function standardSql(sql: string): string {
  return sql.replaceAll(TOKENS, (token: string, ticked?: string, digits?: string, first?: string, path = "") => {
    if (ticked !== undefined) return quoted(ticked);
    if (digits !== undefined) return Number.isSafeInteger(Number(digits)) ? token : `'${digits}'`;
    if (first === undefined) return token;
    if (path === "") return first.toUpperCase() === "ILIKE" ? "LIKE" : bare(first);
    const names = Array.from((path as string).matchAll(NAME), ([name, double, tick]) =>
      double === undefined ? (tick ?? name) : double.replaceAll('""', '"'),
    );
    return names.length === 1 && !path.includes("`")
      ? `${bare(first)}.${quoted(names[0] ?? "")}`
      : `${bare(first)}.${quoted(names.join("."))}`;
  });
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const bare = (name: string): string => (/^[\w$]+$/.test(name) ? name : quoted(name));

/** E_INVALID_ARGUMENT about the query. */
export function wrongQuery(sentence: string, options?: ErrorOptions): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "query" }, options);
}

/** What was thrown while a query was parsed or run, as an error of ours. */
export function queryError(error: unknown): unknown {
  if (error instanceof SluiceError || !(error instanceof Error)) return error;
  if (error instanceof RangeError) {
    return wrongQuery("The query, or a value that it makes, is too large or too deeply nested: ask for less at once.", {
      cause: error,
    });
  }
  // Errors of the engine have the place; all others are those of the table or of the caller.
  if (!("positionStart" in error)) return error;
  const unknown = /^Unknown function "([^"]*)"/.exec(error.message)?.[1];
  if (unknown !== undefined) return wrongQuery(unknownFunction(unknown, error.message), { cause: error });
  const sentence = error.message.trimEnd().replace(/\.$/, "");
  const end = sentence.endsWith("?") ? "" : ".";
  return wrongQuery(`The query cannot be answered: ${sentence}${end}${hintFor(sentence)}`, { cause: error });
}

/** What the names of aggregates are like, ours and those of other dialects. */
const LIKE_AGGREGATE =
  /^(?:ANY|BIT|BOOL|EVERY|FIRST|LAST|LIST|MODE|MEAN|COLLECT|VAR|STD|CORR|COVAR|KURT|SKEW|QUANTILE|PERCENT|COUNT|SUM|AVG|MAX|MIN|GROUP|ARG)|AGG|CONCAT|DISTINCT/;

/** Says that there is no such function, and which aggregates there are. `told` is the parser's sentence, with names that are near. */
function unknownFunction(name: string, told: string): string {
  const isLike = LIKE_AGGREGATE.test(name.toUpperCase());
  const near = (/Did you mean ([\w, ]+)\?/.exec(told)?.[1] ?? "")
    .split(", ")
    .filter((each) => each !== "" && (isLike ? AGGREGATES.has(each) : !UNAVAILABLE.test(each)));
  const meant = near.length === 0 ? "" : ` Did you mean ${near.join(", ")}?`;
  return `There is no function ${name.slice(0, 60)}.${meant} The aggregates are ${[...AGGREGATES].join(", ")}.`;
}

const UNAVAILABLE = /^(?:REGEXP_|ST_)/i;

function hintFor(sentence: string): string {
  if (/"\|"/.test(sentence)) return " Join texts with CONCAT(a, b).";
  if (/"[^\x00-\x7f]"/.test(sentence)) return ' Put names in double quotes: "name".';
  if (/SEPARATOR/.test(sentence)) return " Write the separator behind a comma: GROUP_CONCAT(a, ', ').";
  if (sentence.startsWith("Window function")) {
    return " ROW_NUMBER() is the only window function: join with a subquery that has GROUP BY, or compare with a scalar subquery.";
  }
  if (/Expected SELECT/.test(sentence)) return " Only SELECT is possible: the rows cannot be changed.";
  const [, word] = /but found "([A-Za-z]+)"/.exec(sentence) ?? [];
  if (word !== undefined) return ` If "${word.toLowerCase()}" is a column, write it in double quotes.`;
  return "";
}

/** The expressions directly within an expression. Subqueries are not among them. */
export function partsOf(node: ExprNode): readonly ExprNode[] {
  switch (node.type) {
    case "unary":
      return [node.argument];
    case "binary":
      return [node.left, node.right];
    case "function":
      return node.filter === undefined ? node.args : [...node.args, node.filter];
    case "window":
      return [...node.args, ...node.partitionBy, ...node.orderBy.map(({ expr }) => expr)];
    case "cast":
    case "in":
      return [node.expr];
    case "in valuelist":
      return [node.expr, ...node.values];
    case "case":
      return [
        ...(node.caseExpr === undefined ? [] : [node.caseExpr]),
        ...node.whenClauses.flatMap(({ condition, result }) => [condition, result]),
        ...(node.elseResult === undefined ? [] : [node.elseResult]),
      ];
    default:
      return [];
  }
}

/** The subquery that an expression is. */
function subqueryOf(node: ExprNode): Statement | undefined {
  return "subquery" in node ? node.subquery : undefined;
}

/** The expressions of a SELECT, but not those of its subqueries. */
export function expressionsOf(select: SelectStatement): readonly ExprNode[] {
  return [
    ...select.columns.flatMap((column) => (column.type === "derived" ? [column.expr] : [])),
    ...select.joins.flatMap(({ on, fromFunction }) => [
      ...(on === undefined ? [] : [on]),
      ...(fromFunction?.args ?? []),
    ]),
    ...(select.from.type === "function" ? select.from.args : []),
    ...(select.where === undefined ? [] : [select.where]),
    ...select.groupBy,
    ...(select.having === undefined ? [] : [select.having]),
    ...select.orderBy.map(({ expr }) => expr),
  ];
}

/** Calls `see` for an expression and all within it, but not within subqueries. */
export function walk(node: ExprNode, see: (node: ExprNode) => void): void {
  see(node);
  for (const part of partsOf(node)) walk(part, see);
}

/** The statements directly within a statement. */
export function statementsIn(statement: Statement): readonly Statement[] {
  if (statement.type === "with") return [...statement.ctes.map(({ query }) => query), statement.query];
  if (statement.type === "compound") return [statement.left, statement.right];
  const found: Statement[] = statement.from.type === "subquery" ? [statement.from.query] : [];
  for (const expression of expressionsOf(statement)) {
    walk(expression, (node) => {
      const subquery = subqueryOf(node);
      if (subquery !== undefined) found.push(subquery);
    });
  }
  return found;
}

/** The names of tables that a statement reads, as they are written. Those of its WITH are not among them. */
export function tableNames(statement: Statement, ctes: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  const known =
    statement.type === "with" ? new Set([...ctes, ...statement.ctes.map(({ name }) => name.toLowerCase())]) : ctes;
  const names = statement.type === "select" ? placesIn(statement).map(({ table }) => table) : [];
  const own = names.filter((name) => !known.has(name.toLowerCase()));
  return new Set([...own, ...statementsIn(statement).flatMap((inner) => [...tableNames(inner, known)])]);
}

/** Where a SELECT names tables. */
export function placesIn({ from, joins }: SelectStatement): { table: string; alias?: string }[] {
  return [...(from.type === "table" ? [from] : []), ...joins.filter(({ fromFunction }) => fromFunction === undefined)];
}

/** Whether an expression aggregates. */
export function isAggregate(node: ExprNode): boolean {
  return node.type === "function" && AGGREGATES.has(node.funcName.toUpperCase());
}

/** Whether some expression has a part for which something holds. */
export function hasPart(nodes: readonly ExprNode[], holds: (node: ExprNode) => boolean): boolean {
  return nodes.some((node) => holds(node) || hasPart(partsOf(node), holds));
}

function checkTree(statement: Statement, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (statement.type === "select") for (const node of expressionsOf(statement)) checkExpression(node, depth);
  for (const inner of statementsIn(statement)) checkTree(inner, depth + 1);
}

function checkExpression(node: ExprNode, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (node.type === "function" && UNAVAILABLE.test(node.funcName)) {
    // A pattern may take the age of the universe in JavaScript, and so may two outlines with a million corners.
    throw wrongQuery(
      `${node.funcName.toUpperCase()} is not available: use LIKE with % and _, or POSITION, SUBSTRING and REPLACE.`,
    );
  }
  // A long chain of AND or + is not deep, but is a tree that leans to the left.
  let chain: ExprNode = node;
  while (chain.type === "binary") {
    checkExpression(chain.right, depth + 1);
    chain = chain.left;
  }
  if (chain !== node) checkExpression(chain, depth + 1);
  else for (const part of partsOf(node)) checkExpression(part, depth + 1);
}

function tooDeep(): SluiceError {
  return wrongQuery(`The query is nested deeper than ${MAX_DEPTH} levels: write it in fewer.`);
}

/** What may be written to. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The expression of a column, if it is no star. */
export const exprOf = (column: SelectStatement["columns"][number]): ExprNode[] =>
  column.type === "derived" ? [column.expr] : [];

/** Makes a node another one, in place. */
export function become(node: ExprNode, other: ExprNode): void {
  for (const key of Object.keys(node)) delete (node as unknown as Record<string, unknown>)[key];
  Object.assign(node, other);
}

/** A call of a function, in the place of a node. */
export function called(funcName: string, args: ExprNode[], { positionStart, positionEnd }: ExprNode): ExprNode {
  return { type: "function", funcName, args, positionStart, positionEnd };
}
