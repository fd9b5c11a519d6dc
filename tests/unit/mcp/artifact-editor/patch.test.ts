/** JSON Patch: the results of a reference implementation, and everything else as it was written. */
import * as fc from "fast-check";
import { applyPatch, Pointer, type Operation } from "rfc6902";
import { describe, expect, test } from "vitest";
import { JsonDocument } from "../../../../web/src/mcp/artifact-editor/json-document.js";
import { edited, refusal, textAfter } from "./editing.js";

const JSON_TYPE = { mime_type: "application/json", sizes: [5] };

const patched = (text: string, ...patch: object[]): Promise<string> => textAfter(text, { patch }, JSON_TYPE);

describe("the rest keeps its spelling", () => {
  test("numbers, key order, duplicate keys, escapes and white space", async () => {
    const text = '{ "b" : 12345678901234567890.10 ,\n\t"a": "\\u00e9\\/",  "a": 1e400, "c": [1 ,2], "gone": 1 }\n';
    expect(await patched(text, { op: "remove", path: "/gone" })).toBe(text.replace(', "gone": 1', ""));
    expect(await patched(text, { op: "add", path: "/c/-", value: 3 })).toBe(text.replace("2]", "2,3]"));
    expect(await patched(text, { op: "move", from: "/b", path: "/d" })).toContain('"d": 12345678901234567890.10');
  });

  test("a byte order mark, and characters beyond the basic plane", async () => {
    const text = '\ufeff{"a":"😀","b":"😁"}';
    expect(await patched(text, { op: "replace", path: "/a", value: "😁" })).toBe('\ufeff{"a":"😁","b":"😁"}');
  });
});

describe("what is added follows its siblings", () => {
  const indented =
    '{\n  "name": "x",\n  "tags": ["a", "b"],\n  "none": [],\n  "rows": [\n    { "id": 1 },\n    { "id": 2 }\n  ]\n}\n';

  test.each([
    [{ path: "/rows/-", value: { id: 3 } }, '{ "id": 2 }\n  ]', '{ "id": 2 },\n    {"id": 3}\n  ]'],
    [{ path: "/rows/0", value: 0 }, "[\n    { ", "[\n    0,\n    { "],
    [{ path: "/tags/0", value: "z" }, '["a", "b"]', '["z", "a", "b"]'],
    [{ path: "/tags/-", value: "z" }, '["a", "b"]', '["a", "b", "z"]'],
    [{ path: "/none/-", value: 1 }, '"none": []', '"none": [\n    1\n  ]'],
    [{ path: "/more", value: [1] }, "  ]\n}", '  ],\n  "more": [\n    1\n  ]\n}'],
  ])("%j", async (operation, before, after) => {
    const text = await patched(indented, { op: "add", ...operation });
    expect(text).toBe(indented.replace(before, after));
  });

  test("compact documents stay compact", async () => {
    expect(await patched('{"a":[],"b":{}}', { op: "add", path: "/b/c", value: { d: [1] } })).toBe(
      '{"a":[],"b":{"c":{"d":[1]}}}',
    );
  });

  test("and with the line ends of the file", async () => {
    expect(await patched("[\r\n\t1\r\n]", { op: "add", path: "/-", value: { a: 1 } })).toBe(
      '[\r\n\t1,\r\n\t{\r\n\t\t"a": 1\r\n\t}\r\n]',
    );
  });
});

