/**
 * A statement as squirreling has to run it to answer as the streaming evaluator does: with names as the tables have them, NULL as in SQL,
 * exact functions, and subqueries that do not depend on the row computed once.
 * @module
 */
import { derivedAlias, type executeSql, type ExprNode, type SelectStatement, type Statement } from "squirreling";
import { type EngineFunctions, literalOf } from "./engine-functions.js";
import type { Limits } from "./limits.js";
import { ColumnNames, unknownColumn } from "./scope.js";
import { expressionsOf, hasPart, isAggregate, partsOf, placesIn, statementsIn, walk, wrongQuery } from "./statement.js";

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

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Cte = Extract<Statement, { type: "with" }>["ctes"][number];

/** The tables that expressions of a SELECT see, by alias. Those that are no table of ours have unknown columns. */
interface SelectScope {
  readonly places: ReadonlyMap<string, ColumnNames | undefined>;
  readonly outer: SelectScope | undefined;
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
    const { subquery, positionStart, positionEnd } = node;
    const query: Statement =
      ctes.length === 0 ? subquery : { type: "with", ctes: [...ctes], query: subquery, positionStart, positionEnd };
    try {
      const results = this.#deps.execute(query).rows();
      if (node.type === "in") {
        const values: unknown[] = [];
        for await (const { columns, cells } of results) {
          if (values.length % SET_BATCH === 0) await this.#deps.limits.pause();
          values.push(await cells[columns[0] as string]?.());
        }
        become(node, called("IS_IN", [node.expr, literalOf(this.#deps.functions.addSet(values), node)], node));
        return;
      }
      const { value: row } = (await results.next()) as IteratorResult<
        { columns: string[]; cells: Record<string, () => Promise<unknown>> },
        undefined
      >;
      if (node.type === "subquery") {
        become(node, literalOf((await row?.cells[row.columns[0] as string]?.()) ?? null, node));
      } else become(node, literalOf((row === undefined) === (node.type === "not exists"), node));
      await results.return(undefined);
    } catch (error) {
      this.#deps.limits.check();
      if (error instanceof Error && "code" in error && error.code === "E_TOO_LARGE") throw error;
      // It depends on the row, or is wrong, which the engine says. It knows the row in a subquery that is a value.
      if (node.type !== "exists" && node.type !== "not exists") return;
      if (
        subquery.type !== "select" ||
        subquery.groupBy.length > 0 ||
        subquery.columns.some((each) => hasPart(exprOf(each), isAggregate))
      )
        return;
      const list = asList(subquery);
      if (list !== undefined) {
        const isIn: ExprNode = { type: "in", ...list, positionStart, positionEnd };
        await this.#settle(isIn, ctes);
        if ((isIn.type as string) !== "in") {
          const found = called("IS_TRUE", [isIn], isIn);
          become(
            node,
            node.type === "exists" ? found : { type: "unary", op: "NOT", argument: found, positionStart, positionEnd },
          );
          return;
        }
      }
      const one: SelectStatement = {
        ...subquery,
        columns: [{ type: "derived", expr: literalOf(1, node), alias: "found", positionStart, positionEnd }],
        orderBy: [],
        limit: 1,
      };
      const argument: ExprNode = { type: "subquery", subquery: one, positionStart, positionEnd };
      const op = node.type === "exists" ? "IS NOT NULL" : "IS NULL";
      become(node, { type: "unary", op, argument, positionStart, positionEnd });
    }
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

/**
 * Names columns as they are written, as in the answers that stream, and no two alike: the engine has one cell for each name. Gives what
 * ORDER BY and the like may call them, in lower case.
 */
function nameColumns(
  select: SelectStatement,
  scope: SelectScope,
  textOf: TranslationDeps["textOf"],
): ReadonlyMap<string, string> {
  select.columns = select.columns.flatMap((column) => (column.type === "star" ? starColumns(column, scope) : [column]));
  const aliases = new Map<string, string>();
  const taken = new Set<string>();
  for (const column of select.columns) {
    if (column.type === "star") continue;
    const { expr } = column;
    const written = column.alias ?? (expr.type === "identifier" ? expr.name : textOf(expr));
    let name = written;
    for (let count = 2; taken.has(name); count += 1) name = `${written}_${count}`;
    taken.add(name);
    const other = derivedAlias(expr).toLowerCase();
    if (!aliases.has(other)) aliases.set(other, name);
    if (column.alias !== undefined) aliases.set(column.alias.toLowerCase(), name);
    if (name !== derivedAlias(expr) || name.includes(".")) column.alias = name;
  }
  return aliases;
}

type Column = SelectStatement["columns"][number];

/** The columns that a star stands for, if they are known. */
function starColumns(star: Extract<Column, { type: "star" }>, scope: SelectScope): Column[] {
  const only = star.table === undefined ? undefined : aliasOf(star.table, scope)?.alias;
  if (star.table !== undefined && only === undefined) return [star];
  const places = [...scope.places].filter(([alias]) => only === undefined || alias === only);
  if (places.some(([, columns]) => columns === undefined))
    return [only === undefined ? star : { ...star, table: only }];
  const { positionStart, positionEnd } = star;
  return places.flatMap(([prefix, columns]) =>
    (columns?.list ?? []).map((name): Column => {
      const expr: ExprNode = { type: "identifier", prefix, name, positionStart, positionEnd };
      return { type: "derived", expr, positionStart, positionEnd };
    }),
  );
}

/** Names the columns of the right side of UNION and the like by those of the left, as SQL does: the engine wants them alike. */
function alikeNames(left: Statement, right: Statement): void {
  const first = firstOf(left);
  const second = firstOf(right);
  if (first === undefined || second === undefined || first.columns.length !== second.columns.length) return;
  if ([...first.columns, ...second.columns].some(({ type }) => type === "star")) return;
  for (const [index, column] of second.columns.entries()) {
    const other = first.columns[index];
    if (column.type !== "derived" || other?.type !== "derived") continue;
    const name = other.alias ?? (other.expr.type === "identifier" ? other.expr.name : undefined);
    if (name === undefined) {
      other.alias = `column_${index + 1}`;
      column.alias = other.alias;
    } else column.alias = name;
  }
}

/** The SELECT that names the columns of a statement. */
function firstOf(statement: Statement): SelectStatement | undefined {
  if (statement.type === "select") return statement;
  return firstOf(statement.type === "with" ? statement.query : statement.left);
}

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

const exprOf = (column: SelectStatement["columns"][number]): ExprNode[] =>
  column.type === "derived" ? [column.expr] : [];

/** The table that a prefix means, here or further out. */
function aliasOf(
  prefix: string,
  scope: SelectScope | undefined,
): { readonly alias: string; readonly columns: ColumnNames | undefined } | undefined {
  if (scope === undefined) return undefined;
  const { places, outer } = scope;
  const alias = places.has(prefix)
    ? prefix
    : [...places.keys()].find((name) => name.toLowerCase() === prefix.toLowerCase());
  return alias === undefined ? aliasOf(prefix, outer) : { alias, columns: places.get(alias) };
}

/** All tables that are seen from within a SELECT, the nearest first. */
function placesFrom(scope: SelectScope | undefined): readonly (ColumnNames | undefined)[] {
  return scope === undefined ? [] : [...scope.places.values(), ...placesFrom(scope.outer)];
}

/** Writes a name as the table does. Refuses names that are not there, and those that every object has. */
function resolveName(node: ExprNode, scope: SelectScope, aliases: ReadonlyMap<string, string>): void {
  if (node.type !== "identifier") return;
  const named = node as Mutable<typeof node>;
  const { name, prefix } = node;
  const places = placesFrom(scope);
  if (prefix !== undefined) {
    const place = aliasOf(prefix, scope);
    if (place !== undefined) {
      named.prefix = place.alias;
      if (place.columns !== undefined) resolveMember(node, place.columns);
      else if (name in {}) throw unknown(name, []);
      return;
    }
    named.prefix = places.map((each) => each?.find(prefix)).find((each) => each !== undefined) ?? prefix;
    return;
  }
  const found = places.map((each) => each?.find(name)).find((each) => each !== undefined);
  if (found !== undefined) {
    named.name = found;
    return;
  }
  const columns = places.flatMap((each) => each?.list ?? []);
  if (name in {}) throw unknown(name, columns);
  const alias = aliases.get(name.toLowerCase());
  if (alias !== undefined) named.name = alias;
  else if (!places.includes(undefined)) throw unknown(name, columns);
}

/** Writes the name of a column of a table, or of a member of one, which becomes a function of the column. */
function resolveMember(node: Extract<ExprNode, { type: "identifier" }>, columns: ColumnNames): void {
  const named = node as Mutable<typeof node>;
  const found = columns.find(node.name);
  if (found !== undefined) {
    named.name = found;
    return;
  }
  const [first = "", ...path] = node.name.split(".");
  const column = path.length === 0 ? undefined : columns.find(first);
  if (column === undefined) throw unknown(node.name, columns.list);
  const value: ExprNode = { ...node, name: column };
  become(node, called("MEMBER_OF", [value, ...path.map((key) => literalOf(key, node))], node));
}

function unknown(name: string, columns: readonly string[]): Error {
  return wrongQuery(unknownColumn(name, columns));
}

/** Makes a node another one, in place. */
function become(node: ExprNode, other: ExprNode): void {
  for (const key of Object.keys(node)) delete (node as unknown as Record<string, unknown>)[key];
  Object.assign(node, other);
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

function called(funcName: string, args: ExprNode[], { positionStart, positionEnd }: ExprNode): ExprNode {
  return { type: "function", funcName, args, positionStart, positionEnd };
}
