/**
 * Aggregates of a group, one value at a time: COUNT, SUM, AVG, MIN, MAX and the others.
 * @module
 */
import type { ExprNode } from "squirreling";
import { compile, isTrue, MAX_TEXT, tooLong, type CompileOptions, type Evaluator } from "./expression.js";
import type { Limits } from "./limits.js";
import type { Cells } from "./types.js";
import { wrongQuery } from "./statement.js";
import { compareValues, fitting, keyOf, numberIn, owned, textOf } from "./values.js";

/** The aggregate of one group so far. */
export interface Accumulator {
  /** Adds a value. NULL is among them. */
  add(value: unknown): void;
  /** The aggregate. */
  result(): unknown;
}

/** An aggregate of a query: starts anew for each group. */
export class Aggregate {
  readonly #create: () => Accumulator;
  readonly #argument: Evaluator;
  readonly #filter: Evaluator | undefined;

  /** `options` have no aggregates: these do not nest. */
  constructor(node: Extract<ExprNode, { type: "function" }>, options: CompileOptions, limits: Limits) {
    const name = node.funcName.toUpperCase();
    // PERCENTILE_CONT has the value behind the fraction.
    const [first, second] = name === "PERCENTILE_CONT" ? node.args.toReversed() : node.args;
    if (first === undefined) throw wrongQuery(`${name} needs an argument.`);
    this.#argument = first.type === "star" ? () => 1 : compile(first, options);
    this.#filter = node.filter && compile(node.filter, options);
    // What does not depend on the row: a fraction or a separator.
    const setting = second && compile(second, options)([], []);
    const create = accumulatorFor(name, setting, limits);
    this.#create = node.distinct === true ? () => new Distinct(create(), limits) : create;
  }

  /** A new group's accumulator. */
  create(): Accumulator {
    return this.#create();
  }

