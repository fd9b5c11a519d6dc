/**
 * Functions that squirreling calls in place of its own: those of the answers that stream, exact and within bounds.
 * @module
 */
import type { ExprNode, SqlPrimitive, Statement } from "squirreling";
import { accumulatorFor } from "./aggregate.js";
import { castValue, functionOf, isTrue, MATH, memberOf, OPERATORS, STRINGS } from "./expression.js";
import type { Limits } from "./limits.js";
import { AGGREGATES, expressionsOf, statementsIn, walk, wrongQuery } from "./statement.js";
import { comparable, fitting, keyOf, likeTest, MAX_PATTERN, numberIn, textOf } from "./values.js";

interface OwnFunction {
  readonly apply: (...args: unknown[]) => never;
  readonly arguments: { readonly min: number; readonly max: number };
}

/** Scalar functions that are ours. */
const SCALARS: ReadonlySet<string> = new Set([...STRINGS, ...MATH, "NULLIF", "GREATEST", "LEAST"]);

/** Operators that are ours. Equality stays the engine's, which joins by it. */
const NAMES_OF_OPERATORS: Readonly<Record<string, string>> = {
  "<": "IS_LESS",
  "<=": "IS_AT_MOST",
  ">": "IS_MORE",
  ">=": "IS_AT_LEAST",
  "+": "PLUS",
  "-": "MINUS",
  "*": "TIMES",
  "/": "DIVIDED",
  "%": "REMAINDER",
};

/** The functions of one query. */
export class EngineFunctions {
  readonly #all: Record<string, OwnFunction> = {};
  readonly #limits: Limits;
  readonly #sets: Members[] = [];

  constructor(limits: Limits) {
    this.#limits = limits;
    const check = (): void => limits.check();
    const isPattern = (text: unknown, pattern: unknown): boolean | null => {
      if (text == null || pattern == null) return null;
      if (textOf(pattern).length > MAX_PATTERN) {
        throw wrongQuery(`A pattern of LIKE has more than ${MAX_PATTERN} characters.`);
      }
      return likeTest(textOf(pattern), check)(textOf(text));
    };
    this.#add("IS_LIKE", ([text, pattern]) => isPattern(text, pattern) === true);
    this.#add("IS_NOT_LIKE", ([text, pattern]) => isPattern(text, pattern) === false);
    this.#add("IS_TRUE", ([value]) => isTrue(value));
    this.#add("IS_KNOWN_FALSE", ([value]) => value != null && !isTrue(value));
    this.#add("SORT_KEY", ([value]) => comparable(value));
    this.#add("GROUP_KEY", (values) => keyOf(values));
    this.#add("MEMBER_OF", ([value, ...path]) => memberOf(value, path as string[]));
    this.#add("CAST_TO", ([value, type]) => castValue(value, textOf(type)));
    this.#add("IS_IN", ([value, set]) => this.#sets[Number(set)]?.has(value) ?? null);
    for (const [operator, name] of Object.entries(NAMES_OF_OPERATORS)) {
      const compute = OPERATORS[operator];
      this.#add(name, ([a, b]) => (a == null || b == null ? null : compute?.(a, b)));
      this.#add(`IF_${name}`, ([a, b]) => a != null && b != null && compute?.(a, b) === true);
    }
    for (const name of SCALARS) {
      const node: ExprNode = { type: "function", funcName: name, args: [], positionStart: 0, positionEnd: 0 };
      this.#add(`OF_${name}`, functionOf(name, node, check));
    }
    for (const name of AGGREGATES) {
      this.#add(`ALL_${name}`, ([values, setting]) => {
        const accumulator = accumulatorFor(name, setting, limits)();
        for (const value of values as unknown[]) accumulator.add(value);
        return accumulator.result();
      });
    }
  }

  /** Those that a statement calls, as the engine takes them: it looks through all that it is given for each call. */
  within(statement: Statement): Record<string, OwnFunction> {
    const found: Record<string, OwnFunction> = {};
    const visit = (inner: Statement): void => {
      const sorted = inner.type === "compound" ? inner.orderBy.map(({ expr }) => expr) : [];
      for (const expression of inner.type === "select" ? expressionsOf(inner) : sorted) {
        walk(expression, (node) => {
          const own = node.type === "function" ? this.#all[node.funcName] : undefined;
          if (own !== undefined && node.type === "function") found[node.funcName] = own;
        });
      }
      for (const each of statementsIn(inner)) visit(each);
    };
    visit(statement);
    return found;
  }

  /** The name of a scalar function that is ours. */
  scalar(name: string): string | undefined {
    return SCALARS.has(name) ? `OF_${name}` : undefined;
  }

  /** The name of an aggregate that is ours: of an array, and of a fraction or separator. */
  aggregate(name: string): string | undefined {
    const isEngines = name === "COUNT" || name === "ARRAY_AGG" || name === "JSON_ARRAYAGG";
    return AGGREGATES.has(name) && !isEngines ? `ALL_${name}` : undefined;
  }

  /** The name of the function for an operator. */
  operator(operator: string): string | undefined {
    return Object.hasOwn(NAMES_OF_OPERATORS, operator) ? NAMES_OF_OPERATORS[operator] : undefined;
  }

  /** Keeps the values of a subquery for IS_IN, and gives their number. */
  addSet(values: readonly unknown[]): number {
    return this.#sets.push(new Members(this.#limits.keep(values))) - 1;
  }

  #add(name: string, compute: (args: readonly unknown[]) => unknown): void {
    const limits = this.#limits;
    // The engine computes many rows at once, and waits for each.
    const later = async (args: readonly unknown[]): Promise<unknown> => {
      await limits.pause();
      return compute(args);
    };
    this.#all[name] = {
      apply: (...args) => (limits.isLong ? later(args) : compute(args)) as never,
      arguments: { min: 0, max: 1000 },
    };
  }
}

/** The values of a subquery, equal as in `a = b`: a text and a number are alike if they are the same number. */
class Members {
  readonly #exact = new Set<unknown>();
  /** Numbers, and numbers in texts. */
  readonly #numbers = new Set<unknown>();
  readonly #inTexts = new Set<unknown>();
  readonly #hasNull: boolean;
  readonly #isEmpty: boolean;

  constructor(values: readonly unknown[]) {
    this.#isEmpty = values.length === 0;
    this.#hasNull = values.some((value) => value == null);
    for (const value of values) {
      if (value == null) continue;
      this.#exact.add(exactKey(value));
      (typeof value === "string" ? this.#inTexts : this.#numbers).add(numberKey(value));
    }
    this.#inTexts.delete(undefined);
    this.#numbers.delete(undefined);
  }

  /** Whether a value is among them. NULL is unknown. */
  has(value: unknown): boolean | null {
    if (this.#isEmpty) return false;
    if (value == null) return null;
    if (this.#exact.has(exactKey(value))) return true;
    const number = numberKey(value);
    if ((typeof value === "string" ? this.#numbers : this.#inTexts).has(number)) return true;
    return this.#hasNull ? null : false;
  }
}

function exactKey(value: unknown): unknown {
  if (typeof value === "string") return `=${value}`;
  return typeof value === "object" ? keyOf([value]) : numberKey(value);
}

function numberKey(value: unknown): number | bigint | undefined {
  const number = numberIn(value);
  return typeof number === "bigint" ? fitting(number, (whole) => whole) : number;
}

/** A value as a literal of a query. */
export function literalOf(value: unknown, { positionStart, positionEnd }: ExprNode): ExprNode {
  return { type: "literal", value: value as SqlPrimitive, positionStart, positionEnd };
}
