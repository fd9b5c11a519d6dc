/**
 * Expressions of a query as functions of a row.
 *
 * squirreling computes each expression of each row in promises, ten times as long. These take a row's cells and are
 * synchronous, with the functions of squirreling where it exports them. What is not known here is left to squirreling.
 * @module
 */
import type { ExprNode } from "squirreling";
import { applyIntervalToDate, dateTrunc, extractField } from "squirreling/src/expression/date.js";
import { evaluateMathFunc } from "squirreling/src/expression/math.js";
import { evaluateStringFunc } from "squirreling/src/expression/strings.js";
import type { Cells } from "./types.js";
import type { Scope } from "./scope.js";
import { wrongQuery } from "./statement.js";
import { tooLarge } from "./limits.js";
import { comparable, compareValues, fitting, likeTest, MAX_PATTERN, textOf } from "./values.js";

/** Computes a value of a row's cells, and of the aggregates of its group. NULL is null. */
export type Evaluator = (row: Cells, aggregates: Cells) => unknown;

/** Thrown for what only squirreling computes. */
export class Unsupported extends Error {}

/** What {@link compile} knows. */
export interface CompileOptions {
  /** Where names are looked up. */
  readonly scope: Scope;
  /** Takes over an aggregate. Without it there is none. */
  readonly aggregate?: (node: Extract<ExprNode, { type: "function" }>) => Evaluator;
  /** What a name stands for that is no column: an alias of the select list. */
  readonly alias?: (name: string) => ExprNode | undefined;
  /** Whether aliases come before columns, as in ORDER BY. */
  readonly aliasFirst?: boolean;
  /** Looks at the clock where a single value may take long. */
  readonly check?: () => void;
}

type Binary = Extract<ExprNode, { type: "binary" }>;
type Call = Extract<ExprNode, { type: "function" }>;

/**
 * Makes a function of an expression.
 *
 * @throws Unsupported for what only squirreling computes; SluiceError E_INVALID_ARGUMENT for a name that is no column.
 */
export function compile(node: ExprNode, options: CompileOptions): Evaluator {
  const inner = (part: ExprNode): Evaluator => compile(part, options);
  switch (node.type) {
    case "literal": {
      const { value } = node;
      return () => value;
    }
    case "identifier":
      return identifier(node, options);
    case "unary":
      return unary(node.op, inner(node.argument));
    case "binary":
      return binary(node, inner, options.check);
    case "in valuelist":
      return inList(inner(node.expr), node.values.map(inner));
    case "case":
      return caseOf(node, inner);
    case "cast":
      return cast(inner(node.expr), node.toType);
    case "function":
      return call(node, options, inner);
    default:
      throw new Unsupported(node.type);
  }
}

/** Whether a value counts as true in WHERE. NULL does not, and neither do the texts `false` and `0` of a CSV file. */
export function isTrue(value: unknown): boolean {
  return truth(value) === true;
}

function truth(value: unknown): boolean | null {
  if (value == null) return null;
  if (typeof value === "string") return !/^(?:false|0|)$/i.test(value);
  return Boolean(value);
}

function identifier({ name, prefix }: Extract<ExprNode, { type: "identifier" }>, options: CompileOptions): Evaluator {
  const { scope, alias, aliasFirst = false } = options;
  const stands = prefix === undefined ? alias?.(name) : undefined;
  if (stands !== undefined && (aliasFirst || !scope.has(name))) {
    // An alias may be named like the column that it is made of.
    const { aggregate, check } = options;
    return compile(stands, { scope, ...(aggregate && { aggregate }), ...(check && { check }) });
  }
  const { index, path } = scope.resolve(name, prefix);
  if (path.length === 0) return (row) => row[index] ?? null;
  return (row) => memberOf(row[index], path);
}

/** A value within a value. Only own members are seen. */
export function memberOf(value: unknown, path: readonly string[]): unknown {
  let inner = value;
  for (const key of path) {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, key)) return null;
    inner = (inner as Record<string, unknown>)[key];
  }
  return inner ?? null;
}