describe("a patch that does not fit", () => {
  const text = '{"list":[1,2],"name":"x"}';

  test.each([
    [
      { op: "remove", path: "/nam" },
      '(remove "/nam"): The document is an object of 3 members and has no "nam": read pointer ""',
    ],
    [
      { op: "replace", path: "/list/2", value: 1 },
      'has no "2": its elements are /list/0 to /list/1, and /list/- adds one.',
    ],
    [{ op: "add", path: "/list/4", value: 1 }, '"/list" is an array of 2 elements and has no "4"'],
    [{ op: "add", path: "/list/01", value: 1 }, 'has no "01"'],
    [
      { op: "add", path: "/name/x", value: 1 },
      '"/name" is a string and has no "x": read pointer "/name" with ns_artifact_read.',
    ],
    [{ op: "test", path: "/name", value: "y" }, "The value there is another one: read the value, then send a patch"],
    [{ op: "remove", path: "" }, "The whole document cannot be removed"],
    [{ op: "move", from: "/list", path: "/list/0" }, '"/list" cannot be moved into itself'],
  ])("%j", async (operation, said) => {
    const words = await refusal(text, { patch: [{ op: "add", path: "/n", value: 1 }, operation] }, JSON_TYPE);
    expect(words).toContain("patch[1]");
    expect(words).toContain(said);
  });

  test.each([
    [[], "patch is empty"],
    [[{ op: "put", path: "" }], "patch[0].op must be add, remove"],
    [[{ op: "add", path: "/a" }], "patch[0] (add) has no value"],
    [[{ op: "add", path: "a", value: 1 }], 'does not start with "/"'],
    [[{ op: "remove", path: "/~2" }], 'has a "~"'],
    [[{ op: "copy", path: "/a" }], "patch[0].from must be a JSON Pointer"],
    [[1], "patch[0] must be an object"],
    ["{", "patch must be an array"],
    [Array.from({ length: 10_001 }, () => ({ op: "remove", path: "/a" })), "more than 10000 entries"],
    [[{ op: "add", path: "/a", value: 2 ** 60 }], "integer of more than 15 digits"],
  ])("or that is none", async (patch, said) => {
    expect(await refusal(text, { patch }, JSON_TYPE)).toContain(said);
  });

  test("is told where the document is no JSON, or no document of one", async () => {
    const patch = [{ op: "add", path: "/a", value: 1 }];
    expect(await refusal('{"a": 1,\n x', { patch }, JSON_TYPE)).toMatch(/not JSON/);
    expect(await refusal("a,b\n1,2\n", { patch }, { mime_type: "text/csv" })).toContain("use cells, add_rows");
    expect(await refusal("words", { patch }, { mime_type: "text/plain" })).toContain("use old_string");
    expect(
      await refusal(`{"a":"${"x".repeat(16 * 1024 * 1024)}"}`, { patch }, { ...JSON_TYPE, sizes: [65_536] }),
    ).toContain("larger than 16.0 MB");
    const deep = "[".repeat(500) + "]".repeat(500);
    expect(await refusal(deep, { patch }, JSON_TYPE)).toContain("nests too deep");
  });
});

test("an operation may be on what an earlier one made, and __proto__ is a name like others", async () => {
  const text = await patched(
    '{"__proto__":{"a":1},"constructor":2}',
    { op: "test", path: "/__proto__", value: JSON.parse('{"a":1}') as unknown },
    { op: "add", path: "/__proto__/b", value: [] },
    { op: "add", path: "/__proto__/b/0", value: JSON.parse('{"__proto__":null}') as unknown },
    { op: "copy", from: "/__proto__/b", path: "/toString" },
    { op: "replace", path: "/toString/0/__proto__", value: true },
    { op: "remove", path: "/constructor" },
  );
  expect(text).toBe('{"__proto__":{"a":1,"b":[{"__proto__":null}]},"toString":[{"__proto__":true}]}');
  expect({}).not.toHaveProperty("b");
});

test("all members of a duplicate name go", async () => {
  expect(await patched('{"a":1,"b":2,"a":3}', { op: "remove", path: "/a" })).toBe('{"b":2}');
});

test("a patch that changes nothing makes no artifact", async () => {
  const { ref, words } = await edited('{"a": 1}', { patch: [{ op: "test", path: "/a", value: 1 }] }, JSON_TYPE);
  expect(ref).toBeUndefined();
  expect(words).toContain("the result would be the same");
});

test("ten thousand operations, and copies that double, end in time", async () => {
  const list = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => at));
  const many = Array.from({ length: 10_000 }, (_, at) => ({
    op: at % 2 === 0 ? "add" : "remove",
    path: "/7",
    value: at,
  }));
  const { words } = await edited(list, { patch: many }, { ...JSON_TYPE, sizes: [4096] });
  expect(words).toContain("Nothing was changed");
  const doubling = Array.from({ length: 100 }, (_, at) => ({ op: "copy", from: "", path: `/c${at}` }));
  expect(await refusal('{"a":"aaaaaaaaaa"}', { patch: doubling }, JSON_TYPE)).toContain("copies add more than 64 MiB");
});

