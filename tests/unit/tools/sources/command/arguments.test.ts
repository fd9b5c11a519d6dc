/** Arguments in commands: a value is a word, and nothing else. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillWords, type Values } from "../../../../../web/src/tools/sources/command/source.js";
import { wordsOf } from "../../../../../web/src/tools/sources/command/tools.js";

const values = (args: Record<string, unknown>, more: Partial<Values> = {}): Values => ({
  args,
  schema: {},
  outputs: [],
  fill: (text) => text,
  subject: "It",
  ...more,
});
const placed = (command: string, args: Record<string, unknown>, more?: Partial<Values>): readonly string[] =>
  fillWords(wordsOf(command, "It"), "placeholders", values(args, more));
const flagged = (args: Record<string, unknown>): readonly string[] => {
  const property = { type: "string" };
  const schema = { properties: { name: property, all: property, file: property } };
  return fillWords(["tool"], "flags", values(args, { schema }));
};

const withKey = (text: string): string => text.replaceAll("${KEY}", "secret");

describe("in place of placeholders", () => {
  test("any text is one word, whatever is in it", () => {
    const text = fc.string({ unit: "binary" }).filter((word) => !word.startsWith("-") && !word.includes("\0"));
    fc.assert(
      fc.property(text, (a) => {
        expect(placed("tool UTCP_ARG_a_UTCP_END x", { a })).toEqual(["tool", a, "x"]);
        expect(placed("tool '--a=UTCP_ARG_a_UTCP_END y'", { a })).toEqual(["tool", `--a=${a} y`]);
      }),
    );
  });

  test("numbers, booleans, objects and lists", () => {
    expect(placed("t UTCP_ARG_a_UTCP_END", { a: -5 })).toEqual(["t", "-5"]);
    expect(placed("t UTCP_ARG_a_UTCP_END", { a: true })).toEqual(["t", "true"]);
    expect(placed("t UTCP_ARG_a_UTCP_END", { a: { b: 1 } })).toEqual(["t", '{"b":1}']);
    expect(placed("t UTCP_ARG_a_UTCP_END z", { a: ["x y", 2] })).toEqual(["t", "x y", "2", "z"]);
    expect(placed("t UTCP_ARG_a_UTCP_END", { a: [] })).toEqual(["t"]);
    expect(placed("t a=UTCP_ARG_a_UTCP_END", { a: ["x", 2] })).toEqual(["t", 'a=["x",2]']);
  });

  test("what begins like an option is refused, unless the command says that none follow", () => {
    for (const a of ["-rf", "--output=/etc/passwd", "-"]) {
      for (const command of ["t UTCP_ARG_a_UTCP_END", "t UTCP_ARG_a_UTCP_END.txt"]) {
        expect(() => placed(command, { a })).toThrow(expect.objectContaining({ code: "E_TOOL_CLIENT" }) as Error);
      }
      expect(placed("t -- UTCP_ARG_a_UTCP_END", { a })).toEqual(["t", "--", a]);
      expect(placed("t --file=UTCP_ARG_a_UTCP_END", { a })).toEqual(["t", `--file=${a}`]);
    }
    expect(() => placed("t UTCP_ARG_a_UTCP_END", { a: ["x", "-y"] })).toThrow("begins with");
    expect(() => placed("t $CMD_0_OUTPUT", {}, { outputs: ["-x"] })).toThrow("begins with");
  });

  test("a default stands for what is missing; without one it is named", () => {
    const schema = { properties: { a: { default: 7 } } };
    expect(placed("t UTCP_ARG_a_UTCP_END", {}, { schema })).toEqual(["t", "7"]);
    expect(placed("t UTCP_ARG_a_UTCP_END", { a: null }, { schema })).toEqual(["t", "7"]);
    expect(() => placed("t UTCP_ARG_a_UTCP_END", {})).toThrow('needs the argument "a"');
    expect(() => placed("t UTCP_ARG_constructor_UTCP_END", {})).toThrow("needs the argument");
  });

  test("a value is not looked at again", () => {
    const args = { a: "${KEY} UTCP_ARG_b_UTCP_END $CMD_0_OUTPUT", b: "b" };
    expect(placed("t x=${KEY},UTCP_ARG_a_UTCP_END", args, { fill: withKey })).toEqual(["t", `x=secret,${args.a}`]);
  });

  test("what no command takes is refused before it is tried", () => {
    for (const a of [
      "a\0b",
      "x".repeat(131_072),
      "ü".repeat(70_000),
      Array.from({ length: 11 }, () => "x".repeat(100_000)),
    ]) {
      expect(() => placed("t UTCP_ARG_a_UTCP_END", { a })).toThrow(
        expect.objectContaining({ code: "E_TOOL_CLIENT" }) as Error,
      );
    }
  });
});

describe("as options", () => {
  test("a name and a value, a name alone for true, once for each item", () => {
    expect(flagged({ name: "a b", all: true })).toEqual(["tool", "--name", "a b", "--all"]);
    expect(flagged({ name: ["a", 1], all: false, file: null })).toEqual(["tool", "--name", "a", "--name", "1"]);
  });

  test("a value that begins like an option stays with its name", () => {
    expect(flagged({ file: "-rf" })).toEqual(["tool", "--file=-rf"]);
  });

  test("only names of the schema", () => {
    for (const args of [{ exec: "rm" }, { "name=x --all": 1 }, { __proto__: null, toString: "x" }]) {
      expect(() => flagged(args)).toThrow("takes no argument");
    }
  });
});

describe("commands", () => {
  test("are split once, quotes keep together, a backslash is itself", () => {
    expect(wordsOf(String.raw`a "b c" 'd "e' C:\x --f="g h"`, "It")).toEqual([
      "a",
      "b c",
      'd "e',
      String.raw`C:\x`,
      "--f=g h",
    ]);
  });

  test.each([
    "ls | wc",
    "a && b",
    "a ; b",
    "a > f",
    "a 2>&1",
    "a << b",
    "echo $(id)",
    "UTCP_ARG_a_UTCP_END x",
    "./UTCP_ARG_a_UTCP_END",
    "sh -c UTCP_ARG_a_UTCP_END",
    'bash -lc "echo UTCP_ARG_a_UTCP_END"',
    "/usr/bin/env bash -c 'x $CMD_0_OUTPUT'",
    "python3 -c print(UTCP_ARG_a_UTCP_END)",
    "node --eval UTCP_ARG_a_UTCP_END",
    "powershell.exe -Command UTCP_ARG_a_UTCP_END",
    "awk UTCP_ARG_a_UTCP_END file",
    "perl -pe s/a/UTCP_ARG_a_UTCP_END/",
  ])("%s needs a shell or runs a value, and is refused", (command) => {
    expect(() => wordsOf(command, "It")).toThrow(expect.objectContaining({ code: "E_TOOL_UNSUPPORTED" }) as Error);
  });

  test.each(["", "  ", 'a "b', "a 'b", "a\0b", "x ".repeat(1_001)])("%j is none", (command) => {
    expect(() => wordsOf(command, "It")).toThrow(expect.objectContaining({ code: "E_TOOL_CONFIG" }) as Error);
  });

  test.each([
    "bash script.sh UTCP_ARG_a_UTCP_END",
    "git log -c UTCP_ARG_a_UTCP_END",
    "node tool.mjs --file UTCP_ARG_a_UTCP_END",
    "awk -f prog.awk UTCP_ARG_a_UTCP_END",
  ])("%s is one", (command) => {
    expect(wordsOf(command, "It").length).toBeGreaterThan(2);
  });
});