function unary(op: string, argument: Evaluator): Evaluator {
  if (op === "IS NULL") return (row, all) => argument(row, all) == null;
  if (op === "IS NOT NULL") return (row, all) => argument(row, all) != null;
  if (op === "NOT") {
    return (row, all) => {
      const value = truth(argument(row, all));
      return value === null ? null : !value;
    };
  }
  return (row, all) => {
    const value = argument(row, all);
    if (value == null) return null;
    const number = comparable(value);
    return typeof number === "bigint" ? fitting(-number, (whole) => whole) : numeric(-Number(number));
  };
}

const numeric = (value: number): number | null => (Number.isNaN(value) ? null : value);

function binary(
  { op, left, right }: Binary,
  inner: (node: ExprNode) => Evaluator,
  check: (() => void) | undefined,
): Evaluator {
  if ((op === "+" || op === "-") && right.type === "interval") {
    const date = inner(left);
    return (row, all) => applyIntervalToDate(date(row, all), right.value, right.unit, op);
  }
  if (op === "+" && left.type === "interval") {
    const date = inner(right);
    return (row, all) => applyIntervalToDate(date(row, all), left.value, left.unit, "+");
  }
  if (op === "LIKE") return like(inner(left), right, inner, check);
  const a = inner(left);
  const b = inner(right);
  if (op === "AND") {
    return (row, all) => {
      const first = truth(a(row, all));
      if (first === false) return false;
      const second = truth(b(row, all));
      if (second === false) return false;
      return first === null || second === null ? null : true;
    };
  }
  if (op === "OR") {
    return (row, all) => {
      const first = truth(a(row, all));
      if (first === true) return true;
      const second = truth(b(row, all));
      if (second === true) return true;
      return first === null || second === null ? null : false;
    };
  }
  const compute = OPERATORS[op];
  if (compute === undefined) throw new Unsupported(op);
  return (row, all) => {
    const first = a(row, all);
    if (first == null) return null;
    const second = b(row, all);
    return second == null ? null : compute(first, second);
  };
}

/** Operators of two values that are not NULL. */
export const OPERATORS: Partial<Record<string, (a: unknown, b: unknown) => unknown>> = {
  "=": isSame,
  "==": isSame,
  "!=": (a, b) => !isSame(a, b),
  "<>": (a, b) => !isSame(a, b),
  "<": (a, b) => (comparable(a) as number) < (comparable(b) as number),
  ">": (a, b) => (comparable(a) as number) > (comparable(b) as number),
  "<=": (a, b) => (comparable(a) as number) <= (comparable(b) as number),
  ">=": (a, b) => (comparable(a) as number) >= (comparable(b) as number),
  "+": (a, b) =>
    arithmetic(
      a,
      b,
      (x, y) => x + y,
      (x, y) => x + y,
    ),
  "-": (a, b) =>
    arithmetic(
      a,
      b,
      (x, y) => x - y,
      (x, y) => x - y,
    ),
  "*": (a, b) =>
    arithmetic(
      a,
      b,
      (x, y) => x * y,
      (x, y) => x * y,
    ),
  "/": quotient,
  "%": remainder,
};

