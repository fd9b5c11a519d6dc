import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { httpSource } from "../../../../../web/src/tools/sources/http/source.js";
import { mayBeYaml, parseDocument, parseYaml } from "../../../../../web/src/tools/sources/utcp/document.js";
import { api, failure, gate, names, opened } from "../api.js";

const HEAD = "openapi: '3.1.0'\npaths: {}\n";
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join("\n");
const keys = (count: number): string => lines(count, (n) => `  k${n}: ${n}`);

/** Each took a parser minutes, or all of the memory. */
const HOSTILE: Readonly<Record<string, () => string>> = {
  "explicit keys in each other": () => `${HEAD}k: ${"? ".repeat(900_000)}`,
  "lists in each other": () => `${HEAD}k:\n${"- ".repeat(900_000)}`,
  "brackets in each other": () => `${HEAD}k: ${"[".repeat(1_000_000)}`,
  "indentation that grows": () => `${HEAD}k:\n${lines(1_900, (n) => `${" ".repeat(n + 1)}a:`)}`,
  "many documents": () => `${HEAD}${"---\na: 1\n".repeat(200_000)}`,
  "many merges": () => `${HEAD}a: &a\n${keys(2_000)}\n${lines(900, (n) => `b${n}:\n  <<: *a`)}\n`,
  "a list that is the key of many": () =>
    `${HEAD}a: &a [${"x,".repeat(450_000)}]\nk:\n${"  ? *a\n  : c\n".repeat(70_000)}`,
  "a text in a list that is the key of many": () =>
    `${HEAD}a: &a [${"x".repeat(900_000)}]\nk:\n${"  ? *a\n  : c\n".repeat(70_000)}`,
  "a text that is many times in one key": () =>
    `${HEAD}s: &s ${"x".repeat(900_000)}\nk:\n  ? [${"*s,".repeat(400)}]\n  : c\n`,
  "a colon after each word": () => `${HEAD}k: ${"a: ".repeat(600_000)}`,
  "tags without end": () => `${HEAD}k: ${"!a ".repeat(600_000)}`,
};

describe("what takes other parsers minutes", () => {
  test.each(Object.keys(HOSTILE))("%s is no document", async (name) => {
    expect(await parseDocument(HOSTILE[name]!(), "It")).toBeUndefined();
  });

  test.each<[string, () => string]>([
    ["the same key again and again", () => `${HEAD}${"k: 1\n".repeat(350_000)}`],
    ["the same key in braces", () => `${HEAD}k: {${"a,".repeat(900_000)}}`],
    ["many anchors", () => `${HEAD}k:\n${lines(100_000, (n) => ` - &a${n} 1`)}\n${lines(900, (n) => ` - *a${n}`)}`],
    ["many aliases", () => `${HEAD}a: &a 1\nk: [${"*a,".repeat(600_000)}]`],
    ["brackets at some depth", () => `${HEAD}k:\n${`  - ${"[".repeat(90)}${"]".repeat(90)}\n`.repeat(5_000)}`],
  ])("%s is one", async (_, text) => {
    expect(await parseDocument(text(), "It")).toMatchObject({ openapi: "3.1.0", paths: {} });
  });

  test.each<[string, string]>([
    ["a loop", `${HEAD}k: &a [*a, *a]\n`],
    ["a bomb", `${HEAD}a0: &a0 [x]\n${lines(40, (n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`)}\n`],
    ["more than two MiB", `${HEAD}k: ${"x".repeat(2_200_000)}\n`],
  ])("%s is an error with a code", async (_, text) => {
    expect(await failure(parseDocument(text, "It"))).toMatchObject({ code: "E_TOOL_CONFIG" });
  });

  test("a server that answers so costs an error", async () => {
    const server = await api((_, response) => void response.end(HOSTILE["explicit keys in each other"]!()));
    const { sluice } = await gate();
    const error = await failure(opened(httpSource({ name: "api", connection: `${server.origin}/a.yaml`, sluice })));
    expect(error).toMatchObject({ code: "E_TOOL_CONFIG", message: expect.stringContaining("no document") as string });
  });
});

const operation = (n: number): string => `  /items${n}/{id}:
    get:
      operationId: get${n}
      description: >-
        Some words about *what* this does, with: colons
        and [brackets] and more.
      parameters:
        - {name: id, in: path, schema: {type: string, enum: [a, b]}}
      responses:
        '200':
          description: "OK"`;

describe("what is meant", () => {
  test("a description of a megabyte", async () => {
    const server = await api(
      (_, response) =>
        void response.end(
          `openapi: 3.0.0\npaths:\n${lines(1_999, operation)}\nx: |\n${"  more words\n".repeat(50_000)}`,
        ),
    );
    const { sluice } = await gate();
    const source = httpSource({ name: "api", connection: `${server.origin}/openapi.yaml`, sluice });
    expect(await names(await opened(source))).toHaveLength(1_999);
  });

  test("merges, aliases, tags of others, the last of two keys", async () => {
    const text =
      "a: &a {x: 1, y: 1}\nb: {<<: *a, y: 2}\nc: !Sub 'x'\nd: !Ref {e: [*a]}\nf: 1\nf: 2\ng: 2020-01-01\nh: 0x1f\n";
    expect(await parseYaml(text)).toEqual({
      a: { x: 1, y: 1 },
      b: { x: 1, y: 2 },
      c: "x",
      d: { e: [{ x: 1, y: 1 }] },
      f: 2,
      g: "2020-01-01",
      h: 31,
    });
  });

  test("names of Object's own change nothing", async () => {
    const value = (await parseYaml("a: {__proto__: {b: 1}}\n")) as { readonly a: Record<string, unknown> };
    expect(value.a["b"]).toBeUndefined();
    expect(Object.keys(value.a)).toEqual(["__proto__"]);
  });

  test("JSON within YAML is what JSON says", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        const text = JSON.stringify(value);
        expect(await parseYaml(`k: ${text}\n`)).toEqual({ k: JSON.parse(text) as unknown });
      }),
    );
  });

  test("a text that has none of our keys is not read at all", () => {
    for (const text of [
      "hello: world\n",
      "<p>openapi: 3</p>",
      "{openapi: 3}",
      "",
      "a\nb",
      "x".repeat(1_000_000),
      "\n#".repeat(1_000_000),
    ]) {
      expect(mayBeYaml(text)).toBe(false);
    }
    for (const text of [
      "openapi: 3.0.0\n",
      "# a\n---\n  'swagger' : 2\n",
      "utcp_version: 1\ntools:\n",
      "call_template_type: cli\n",
    ]) {
      expect(mayBeYaml(text)).toBe(true);
    }
  });
});