const name = fc.constantFrom("a", "b", "a/b", "m~n", "", "__proto__", "0");
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(null, true, 0, -1.5, "x", "é", ""),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(
      name.filter((each) => each !== "__proto__"),
      tie("any"),
      { maxKeys: 3 },
    ),
  ),
})).any;
const path = fc
  .array(
    fc.oneof(
      name.filter((each) => each !== "__proto__"),
      fc.constantFrom("1", "2", "-"),
    ),
    { maxLength: 3 },
  )
  .map((tokens) => tokens.map((each) => `/${each.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""));
const operation = fc.oneof(
  fc.record({ op: fc.constantFrom("add", "replace", "test"), path, value }),
  fc.record({ op: fc.constant("remove"), path }),
  fc.record({ op: fc.constantFrom("move", "copy"), from: path, path }),
);

test("the result is that of a reference implementation, however the document is laid out", () => {
  const layout = fc.constantFrom(undefined, 2, "\t");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(value),
        fc.dictionary(
          name.filter((each) => each !== "__proto__"),
          value,
        ),
      ),
      fc.array(operation, { maxLength: 5 }),
      layout,
      (start, operations, indent) => {
        const reference = { document: JSON.parse(JSON.stringify(start)) as unknown };
        const document = new JsonDocument(JSON.stringify(start, null, indent), "artifact_read");
        for (const each of operations) {
          // The reference takes any place in a moved value, removes the whole document, and gives arrays members.
          const isInside = "from" in each && `${each.path}/`.startsWith(`${each.from}/`);
          const pointers = "from" in each ? [each.from, each.path] : [each.path];
          if (each.path === "" || isInside || pointers.some((to) => namesMember(reference.document, to))) continue;
          const before = JSON.stringify(reference.document);
          const isRefused = refusedByReference(reference.document, each);
          expect([run(document, each as never), before, each]).toEqual([isRefused, before, each]);
          if (isRefused) return;
          expect(JSON.parse(document.text())).toEqual(reference.document);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

interface Written {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: unknown;
}

/** Whether a pointer names something in an array that is no element: "-" too, which the tests above have. */
function namesMember(document: unknown, pointer: string): boolean {
  let at = document;
  const tokens = pointer.split("/").slice(1);
  for (const token of tokens) {
    if (typeof at !== "object" || at === null) return false;
    if (Array.isArray(at) && !/^\d+$/.test(token)) return true;
    at = (at as Readonly<Record<string, unknown>>)[token.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return false;
}

/**
 * Whether the reference refuses an operation. It throws where the place is in a scalar. Moves and copies are made of others, as
 * RFC 6902 defines them, because it checks no bounds there.
 */
function refusedByReference(document: unknown, given: { readonly op: string; readonly path: string }): boolean {
  const { op, from, path: to, value: own } = JSON.parse(JSON.stringify(given)) as Written;
  const moved = op === "move" || op === "copy" ? Pointer.fromJSON(from).evaluate(document).value : own;
  if (moved === undefined && op !== "remove") return true;
  const steps: object[] = op === "move" ? [{ op: "remove", path: from }] : [];
  const last = op === "move" || op === "copy" ? "add" : op;
  steps.push({ op: last, path: to, value: structuredClone(moved) });
  try {
    return steps.some((step) => applyPatch(document, [step as Operation])[0] !== null);
  } catch {
    return true;
  }
}

/** Whether an operation fails. */
function run(document: JsonDocument, { op, path: to, from, value: given }: Written): boolean {
  const tokens = (pointer: string): string[] =>
    pointer
      .split("/")
      .slice(1)
      .map((each) => each.replaceAll("~1", "/").replaceAll("~0", "~"));
  try {
    if (op === "add") document.add(tokens(to), given);
    if (op === "replace") document.replace(tokens(to), given);
    if (op === "remove") document.remove(tokens(to));
    if (op === "move") document.move(tokens(from), tokens(to));
    if (op === "copy") document.copy(tokens(from), tokens(to));
    return op === "test" && !document.equals(tokens(to), given);
  } catch {
    return true;
  }
}