/** Equality as squirreling has it, where `'5' = 5` holds; and `= true` means the text `true` of a CSV file, too. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a === "boolean" && typeof b === "string") return b.toLowerCase() === String(a);
  if (typeof b === "boolean" && typeof a === "string") return a.toLowerCase() === String(b);
  if (typeof a === "object" && typeof b === "object") return compareValues(a, b) === 0;
  // Two texts are the same text or not. A text and a number are the same number or not, with all its digits.
  if (typeof a !== typeof b) {
    const [first, second] = [comparable(a), comparable(b)];
    if (typeof first === "bigint" || typeof second === "bigint") return isSameWhole(first, second);
  }
  // oxlint-disable-next-line eqeqeq
  return a == b && (a !== "" || b === "") && (b !== "" || a === "");
}

function isSameWhole(a: unknown, b: unknown): boolean {
  // oxlint-disable-next-line eqeqeq
  return a == b;
}

function quotient(a: unknown, b: unknown): unknown {
  if (Number(b) === 0) return null;
  const result = Number(a) / Number(b);
  // A division of whole numbers that comes out even stays exact.
  if (Number.isSafeInteger(result) || !Number.isInteger(Number(a)) || !Number.isInteger(Number(b)))
    return numeric(result);
  const [x, y] = [wholeOf(a), wholeOf(b)];
  return x % y === 0n ? fitting(x / y, (value) => value) : numeric(result);
}

function remainder(a: unknown, b: unknown): unknown {
  const [x, y] = [Number(a), Number(b)];
  if (y === 0) return null;
  if (Number.isInteger(x) && Number.isInteger(y) && !(Number.isSafeInteger(x) && Number.isSafeInteger(y))) {
    return fitting(wholeOf(a) % wholeOf(b), (value) => value);
  }
  return numeric(x % y);
}

function arithmetic(
  a: unknown,
  b: unknown,
  compute: (a: number, b: number) => number,
  exactly: (a: bigint, b: bigint) => bigint,
): unknown {
  const x = Number(a);
  const y = Number(b);
  const result = compute(x, y);
  // What no number can hold is not computed exactly either: by squaring, its digits would grow without an end.
  // Whole numbers stay exact where a number would round.
  const isWhole = Number.isInteger(x) && Number.isInteger(y) && Number.isFinite(result);
  if (isWhole && !(Number.isSafeInteger(result) && Number.isSafeInteger(x) && Number.isSafeInteger(y))) {
    return fitting(exactly(wholeOf(a), wholeOf(b)), (value) => value);
  }
  return numeric(result);
}

function wholeOf(value: unknown): bigint {
  return typeof value === "bigint" || (typeof value === "string" && /^-?\d+$/.test(value))
    ? BigInt(value)
    : BigInt(Number(value));
}

function like(
  text: Evaluator,
  pattern: ExprNode,
  inner: (node: ExprNode) => Evaluator,
  check: (() => void) | undefined,
): Evaluator {
  const wanted = inner(pattern);
  let last: string | undefined;
  let test = likeTest("");
  return (row, all) => {
    const value = text(row, all);
    const signs = wanted(row, all);
    if (value == null || signs == null) return null;
    const now = textOf(signs);
    if (now !== last) {
      if (now.length > MAX_PATTERN) throw wrongQuery(`A pattern of LIKE has more than ${MAX_PATTERN} characters.`);
      test = likeTest(now, check);
      last = now;
    }
    const whole = textOf(value);
    if (whole.length > LONG_TEXT) check?.();
    return test(whole);
  };
}

function inList(wanted: Evaluator, values: readonly Evaluator[]): Evaluator {
  return (row, all) => {
    const value = wanted(row, all);
    if (value == null) return null;
    let isUnknown = false;
    for (const each of values) {
      const other = each(row, all);
      if (other == null) isUnknown = true;
      else if (isSame(value, other)) return true;
    }
    return isUnknown ? null : false;
  };
}

function caseOf(node: Extract<ExprNode, { type: "case" }>, inner: (node: ExprNode) => Evaluator): Evaluator {
  const subject = node.caseExpr && inner(node.caseExpr);
  const branches = node.whenClauses.map(({ condition, result }) => [inner(condition), inner(result)] as const);
  const otherwise = node.elseResult && inner(node.elseResult);
  return (row, all) => {
    const value = subject?.(row, all);
    for (const [condition, result] of branches) {
      const wanted = condition(row, all);
      const holds = subject === undefined ? isTrue(wanted) : value != null && wanted != null && isSame(value, wanted);
      if (holds) return result(row, all);
    }
    return otherwise === undefined ? null : otherwise(row, all);
  };
}

function cast(value: Evaluator, type: string): Evaluator {
  return (row, all) => castValue(value(row, all), type);
}

/** A value as one of another type, or NULL. */
export function castValue(given: unknown, type: string): unknown {
  if (given == null) return null;
  if (/^(?:TEXT|STRING|VARCHAR)$/.test(type)) return textOf(given);
  if (type.startsWith("BOOL")) return truth(given);
  const number = typeof given === "object" || given === "" ? Number.NaN : Number(given);
  if (Number.isNaN(number)) return null;
  if (/^(?:FLOAT|REAL|DOUBLE)$/.test(type)) return number;
  if (Number.isSafeInteger(number) || !Number.isFinite(number)) return number;
  if (typeof given === "bigint" || /^-?\d+$/.test(textOf(given))) return BigInt(textOf(given));
  return Math.trunc(number);
}

/** Texts above this length take so long that the clock is looked at, in characters. */
const LONG_TEXT = 64 * 1024;

/** Longest text that a function makes, in characters. */
export const MAX_TEXT = 16 * 1024 * 1024;

