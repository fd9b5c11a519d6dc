/** Fields of a form for schemas as servers have them, and what may be written into them. */
import { describe, expect, test } from "vitest";
import {
  countProblem,
  type Field,
  listFields,
  toFieldText,
  parseField,
} from "../../../web/playground/app/call/schema.js";

function field(schema: object, required = false): Field {
  const [only] = listFields({ type: "object", properties: { it: schema }, required: required ? ["it"] : [] });
  if (only === undefined) throw new Error("It has no field.");
  return only;
}

function read(schema: object, text: string, required = true): unknown {
  const got = parseField(field(schema, required), text);
  return got.ok ? got.value : got.problem;
}

describe("kinds", () => {
  test.each([
    [{ type: "string" }, "string"],
    [{ type: ["integer", "null"] }, "integer"],
    [{ anyOf: [{ type: "number" }, { type: "null" }] }, "number"],
    [{ enum: [1, 2] }, "enum"],
    [{ oneOf: [{ const: "a", title: "A" }, { const: "b" }] }, "enum"],
    [{ const: 3 }, "const"],
    [{ type: "object", properties: { a: {} } }, "object"],
    [{ type: "object" }, "json"],
    [{}, "json"],
    [{ type: "array", items: { type: "object", properties: { a: { type: "string" } } } }, "list"],
    [{ type: "array", items: { type: "string", enum: ["a"] } }, "several"],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "either"],
    [{ allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "string" } } }] }, "object"],
  ])("%j is a field of kind %s", (schema, kind) => expect(field(schema).kind).toBe(kind));

  test("references are followed, also into themselves, and end as JSON", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
    let [at] = listFields({ properties: { node: { $ref: "#/$defs/node" } }, $defs: { node } });
    for (let depth = 0; at?.kind === "object" && depth < 20; depth += 1) [at] = at.fields;
    expect(at?.kind).toBe("json");
  });

  test("alternatives are named by their title or by the constant that tells them apart", () => {
    const made = field({
      oneOf: [
        { title: "Nothing", type: "object", properties: { a: { type: "string" } } },
        { type: "object", properties: { kind: { const: "circle" }, radius: { type: "number" } }, required: ["kind"] },
      ],
    });
    expect(made.fields.map(({ title }) => title)).toEqual(["Nothing", "kind: circle"]);
  });
});

describe("values", () => {
  test.each([
    [{ type: "integer", minimum: 2 }, "1", "it must be at least 2."],
    [{ type: "integer" }, "1.5", "it must be a whole number."],
    [{ type: "number", exclusiveMaximum: 1 }, "1", "it must be less than 1."],
    [{ type: "number", multipleOf: 0.1 }, "0.3", 0.3],
    [{ type: "string", minLength: 1 }, "", "it is required."],
    [{ type: "string", maxLength: 2 }, "😀😀", "😀😀"],
    [{ type: "string", pattern: "^[A-Z]{2}$" }, "x", "it must match ^[A-Z]{2}$."],
    [{ type: "string", format: "email" }, "ada", "it must be an e-mail address, such as ada@example.com."],
    [{ type: "string", format: "date" }, "2026-02-01", "2026-02-01"],
    [{ enum: [1, null, "x"] }, "1", 1],
    [{ enum: ["a"] }, "b", "it must be chosen."],
    [{ type: ["string", "null"] }, "", null],
    [{}, "[1]", [1]],
  ])("%j takes %j as %j", (schema, text, value) => expect(read(schema, text)).toEqual(value));

  test("an empty optional field has no value", () => expect(read({ type: "integer" }, "", false)).toBeUndefined());

  test("a field begins with its default; a required choice with the first", () => {
    expect(toFieldText(field({ type: "integer", default: 4 }), 4)).toBe("4");
    expect(toFieldText(field({ enum: ["a", "b"] }, true), undefined)).toBe("a");
    expect(toFieldText(field({ enum: ["a", "b"] }), undefined)).toBe("");
  });

  test("a list has as many items as it may", () => {
    const list = field({ type: "array", items: { type: "string" }, minItems: 1, maxItems: 2 }, true);
    expect([0, 1, 3].map((count) => countProblem(list, count))).toEqual([
      "it must have at least 1 items.",
      undefined,
      "it must have at most 2 items.",
    ]);
  });
});
