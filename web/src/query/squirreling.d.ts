/** Functions of SQL as squirreling computes them, which it has no types for. They are synchronous. */
declare module "squirreling/src/expression/strings.js" {
  export function evaluateStringFunc(call: {
    readonly funcName: string;
    readonly node: object;
    readonly args: readonly unknown[];
  }): unknown;
}

declare module "squirreling/src/expression/math.js" {
  export function evaluateMathFunc(call: { readonly funcName: string; readonly args: readonly unknown[] }): unknown;
}

declare module "squirreling/src/expression/date.js" {
  export function applyIntervalToDate(date: unknown, value: number, unit: string, op: "+" | "-"): unknown;
  export function dateTrunc(precision: unknown, date: unknown): unknown;
  export function extractField(field: unknown, date: unknown): unknown;
}