/** Functions of texts. */
export const STRINGS: ReadonlySet<string> = new Set(
  "UPPER LOWER CONCAT LENGTH SUBSTRING SUBSTR TRIM REPLACE LEFT RIGHT INSTR POSITION STRPOS".split(" "),
);
/** Functions of numbers. */
export const MATH: ReadonlySet<string> = new Set(
  "FLOOR CEIL CEILING ROUND ABS SIGN MOD EXP LN LOG10 POW POWER SQRT SIN COS TAN COT ASIN ACOS ATAN ATAN2 DEGREES RADIANS PI RAND RANDOM".split(
    " ",
  ),
);

function call(node: Call, options: CompileOptions, inner: (node: ExprNode) => Evaluator): Evaluator {
  const name = node.funcName.toUpperCase();
  if (options.aggregate !== undefined) {
    const aggregate = options.aggregate(node);
    if (aggregate !== NO_AGGREGATE) return aggregate;
  }
  const parts = node.args.map(inner);
  if (name === "COALESCE" || name === "IFNULL") {
    return (row, all) => {
      for (const part of parts) {
        const value = part(row, all);
        if (value != null) return value;
      }
      return null;
    };
  }
  const compute = functionOf(name, node, options.check);
  const [first, second] = parts;
  if (first !== undefined && parts.length === 1) return (row, all) => compute([first(row, all)]);
  if (first !== undefined && second !== undefined && parts.length === 2) {
    return (row, all) => compute([first(row, all), second(row, all)]);
  }
  return (row, all) => compute(parts.map((part) => part(row, all)));
}

/** Says of a function that it does not aggregate. */
export const NO_AGGREGATE: Evaluator = () => null;

/** Functions that look for their second argument in the first: a long one may take them forever. */
const FINDERS = new Set(["REPLACE", "INSTR", "POSITION", "STRPOS"]);

/** Functions that count characters. */
const COUNTERS = new Set(["LENGTH", "SUBSTRING", "SUBSTR", "LEFT", "RIGHT", "INSTR", "POSITION", "STRPOS"]);

/** A function of texts, within bounds of time and memory. Characters are counted, and not units of UTF-16. */
export function textFunction(
  funcName: string,
  node: Call,
  check: (() => void) | undefined,
): (args: readonly unknown[]) => unknown {
  return (args) => {
    const given = funcName === "LENGTH" && /^(?:number|bigint)$/.test(typeof args[0]) ? [String(args[0])] : args;
    const size = args.reduce<number>((sum, each) => sum + (typeof each === "string" ? each.length : 0), 0);
    if (size > MAX_TEXT) throw tooLong();
    if (size > LONG_TEXT) check?.();
    if (FINDERS.has(funcName) && args[1] != null && textOf(args[1]).length > MAX_PATTERN) {
      throw wrongQuery(`What ${funcName} looks for has more than ${MAX_PATTERN} characters.`);
    }
    const compute = (each: readonly unknown[]): unknown => evaluateStringFunc({ funcName, node, args: each });
    const made = COUNTERS.has(funcName) ? callByCharacters(given, compute) : compute(given);
    if (typeof made === "string" && made.length > MAX_TEXT) throw tooLong();
    return made;
  };
}

/** Characters that take two units of UTF-16. */
const PAIRS = /[\u{10000}-\u{10ffff}]/gu;

/** Units for private use: while a function counts, each stands for one of these characters. */
const PRIVATE = /[\ue000-\uf8ff]/g;
const FIRST_PRIVATE = 0xe000;
const LAST_PRIVATE = 0xf8ff;

/** Calls a function that counts units, with texts in which each character is one unit. */
function callByCharacters(args: readonly unknown[], compute: (args: readonly unknown[]) => unknown): unknown {
  const texts = args.filter((each) => typeof each === "string");
  const pairs = new Set(texts.flatMap((text) => text.match(PAIRS) ?? []));
  if (pairs.size === 0) return compute(args);
  const taken = new Set(texts.flatMap((text) => text.match(PRIVATE) ?? []));
  const units = new Map<string, string>();
  let code = FIRST_PRIVATE;
  for (const pair of pairs) {
    while (taken.has(String.fromCharCode(code))) code += 1;
    if (code > LAST_PRIVATE) break;
    units.set(pair, String.fromCharCode(code));
    code += 1;
  }
  const made = compute(
    args.map((each) => (typeof each === "string" ? each.replace(PAIRS, (pair) => units.get(pair) ?? pair) : each)),
  );
  if (typeof made !== "string") return made;
  const characters = new Map(Array.from(units, ([pair, unit]) => [unit, pair]));
  return made.replace(PRIVATE, (unit) => characters.get(unit) ?? unit);
}

