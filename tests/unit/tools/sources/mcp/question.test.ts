import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerTo, questionOf, shown } from "../../../../../web/src/tools/sources/mcp/elicitation.js";

const PLACE = { source: "fix", tool: "ask" };
const form = (properties: object, more: object = {}): object => ({
  message: "Who?",
  requestedSchema: { type: "object", properties, ...more },
});
const FIELD = { type: "string", title: "Na\u202eme", description: "x".repeat(10_000) };

describe("a server's text", () => {
  it("is at most 4,000 characters long and hides nothing, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 10_000 }), (text) => {
        const seen = shown(text);
        expect(Array.from(seen).length).toBeLessThanOrEqual(4000);
        expect(seen).not.toMatch(/[\p{Cs}\u202a-\u202e\u2066-\u2069\u001b\u0000]/u);
      }),
    );
  });

  it("keeps its lines and its joined letters", () => {
    expect(shown("first\nsecond 👩‍💻")).toBe("first\nsecond 👩‍💻");
  });
});

describe("a form", () => {
  it("is shown with clean titles, and without what MCP does not know", () => {
    const question = questionOf(form({ name: { ...FIELD, "x-evil": 1 } }, { required: ["name"], evil: true }), PLACE);
    expect(question?.payload["schema"]).toEqual({
      type: "object",
      properties: {
        name: { type: "string", title: "Name", description: expect.stringMatching(/^x{3999}…$/) as string },
      },
      required: ["name"],
    });
  });

  it.each([
    ["a name that hides something", form({ "na\u202eme": { type: "string" } })],
    ["a choice that hides something", form({ name: { type: "string", enum: ["a", "b\u001b[2J"] } })],
    [
      "a name that is no name",
      JSON.parse(
        '{"message":"","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"string"}}}}',
      ) as object,
    ],
    [
      "more than anybody reads",
      form(Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`f${at}`, { type: "string" }]))),
    ],
    ["fields inside fields", form({ name: { type: "object", properties: {} } })],
    ["no schema", { message: "Who?" }],
    ["nothing", undefined],
  ])("with %s is not shown", (_name, params) => {
    const question = questionOf(params, PLACE);
    expect(question?.fields ?? []).toEqual([]);
  });
});

describe("an answer", () => {
  const question = questionOf(
    form({ name: { type: "string" }, ages: { type: "array", items: { type: "string", enum: ["1"] } } }),
    PLACE,
  );
  if (question === undefined) throw new Error("no question");

  it.each([
    [undefined, { action: "decline" }],
    [null, { action: "decline" }],
    [{}, { action: "accept", content: {} }],
    [
      { name: "Ada", ages: ["1"], more: "not asked for" },
      { action: "accept", content: { name: "Ada", ages: ["1"] } },
    ],
  ])("%j", (given, expected) => {
    expect(answerTo(question, given, PLACE)).toEqual(expected);
  });

  it.each([
    ["a text", "Ada"],
    ["a list", []],
    ["depth", { name: { first: "Ada" } }],
    ["too much", { name: "x".repeat(70_000) }],
  ])("that is none is an error: %s", (_name, given) => {
    expect(() => answerTo(question, given, PLACE)).toThrow(/"ask" of the source "fix" is no answer/);
  });
});
