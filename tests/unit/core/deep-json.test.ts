import fc from "fast-check";
import { expect, test } from "vitest";
import { stringifyDeep } from "../../../web/src/core/value.js";

const LEVELS = 50_000;

/** So deep that `JSON.stringify` gives up. */
const deep = (inner: unknown): unknown => {
  let value = inner;
  for (let level = 0; level < LEVELS; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

const before = '{"a":['.repeat(LEVELS / 2);
const after = "]}".repeat(LEVELS / 2);

test("deep values are written as shallow ones are", () => {
  expect(() => JSON.stringify(deep(1))).toThrow(RangeError);
  fc.assert(
    fc.property(fc.anything({ withDate: true, withBoxedValues: true, withNullPrototype: true }), (value) => {
      const text = JSON.stringify([value]).slice(1, -1);
      expect(stringifyDeep(value)).toBe(JSON.stringify(value));
      expect(stringifyDeep(deep(value)) === before + text + after).toBe(true);
    }),
    { numRuns: 30 },
  );
  const odd = { toJSON: (key: string) => ({ key }), a: undefined };
  expect(stringifyDeep(deep([odd, () => 1, Symbol("s"), { b: undefined, c: odd }]))).toBe(
    `${before}[{"key":"0"},null,null,{"c":{"key":"c"}}]${after}`,
  );
});

test("what JSON cannot say is refused at any depth", () => {
  const cycle: unknown[] = [];
  cycle.push(deep(cycle));
  expect(() => stringifyDeep(cycle)).toThrow(TypeError);
  expect(() => stringifyDeep(deep(1n))).toThrow(TypeError);
  expect(stringifyDeep(undefined)).toBeUndefined();
});