/** E_TOO_LARGE for a text that a function makes. */
export function tooLong(): Error {
  return tooLarge(
    `The query makes a text of more than ${MAX_TEXT} characters: make a shorter one, with LEFT or SUBSTRING.`,
  );
}

/** A function of values. Throws {@link Unsupported} for one that only squirreling has. */
export function functionOf(
  funcName: string,
  node: Call,
  check: (() => void) | undefined,
): (args: readonly unknown[]) => unknown {
  if (STRINGS.has(funcName)) return textFunction(funcName, node, check);
  if (funcName === "MOD") return ([a, b]) => (a == null || b == null ? null : remainder(a, b));
  if (MATH.has(funcName)) {
    return (args) => {
      const whole = comparable(args[0]);
      if (typeof whole === "bigint") {
        if (funcName === "ABS") return whole < 0n ? -whole : whole;
        if (/^(?:FLOOR|CEIL|CEILING)$/.test(funcName) || (funcName === "ROUND" && !(Number(args[1] ?? 0) < 0)))
          return whole;
      }
      const value = evaluateMathFunc({ funcName, args });
      return typeof value === "number" ? numeric(value) : value;
    };
  }
  const own = FUNCTIONS[funcName];
  if (own === undefined) throw new Unsupported(funcName);
  return own;
}

const FUNCTIONS: Partial<Record<string, (args: readonly unknown[]) => unknown>> = {
  NULLIF: ([a, b]) => (a != null && b != null && isSame(a, b) ? null : a),
  GREATEST: (args) => best(args, 1),
  LEAST: (args) => best(args, -1),
  DATE_TRUNC: ([unit, date]) => dateTrunc(unit, copied(date)),
  EXTRACT: ([field, date]) => extractField(field, date),
  DATE_PART: ([field, date]) => extractField(field, date),
  YEAR: ([date]) => extractField("YEAR", date),
  MONTH: ([date]) => extractField("MONTH", date),
  DAY: ([date]) => extractField("DAY", date),
  CURRENT_DATE: () => new Date().toISOString().slice(0, 10),
  CURRENT_TIME: () => new Date().toISOString().slice(11, -1),
  CURRENT_TIMESTAMP: () => new Date().toISOString(),
  JSON_VALUE: ([value, path]) => atPath(value, path),
  JSON_QUERY: ([value, path]) => atPath(value, path),
  JSON_EXTRACT: ([value, path]) => atPath(value, path),
  JSON_ARRAY_LENGTH: ([value]) => lengthOf(value),
  ARRAY_LENGTH: ([value, dimension]) => (dimension === undefined ? lengthOf(value) : null),
  CARDINALITY: ([value]) => lengthOf(value),
  ARRAY_POSITION: ([list, wanted]) => (Array.isArray(list) ? list.indexOf(wanted) + 1 || null : null),
};

function best(values: readonly unknown[], sign: number): unknown {
  return values.reduce((found, value) => {
    if (value == null) return found;
    return found == null || compareValues(value, found) * sign > 0 ? value : found;
  }, null);
}

/** squirreling changes a date in place. */
const copied = (date: unknown): unknown => (date instanceof Date ? new Date(date) : date);

function lengthOf(value: unknown): number | null {
  const list = typeof value === "string" ? jsonIn(value) : value;
  return Array.isArray(list) ? list.length : null;
}

/** The value at a path such as `$.items[0].name`, or NULL. */
function atPath(value: unknown, path: unknown): unknown {
  if (path == null) return null;
  const root = typeof value === "string" ? jsonIn(value) : value;
  const steps = Array.from(
    textOf(path).matchAll(/\[(\d+)\]|\["([^"]*)"\]|([^.[\]$"]+)/g),
    (step) => step[1] ?? step[2] ?? step[3],
  );
  return memberOf(root, steps as string[]);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
