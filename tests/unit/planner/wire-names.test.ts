import fc from "fast-check";
import { expect, test } from "vitest";
import { wireNames } from "../../../web/src/planner/catalog.js";

test("names that every API takes stay, and dots become underscores", () => {
  expect([...wireNames(["look-up", "weather.map"]).values()]).toEqual(["look-up", "weather_map"]);
});

test("names that would be the same are told apart, the same way in every process", () => {
  const names = ["a.b", "a_b", "a b", `${"x".repeat(70)}1`, `${"x".repeat(70)}2`];
  const wire = [...wireNames(names).values()];
  expect(wire[1]).toBe("a_b");
  expect(wire).toEqual([...wireNames(names).values()]);
});

test("whatever tools are called, each has a name of its own that APIs take", () => {
  const property = fc.property(
    fc.uniqueArray(fc.string({ minLength: 1, maxLength: 80 }), { maxLength: 60 }),
    (names) => {
      const wire = [...wireNames(names).values()];
      expect(new Set(wire).size).toBe(names.length);
      for (const name of wire) expect(name).toMatch(/^[\w-]{1,64}$/);
    },
  );
  fc.assert(property);
});
