/**
 * Names in a SELECT, written as its tables have them: columns, members of columns, and the columns of the answer.
 * @module
 */
import { derivedAlias, type ExprNode, type SelectStatement, type Statement } from "squirreling";
import { literalOf } from "./engine-functions.js";
import { type ColumnNames, unknownColumn } from "./scope.js";
import { become, called, type Mutable, wrongQuery } from "./statement.js";

/** The tables that expressions of a SELECT see, by alias. Those that are no table of ours have unknown columns. */
export interface SelectScope {
  readonly places: ReadonlyMap<string, ColumnNames | undefined>;
  readonly outer: SelectScope | undefined;
}

/**
 * Names columns as they are written, as in the answers that stream, and no two alike: the engine has one cell for each name. Gives what
 * ORDER BY and the like may call them, in lower case.
 */
export function nameColumns(
  select: SelectStatement,
  scope: SelectScope,
  textOf: (part: ExprNode) => string,
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
export function alikeNames(left: Statement, right: Statement): void {
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
export function firstOf(statement: Statement): SelectStatement | undefined {
  if (statement.type === "select") return statement;
  return firstOf(statement.type === "with" ? statement.query : statement.left);
}

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
export function resolveName(node: ExprNode, scope: SelectScope, aliases: ReadonlyMap<string, string>): void {
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
