/**
 * A statement as squirreling has to run it to answer as the streaming evaluator does: with names as the tables have them, NULL as in SQL,
 * exact functions, and subqueries that do not depend on the row computed once.
 * @module
 */
import { derivedAlias, type executeSql, type ExprNode, type SelectStatement, type Statement } from "squirreling";
import { SluiceError } from "../errors/error.js";
import { type EngineFunctions, literalOf } from "./engine-functions.js";
import type { Limits } from "./limits.js";
import { alikeNames, firstOf, nameColumns, resolveName, type SelectScope } from "./names.js";
import { ColumnNames } from "./scope.js";
import {
  become,
  called,
  expressionsOf,
  exprOf,
  hasPart,
  isAggregate,
  partsOf,
  placesIn,
  statementsIn,
  walk,
} from "./statement.js";

/** A table as the engine has it. */
export interface EngineTable {
  readonly id: string;
  /** All its columns, also those that the query does not name. */
  readonly columns: readonly string[];
}

/** What a {@link Translation} needs. */
export interface TranslationDeps {
  /** The tables by their names in the query. */
  readonly tables: ReadonlyMap<string, EngineTable>;
  /** The text of a part of the query. */
  readonly textOf: (part: { readonly positionStart: number; readonly positionEnd: number }) => string;
  readonly functions: EngineFunctions;
  readonly limits: Limits;
  /** Runs a statement that is prepared. */
  execute(query: Statement): ReturnType<typeof executeSql>;
}

type Cte = Extract<Statement, { type: "with" }>["ctes"][number];

/** An expression that has a subquery. */
type Nested = Extract<ExprNode, { readonly subquery: unknown }>;
type Exists = Extract<ExprNode, { readonly type: "exists" | "not exists" }>;

/** A row as the engine gives it. */
interface EngineRow {
  readonly columns: readonly string[];
  readonly cells: Readonly<Record<string, () => Promise<unknown>>>;
}

/** Values of a subquery that are kept for one IN. */
const SET_BATCH = 1000;

/** Prepares the statements of one query. */
export class Translation {
  readonly #deps: TranslationDeps;
  readonly #columns = new Map<string, ColumnNames>();

  constructor(deps: TranslationDeps) {
    this.#deps = deps;
    for (const [name, { columns }] of deps.tables) this.#columns.set(name, new ColumnNames(columns));
  }

  /** Prepares a statement in place. Throws E_INVALID_ARGUMENT for names that are not there. */
  async prepare(statement: Statement, ctes: readonly Cte[] = [], outer?: SelectScope): Promise<void> {
    if (statement.type === "with") {
      const known = [...ctes];
      for (const cte of statement.ctes) {
        await this.prepare(cte.query, known);
        known.push(cte);
      }
      await this.prepare(statement.query, known, outer);
    } else if (statement.type === "compound") {
      for (const term of statement.orderBy) this.#sortKey(term);
      alikeNames(statement.left, statement.right);
      await this.prepare(statement.left, ctes, outer);
      await this.prepare(statement.right, ctes, outer);
    } else await this.#select(statement, ctes, outer);
  }

