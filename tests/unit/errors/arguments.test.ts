/** Options with wrong names: which one was meant. */
import { describe, expect, test } from "vitest";
import { checkOptionNames, checkOptions, COUNT, FUNCTION, nearest, TEXT } from "../../../web/src/errors/arguments.js";

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

describe("options with tests", () => {
  interface Box {
    readonly label?: string;
    readonly size?: number;
    readonly open?: () => void;
  }
  const tests = { label: TEXT, size: COUNT, open: FUNCTION };
  const check = (options: object, needed: readonly (keyof Box)[] = []): void =>
    checkOptions<Box>(options, tests, "a box", (sentence, name) => new Error(`${name}: ${sentence}`), needed);

  test.each<[string, object, string]>([
    ["a label that is no text", { label: 1 }, "label: The option label of a box must be a string."],
    ["a size of nothing", { size: 0 }, "size: The option size of a box must be a whole number above 0."],
    ["half a size", { size: 1.5 }, "size: The option size of a box must be a whole number above 0."],
    ["what is no function", { open: "no" }, "open: The option open of a box must be a function."],
    ["a slip of the pen", { lable: "" }, '"lable" is not an option of a box; did you mean label?'],
  ])("refuse %s", (_, options, sentence) => {
    expect(() => check(options)).toThrow(sentence);
  });

  test("may be left out, but for those that are needed", () => {
    check({ label: "", size: 1, open: () => undefined });
    check({ label: undefined });
    expect(() => check({}, ["size"])).toThrow("The option size of a box must be");
  });
});
