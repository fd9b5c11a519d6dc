/** URI templates, filled and refused (RFC 6570). */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ToolClientError } from "../../../../web/src/tools/errors.js";
import { fillTemplate, templateVariables } from "../../../../web/src/tools/resources/templates.js";

/** The sentence of a refusal. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ToolClientError) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a template is filled", () => {
  // The RFC's own examples, §3.2.
  const values = {
    var: "value",
    hello: "Hello World!",
    path: "/foo/bar",
    list: ["red", "green", "blue"],
    keys: { semi: ";", dot: "." },
    x: 1024,
    y: 768,
    empty: "",
    undef: null,
  };
  const needed = (template: string): Record<string, unknown> =>
    Object.fromEntries(
      templateVariables(template).map(({ name }) => [name, (values as Record<string, unknown>)[name]]),
    );

  test.each([
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["O{empty}X", "OX"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["{var:3}", "val"],
    ["{list}", "red,green,blue"],
    ["{keys*}", "semi=%3B,dot=."],
    ["{+path}/here", "/foo/bar/here"],
    ["{+path:4}/here", "/foo/here"],
    ["{#x,hello,y}", "#1024,Hello%20World!,768"],
    ["X{.list*}", "X.red.green.blue"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{?list*}", "?list=red&list=green&list=blue"],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
  ])("%s → %s", (template, uri) => {
    expect(fillTemplate(template, needed(template))).toBe(uri);
  });

  test("with names that every object has", () => {
    const given = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, unknown>;
    expect(fillTemplate("x:{__proto__}/{constructor}", given)).toBe("x:a/b");
  });

  test("with names that have hyphens, dots and escapes", () => {
    expect(fillTemplate("x:{user-id}/{a.b}/{%C3%A9}", { "user-id": "1", "a.b": "2", "%C3%A9": "3" })).toBe("x:1/2/3");
  });

  test("without what may be left out", () => {
    expect(fillTemplate("x:{id}{?page,size}{#part}", { id: 7, page: [] })).toBe("x:7");
  });
});

describe("a template tells its variables", () => {
  test("each once, in order, and which of them are needed", () => {
    expect(templateVariables("x:/{a}{/b*}{?c,a,d:3}{#e}")).toEqual([
      { name: "a", isRequired: true },
      { name: "b", isRequired: true },
      { name: "c", isRequired: false },
      { name: "d", isRequired: false },
      { name: "e", isRequired: false },
    ]);
  });

  test("needed once is needed", () => {
    expect(templateVariables("x:{?a}{a}")).toEqual([{ name: "a", isRequired: true }]);
  });
});

describe("it is refused", () => {
  test("when variables are missing, with their names", () => {
    expect(refusal(() => fillTemplate("x:{a}/{b}/{c}", { b: "1", c: null }))).toBe(
      "arguments lacks what the template needs: a, c.",
    );
  });

  test("when arguments are unknown, with those there are", () => {
    expect(refusal(() => fillTemplate("x:{a}", { a: "1", b: "2" }))).toContain("b: it has a.");
    expect(refusal(() => fillTemplate("x:", { b: "2" }))).toContain("it has none");
  });

  test("and not filled with what an object inherits", () => {
    expect(refusal(() => fillTemplate("x:{toString}", {}))).toContain("toString");
  });

  test.each([
    ["an unclosed brace", "x:{a"],
    ["a stray brace", "x:a}"],
    ["nothing in braces", "x:{}"],
    ["an empty name", "x:{a,,b}"],
    ["an operator kept for later", "x:{!a}"],
    ["a space", "x:{a b}"],
    ["a modifier that is none", "x:{a:0}"],
    ["too many expressions", "{a}".repeat(65)],
    ["too many characters", `x:${"a".repeat(5_000)}`],
    ["characters that hide", "x:\u202e{a}"],
  ])("with %s", (_, template) => {
    expect(refusal(() => templateVariables(template))).toMatch(/^template must be/);
  });

  test.each([
    ["half a character", { a: "\ud800" }],
    ["a text too long", { a: "x".repeat(5_000) }],
    ["a URI too long", { a: "é".repeat(1_000) }],
    ["a list too long", { a: Array.from({ length: 101 }, String) }],
    ["a list of lists", { a: [["b"]] }],
    ["no number", { a: Number.NaN }],
    ["a function", { a: () => "b" }],
  ])("with %s, without saying the value", (_, given) => {
    expect(refusal(() => fillTemplate("x:{a}", given)).length).toBeLessThan(250);
  });
});

test("whatever is given, what comes is a URI of bounded length or a refusal", () => {
  const name = fc.constantFrom("a", "b", "c-d");
  const modifier = fc.constantFrom("", "", "*", ":2");
  const operator = fc.constantFrom("", "+", "#", ".", "/", ";", "?", "&");
  const expression = fc
    .tuple(operator, fc.array(fc.tuple(name, modifier), { minLength: 1, maxLength: 3 }))
    .map(([sign, list]) => `{${sign}${list.map((each) => each.join("")).join(",")}}`);
  const literal = fc.oneof({ weight: 4, arbitrary: fc.constantFrom("x:", "/", "é", "%41", "%") }, fc.string());
  const template = fc.array(fc.oneof(expression, literal), { maxLength: 4 }).map((parts) => parts.join(""));
  const text = fc.string({ unit: "grapheme", maxLength: 5 });
  const primitive = fc.oneof(text, fc.integer(), fc.boolean(), fc.constantFrom("\ud83d", null, "a/../b", "%zz"));
  const value = fc.oneof(primitive, fc.array(primitive, { maxLength: 3 }), fc.dictionary(text, primitive));
  let filled = 0;
  fc.assert(
    fc.property(template, value, value, (pattern, one, other) => {
      let uri: string;
      try {
        const names = templateVariables(pattern).map((variable) => variable.name);
        uri = fillTemplate(pattern, Object.fromEntries(names.map((each, at) => [each, at === 0 ? one : other])));
      } catch (error) {
        return error instanceof ToolClientError;
      }
      filled += 1;
      return uri.length <= 4096 && /^[\x21-\x7e]+$/.test(uri);
    }),
    { numRuns: 500 },
  );
  expect(filled).toBeGreaterThan(100);
});