  async #select(select: SelectStatement, ctes: readonly Cte[], outer: SelectScope | undefined): Promise<void> {
    // Before the others, because its columns are those of this one.
    const { from } = select;
    if (from.type === "subquery") await this.prepare(from.query, ctes);
    const scope = this.#scopeOf(select, ctes, outer);
    const aliases = nameColumns(select, scope, this.#deps.textOf);
    for (const inner of statementsIn(select)) {
      if (from.type !== "subquery" || inner !== from.query) await this.prepare(inner, ctes, scope);
    }
    for (const expression of expressionsOf(select)) {
      walk(expression, (node) => resolveName(node, scope, aliases));
      const found: ExprNode[] = [];
      walk(expression, (node) => void ("subquery" in node && found.push(node)));
      for (const node of found) await this.#settle(node, ctes);
    }
    // The answer of aggregates without groups is one row.
    if (select.groupBy.length === 0 && hasPart(select.columns.flatMap(exprOf), isAggregate)) select.orderBy = [];
    if (select.where !== undefined) select.where = this.#positive(select.where);
    if (select.having !== undefined) select.having = this.#positive(select.having);
    for (const join of select.joins) if (join.on !== undefined) join.on = this.#positive(join.on);
    for (const column of select.columns) if (column.type === "derived") column.expr = this.#replaced(column.expr);
    for (const term of select.orderBy) this.#sortKey(term);
    const [first, ...others] = select.groupBy.map((expr) => this.#replaced(expr));
    // The engine tells groups of several columns apart by their texts with a bar between.
    if (first !== undefined && others.length > 0) select.groupBy = [called("GROUP_KEY", [first, ...others], first)];
    else if (first !== undefined) select.groupBy = [first];
  }

  #scopeOf(select: SelectStatement, ctes: readonly Cte[], outer: SelectScope | undefined): SelectScope {
    const known = new Map(ctes.map(({ name, query }) => [name.toLowerCase(), query]));
    const places = new Map<string, ColumnNames | undefined>();
    const { from } = select;
    if (from.type === "function") places.set(from.alias ?? from.funcName.toLowerCase(), undefined);
    if (from.type === "subquery") places.set(from.alias ?? "table", this.#columnsOf(from.query));
    for (const place of placesIn(select)) {
      const cte = known.get(place.table.toLowerCase());
      const table = cte === undefined ? this.#deps.tables.get(place.table) : undefined;
      const columns = cte === undefined ? this.#columns.get(place.table) : this.#columnsOf(cte);
      if (table !== undefined) {
        place.alias ??= place.table;
        place.table = table.id;
      }
      places.set(place.alias ?? place.table, columns);
    }
    for (const { fromFunction, alias, table } of select.joins) if (fromFunction) places.set(alias ?? table, undefined);
    return { places, outer };
  }

  /** The columns of a statement that is prepared, if none of them is a star. */
  #columnsOf(statement: Statement): ColumnNames | undefined {
    const names = firstOf(statement)?.columns.map((column) =>
      column.type === "star" ? undefined : (column.alias ?? derivedAlias(column.expr)),
    );
    return names === undefined || names.includes(undefined) ? undefined : new ColumnNames(names as string[]);
  }

