import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  appendEdit,
  applyEdits,
  MAX_DEPTH,
  MAX_VALUES,
  parseJson,
  removeEdits,
  replaceEdit,
  sliceSource,
  findSpan,
  valueAt,
  wrapEdits,
  type ArrayNode,
  type ObjectNode,
  type ValueNode,
} from "../../../web/src/json/text.js";

/** JSON text of a value, spaced as generated. */
const jsonText = fc
  .tuple(fc.jsonValue(), fc.constantFrom(0, 1, "\t", " \n"))
  .map(([value, space]) => JSON.stringify(value, null, space));

function* nodesOf(node: ValueNode): Generator<ValueNode> {
  yield node;
  if (node.type === "Array") for (const { value } of node.elements) yield* nodesOf(value);
  if (node.type === "Object") for (const { value } of node.members) yield* nodesOf(value);
}

describe("parsing", () => {
  test("every node stands where its text stands", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const root = parseJson(text);
        expect(JSON.parse(sliceSource(text, root))).toEqual(JSON.parse(text));
        for (const node of nodesOf(root)) {
          const value: unknown = JSON.parse(sliceSource(text, node));
          expect("value" in node ? node.value : value).toEqual(value);
        }
      }),
    );
  });

  test("accepts what JSON.parse accepts, and nothing else", () => {
    const piece = fc.constantFrom(..."[]{},:\"\\u0a'1-.e tnull\u0001\n\ud800".split(""), "true", '"a"', "\\ud83d");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        const accepts = (read: (json: string) => unknown): boolean => {
          try {
            read(text);
            return true;
          } catch {
            return false;
          }
        };
        expect(accepts(parseJson)).toBe(accepts(JSON.parse));
      }),
      { numRuns: 2000 },
    );
  });

  test("a syntax error has a code and quotes nothing", () => {
    expect(() => parseJson('{"secret": hunter2}')).toThrow(expect.objectContaining({ code: "E_JSON_SYNTAX" }));
    expect(() => parseJson('{"secret": hunter2}')).not.toThrow(/hunter/);
  });

  test("depth is bounded, brackets in strings do not count", () => {
    expect(parseJson(nested(MAX_DEPTH)).type).toBe("Array");
    expect(() => parseJson(nested(MAX_DEPTH + 1))).toThrow(expect.objectContaining({ code: "E_JSON_DEPTH" }));
    expect(() => parseJson("[".repeat(1_000_000))).toThrow(expect.objectContaining({ code: "E_JSON_DEPTH" }));
    expect(parseJson(JSON.stringify(`\\"${"[".repeat(1000)}`)).type).toBe("String");
  });

  test("the number of values is bounded", () => {
    const text = JSON.stringify(Array.from({ length: MAX_VALUES + 1 }, () => 1));
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: "E_TOO_LARGE" }));
  });
});

describe("finding", () => {
  test("of a repeated name the last one counts, as in JSON.parse", () => {
    const root = parseJson('{"a":1,"\\u0061":2}');
    expect(valueAt(root, "a")).toMatchObject({ type: "Number", value: 2 });
  });
});

describe("editing", () => {
  test("splices apply in any order and leave the rest as it was", () => {
    const text = '{ "n" : 12345678901234567890.10 , "s":"\\u0061"}';
    const root = parseJson(text) as ObjectNode;
    const edits = [appendEdit(root, '"z":[]'), ...wrapEdits(valueAt(root, "n") as ValueNode, "<", ">")];
    const expected = '{ "n" : <12345678901234567890.10> , "s":"\\u0061","z":[]}';
    expect(applyEdits(text, edits)).toBe(expected);
    expect(applyEdits(text, edits.toReversed())).toBe(expected);
    expect(applyEdits(text, [replaceEdit(valueAt(root, "s") as ValueNode, "1")])).toContain('"s":1}');
  });

  test("edits that overlap or leave the text are refused", () => {
    const overlapping = [
      { at: 0, remove: 2, insert: "" },
      { at: 1, remove: 0, insert: "x" },
    ];
    expect(() => applyEdits("[1]", overlapping)).toThrow(expect.objectContaining({ code: "E_MISUSE" }));
    expect(() => applyEdits("[1]", [{ at: 3, remove: 1, insert: "" }])).toThrow(/within the text/);
  });

  test("something is appended to what is empty and to what is not", () => {
    for (const [text, expected] of [
      ["[ ]", "[0 ]"],
      ["[1]", "[1,0]"],
    ] as const) {
      expect(applyEdits(text, [appendEdit(parseJson(text) as ArrayNode, "0")])).toBe(expected);
    }
  });

  test("removing a name leaves JSON with all other members", () => {
    const members = fc.array(fc.tuple(fc.constantFrom("x", "a", "b"), fc.integer()), { maxLength: 6 });
    fc.assert(
      fc.property(members, fc.constantFrom("", " ", "\n\t"), (pairs, space) => {
        const text = `{${space}${pairs.map(([name, value]) => `"${name}"${space}:${value}`).join(`${space},${space}`)}${space}}`;
        const object = parseJson(text) as ObjectNode;
        const edited = applyEdits(
          text,
          removeEdits(object, (name) => name === "x"),
        );
        const left = (parseJson(edited) as ObjectNode).members.map((member) =>
          JSON.stringify(spanText(edited, member)),
        );
        const kept = object.members.filter(({ name }) => name.type === "String" && name.value !== "x");
        expect(left).toEqual(kept.map((member) => JSON.stringify(spanText(text, member))));
      }),
    );
  });
});

function nested(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

function spanText(text: string, member: Parameters<typeof findSpan>[0]): string {
  const { start, end } = findSpan(member);
  return text.slice(start, end);
}
