/** Options with wrong names: which one was meant. */
import { describe, expect, test } from "vitest";
import { checkOptionNames, nearest } from "../../../web/src/errors/arguments.js";

describe("nearest", () => {
  test.each([
    ["transfrom", "transform"],
    ["t", undefined],
    ["trans", "transform"],
    ["sniif", "sniff"],
    ["restroe", "restore"],
    ["completely", undefined],
  ])("%s means %s", (word, meant) => {
    expect(nearest(word, ["transform", "restore", "artifacts", "sniff"])).toBe(meant);
  });

  test("a replaced letter is one edit, and two removed ones are two", () => {
    expect(nearest("zbcdef", ["bcde", "zbcdex"])).toBe("zbcdex");
  });
});

describe("an unknown option", () => {
  const check = (options: object): unknown => checkOptionNames(options as { store?: string }, "a box", ["store"]);

  test("is named whole, with the one that was meant", () => {
    expect(() => check({ stoer: 1 })).toThrow('"stoer" is not an option of a box; did you mean store?');
    expect(() => check({ lid: 1 })).toThrow('"lid" is not an option of a box; the options are store.');
  });

  test("is named in part if it is long", () => {
    expect(() => check({ ["x".repeat(5000)]: 1 })).toThrow(/^"x{10,200}" is not/);
  });

  test("is none where all are known", () => {
    expect(check({ store: "memory" })).toEqual({ store: "memory" });
    expect(() => check("memory" as never)).toThrow("The options of a box must be an object.");
  });
});