  /** Computes a subquery that does not depend on the row. To the engine it is a new one for each row. */
  async #settle(node: ExprNode, ctes: readonly Cte[]): Promise<void> {
    if (!("subquery" in node)) return;
    try {
      await this.#compute(node, ctes);
    } catch (error) {
      this.#deps.limits.check();
      if (error instanceof SluiceError && error.code === "E_TOO_LARGE") throw error;
      // It depends on the row, or is wrong, which the engine says.
      if (node.type === "exists" || node.type === "not exists") await this.#settleExists(node, ctes);
    }
  }

  async #compute(node: Nested, ctes: readonly Cte[]): Promise<void> {
    const { subquery, positionStart, positionEnd } = node;
    const query: Statement =
      ctes.length === 0 ? subquery : { type: "with", ctes: [...ctes], query: subquery, positionStart, positionEnd };
    const results = this.#deps.execute(query).rows();
    if (node.type === "in") {
      const values: unknown[] = [];
      for await (const row of results) {
        if (values.length % SET_BATCH === 0) await this.#deps.limits.pause();
        values.push(await firstCell(row));
      }
      become(node, called("IS_IN", [node.expr, literalOf(this.#deps.functions.addSet(values), node)], node));
      return;
    }
    const { value: row } = (await results.next()) as IteratorResult<EngineRow, undefined>;
    const value =
      node.type === "subquery" ? await firstCell(row) : (row === undefined) === (node.type === "not exists");
    become(node, literalOf(value ?? null, node));
    await results.return(undefined);
  }

  /** EXISTS that depends on the row: as IN if it compares with one column, else as a value, in which the engine knows the row. */
  async #settleExists(node: Exists, ctes: readonly Cte[]): Promise<void> {
    const { subquery, positionStart, positionEnd, type } = node;
    const place = { positionStart, positionEnd };
    const isOfRows = subquery.type === "select" && subquery.groupBy.length === 0;
    if (!isOfRows || hasPart(subquery.columns.flatMap(exprOf), isAggregate)) return;
    const list = asList(subquery);
    if (list !== undefined) {
      const isIn: ExprNode = { type: "in", ...list, ...place };
      await this.#settle(isIn, ctes);
      if ((isIn.type as string) !== "in") {
        const argument = called("IS_TRUE", [isIn], isIn);
        become(node, type === "exists" ? argument : { type: "unary", op: "NOT", argument, ...place });
        return;
      }
    }
    const found: SelectStatement = {
      ...subquery,
      columns: [{ type: "derived", expr: literalOf(1, node), alias: "found", ...place }],
      orderBy: [],
      limit: 1,
    };
    const argument: ExprNode = { type: "subquery", subquery: found, ...place };
    become(node, { type: "unary", op: type === "exists" ? "IS NOT NULL" : "IS NULL", argument, ...place });
  }

  /** NULL is less than everything, and numbers are numbers, as in the answers that stream. */
  #sortKey(term: SelectStatement["orderBy"][number]): void {
    term.nulls ??= term.direction === "DESC" ? "LAST" : "FIRST";
    if (term.expr.type !== "literal") term.expr = called("SORT_KEY", [this.#replaced(term.expr)], term.expr);
  }

  /** An expression with the functions that are ours. */
  #replaced(node: ExprNode): ExprNode {
    const { functions } = this.#deps;
    const replaced = (each: ExprNode): ExprNode => this.#replaced(each);
    const { type } = node;
    if (type === "binary") {
      const left = replaced(node.left);
      const right = replaced(node.right);
      if (node.op === "LIKE") return called("IS_LIKE", [left, right], node);
      const isOfDates = left.type === "interval" || right.type === "interval";
      const own = isOfDates ? undefined : functions.operator(node.op);
      return own === undefined ? { ...node, left, right } : called(own, [left, right], node);
    }
    if (type === "unary") return { ...node, argument: replaced(node.argument) };
    if (type === "cast") return called("CAST_TO", [replaced(node.expr), literalOf(node.toType, node)], node);
    if (type === "in") return { ...node, expr: replaced(node.expr) };
    if (type === "in valuelist") return { ...node, expr: replaced(node.expr), values: node.values.map(replaced) };
    if (type === "function") return this.#call(node);
    if (type === "window") {
      for (const term of node.orderBy) this.#sortKey(term);
      return { ...node, args: node.args.map(replaced), partitionBy: node.partitionBy.map(replaced) };
    }
    if (type === "case") {
      return {
        ...node,
        ...(node.caseExpr !== undefined && { caseExpr: replaced(node.caseExpr) }),
        whenClauses: node.whenClauses.map((clause) => ({
          ...clause,
          condition: node.caseExpr === undefined ? this.#positive(clause.condition) : replaced(clause.condition),
          result: replaced(clause.result),
        })),
        ...(node.elseResult !== undefined && { elseResult: replaced(node.elseResult) }),
      };
    }
    return node;
  }

  #call(node: Extract<ExprNode, { type: "function" }>): ExprNode {
    const { functions } = this.#deps;
    const name = node.funcName.toUpperCase();
    const args = node.args.map((each) => this.#replaced(each));
    const filter = node.filter && this.#positive(node.filter);
    const aggregate = functions.aggregate(name);
    if (aggregate !== undefined) {
      // PERCENTILE_CONT has the value behind the fraction.
      const [value, ...setting] = name === "PERCENTILE_CONT" ? args.toReversed() : args;
      const values = {
        ...node,
        funcName: "ARRAY_AGG",
        args: value === undefined ? [] : [value],
        ...(filter && { filter }),
      };
      return called(aggregate, [values, ...setting], node);
    }
    const own = functions.scalar(name);
    if (own !== undefined) return called(own, args, node);
    if (name === "IFNULL") return called("COALESCE", args, node);
    if (name === "YEAR" || name === "MONTH" || name === "DAY")
      return called("EXTRACT", [literalOf(name, node), ...args], node);
    return { ...node, args, ...(filter && { filter }) };
  }

  /**
   * A condition without NOT before what may be NULL: squirreling knows true and false alone, so that NOT would make NULL true. `isNot`
   * asks for the opposite.
   */
  #positive(node: ExprNode, isNot = false): ExprNode {
    if (node.type === "unary" && node.op === "NOT") return this.#positive(node.argument, !isNot);
    if (node.type === "unary" && (node.op === "IS NULL" || node.op === "IS NOT NULL")) {
      const op = isNot === (node.op === "IS NULL") ? "IS NOT NULL" : "IS NULL";
      return { ...node, op, argument: this.#replaced(node.argument) };
    }
    if (node.type === "binary") {
      const { op } = node;
      if (op === "AND" || op === "OR") {
        const other = op === "AND" ? "OR" : "AND";
        return {
          ...node,
          op: isNot ? other : op,
          left: this.#positive(node.left, isNot),
          right: this.#positive(node.right, isNot),
        };
      }
      const parts = [this.#replaced(node.left), this.#replaced(node.right)] as const;
      if (op === "LIKE") return called(isNot ? "IS_NOT_LIKE" : "IS_LIKE", [...parts], node);
      const opposite = OPPOSITES[op];
      if (opposite !== undefined) {
        const wanted = isNot ? opposite : op;
        const own = this.#deps.functions.operator(wanted);
        if (own !== undefined) return called(`IF_${own}`, [...parts], node);
        return { ...node, op: wanted as typeof op, left: parts[0], right: parts[1] };
      }
    }
    const whole = this.#replaced(node);
    const isList = whole.type === "in" || whole.type === "in valuelist";
    // To the engine, NULL is in a list that has NULL.
    if (!isNot && isList) return unlessNull(whole, [whole.expr]);
    // Neither AND nor OR knows NULL.
    if (!isNot)
      return whole.type === "exists" || whole.type === "not exists" ? whole : called("IS_TRUE", [whole], node);
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
      const hasNull: ExprNode = { ...whole, expr: literalOf(null, node) };
      const isKnown = unlessNull(
        { ...not, type: "binary", op: "AND", left: not, right: { ...not, argument: hasNull } },
        [whole.expr],
      );
      return { ...isKnown, type: "binary", op: "OR", left: isKnown, right: { ...whole, type: "not exists" } };
    }
    return called("IS_KNOWN_FALSE", [whole], node);
  }
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

/** `EXISTS (SELECT … WHERE t.a = outer.b AND …)` as `outer.b IN (SELECT t.a … WHERE …)`, which is computed once. */
function asList(select: SelectStatement): { expr: ExprNode; subquery: SelectStatement } | undefined {
  const { where, from, joins } = select;
  if (where === undefined || joins.length > 0 || from.type !== "table" || select.limit !== undefined) return undefined;
  const own = from.alias ?? from.table;
  const parts = conjuncts(where);
  for (const [index, part] of parts.entries()) {
    // It is prepared already: equality is the engine's.
    if (part.type !== "binary" || part.op !== "=") continue;
    const [mine, other] = isOf(part.left, own) ? [part.left, part.right] : [part.right, part.left];
    if (!isOf(mine, own) || other.type !== "identifier" || other.prefix === undefined || other.prefix === own) continue;
    const { positionStart, positionEnd } = part;
    const rest = parts.filter((_, at) => at !== index);
    const [first, ...others] = rest;
    const subquery: SelectStatement = {
      ...select,
      columns: [{ type: "derived", expr: mine, alias: "found", positionStart, positionEnd }],
      orderBy: [],
    };
    if (first === undefined) delete subquery.where;
    else {
      subquery.where = others.reduce<ExprNode>(
        (left, right) => ({ type: "binary", op: "AND", left, right, positionStart, positionEnd }),
        first,
      );
    }
    return { expr: other, subquery };
  }
  return undefined;
}

const isOf = (node: ExprNode, alias: string): boolean => node.type === "identifier" && node.prefix === alias;

function conjuncts(node: ExprNode): ExprNode[] {
  return node.type === "binary" && node.op === "AND" ? [...conjuncts(node.left), ...conjuncts(node.right)] : [node];
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

async function firstCell(row: EngineRow | undefined): Promise<unknown> {
  return row?.cells[row.columns[0] as string]?.();
}