  /** Adds a row to a group. */
  add(to: Accumulator, row: Cells): void {
    if (this.#filter !== undefined && !isTrue(this.#filter(row, []))) return;
    to.add(this.#argument(row, []));
  }
}

/** What starts an aggregate anew. `setting` is its fraction or separator. Throws E_INVALID_ARGUMENT. */
export function accumulatorFor(name: string, setting: unknown, limits: Limits): () => Accumulator {
  switch (name) {
    case "COUNT":
      return () => new Count();
    case "SUM":
    case "TOTAL":
    case "AVG":
      return () => new Sum(name);
    case "MIN":
      return () => new Extreme(-1);
    case "MAX":
      return () => new Extreme(1);
    case "STDDEV_SAMP":
    case "STDDEV_POP":
      return () => new Deviation(name === "STDDEV_SAMP" ? 1 : 0);
    case "MEDIAN":
      return () => new Quantile(0.5, limits);
    case "PERCENTILE_CONT":
    case "APPROX_QUANTILE": {
      const fraction = Number(setting);
      if (!(fraction >= 0 && fraction <= 1)) throw wrongQuery(`The fraction of ${name} must be between 0 and 1.`);
      return () => new Quantile(fraction, limits);
    }
    case "STRING_AGG":
      return () => new List(limits, textOf(setting ?? ""));
    case "GROUP_CONCAT":
    case "LISTAGG":
      return () => new List(limits, textOf(setting ?? ","));
    default:
      return () => new List(limits, undefined);
  }
}

class Count implements Accumulator {
  #count = 0;

  add(value: unknown): void {
    if (value != null) this.#count += 1;
  }

  result(): number {
    return this.#count;
  }
}

/** Adds whole numbers exactly, whatever their size, and others with compensation (Neumaier). */
class Sum implements Accumulator {
  readonly #name: "SUM" | "TOTAL" | "AVG";
  #count = 0;
  #whole = 0;
  #large = 0n;
  #hasFraction = false;
  #fraction = 0;
  #lost = 0;

  constructor(name: "SUM" | "TOTAL" | "AVG") {
    this.#name = name;
  }

  add(value: unknown): void {
    const number = typeof value === "number" ? value : numberIn(value);
    if (number === undefined) return;
    if (typeof number === "bigint") this.#large += number;
    else if (Number.isSafeInteger(number)) this.#addWhole(number);
    else if (Number.isFinite(number)) this.#addFraction(number);
    else return;
    this.#count += 1;
  }

  #addWhole(number: number): void {
    const sum = this.#whole + number;
    if (Number.isSafeInteger(sum)) this.#whole = sum;
    else {
      this.#large += BigInt(this.#whole) + BigInt(number);
      this.#whole = 0;
    }
  }

  #addFraction(number: number): void {
    this.#hasFraction = true;
    const sum = this.#fraction + number;
    this.#lost +=
      Math.abs(this.#fraction) >= Math.abs(number) ? this.#fraction - sum + number : number - sum + this.#fraction;
    this.#fraction = sum;
  }

  result(): unknown {
    if (this.#count === 0) return this.#name === "TOTAL" ? 0 : null;
    const whole = this.#large + BigInt(this.#whole);
    const isExact = !this.#hasFraction;
    if (this.#name === "AVG") return (Number(whole) + this.#fraction + this.#lost) / this.#count;
    return isExact ? fitting(whole, (value) => value) : Number(whole) + this.#fraction + this.#lost;
  }
}

/** The least or the greatest value. */
class Extreme implements Accumulator {
  readonly #sign: 1 | -1;
  #value: unknown = null;

  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }

  add(value: unknown): void {
    if (value == null) return;
    if (this.#value === null || compareValues(value, this.#value) * this.#sign > 0) this.#value = owned(value);
  }

  result(): unknown {
    return this.#value;
  }
}

/** The standard deviation (Welford). */
class Deviation implements Accumulator {
  readonly #missing: 0 | 1;
  #count = 0;
  #mean = 0;
  #squares = 0;

  /** `missing` is 1 for that of a sample. */
  constructor(missing: 0 | 1) {
    this.#missing = missing;
  }

  add(value: unknown): void {
    const found = numberIn(value);
    if (found === undefined) return;
    const number = Number(found);
    this.#count += 1;
    const delta = number - this.#mean;
    this.#mean += delta / this.#count;
    this.#squares += delta * (number - this.#mean);
  }

  result(): number | null {
    return this.#count <= this.#missing ? null : Math.sqrt(this.#squares / (this.#count - this.#missing));
  }
}

/** A quantile between the two nearest values. Keeps the numbers. */
class Quantile implements Accumulator {
  readonly #fraction: number;
  readonly #limits: Limits;
  readonly #numbers: number[] = [];

  constructor(fraction: number, limits: Limits) {
    this.#fraction = fraction;
    this.#limits = limits;
  }

  add(value: unknown): void {
    const number = numberIn(value);
    if (number === undefined) return;
    this.#limits.keep([]);
    this.#numbers.push(Number(number));
  }

  result(): number | null {
    const sorted = Float64Array.from(this.#numbers).sort();
    if (sorted.length === 0) return null;
    const at = this.#fraction * (sorted.length - 1);
    const lower = sorted[Math.floor(at)] as number;
    const upper = sorted[Math.ceil(at)] as number;
    return lower + (upper - lower) * (at - Math.floor(at));
  }
}

/** All values: an array, or a text with a separator, in which NULL is left out. */
class List implements Accumulator {
  readonly #limits: Limits;
  readonly #separator: string | undefined;
  readonly #values: unknown[] = [];
  /** Characters of the text so far. */
  #length = 0;

  constructor(limits: Limits, separator: string | undefined) {
    this.#limits = limits;
    this.#separator = separator;
  }

  add(value: unknown): void {
    if (this.#separator === undefined) {
      this.#values.push(...this.#limits.keep([value]));
      return;
    }
    if (value == null) return;
    const text = textOf(value);
    this.#length += text.length + this.#separator.length;
    if (this.#length > MAX_TEXT) throw tooLong();
    this.#values.push(...this.#limits.keep([text]));
  }

  result(): unknown {
    if (this.#separator === undefined) return this.#values;
    return this.#values.length === 0 ? null : this.#values.join(this.#separator);
  }
}

/** Hands on each value once. Keeps the values. */
class Distinct implements Accumulator {
  readonly #inner: Accumulator;
  readonly #limits: Limits;
  readonly #seen = new Set<unknown>();

  constructor(inner: Accumulator, limits: Limits) {
    this.#inner = inner;
    this.#limits = limits;
  }

  add(value: unknown): void {
    const key = keyOf([value]);
    if (this.#seen.has(key)) return;
    this.#seen.add(this.#limits.keep([key])[0]);
    this.#inner.add(value);
  }

  result(): unknown {
    return this.#inner.result();
  }
}
