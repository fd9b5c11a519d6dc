/** One table of keys: the schema, the command, the page and the library say the same. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { configTable, MARKER } from "../../../scripts/docs/config-table.mjs";
import { configKeys, printKeys, type ConfigKey, type SchemaNode } from "../../../web/src/cli/config.js";
import { Output } from "../../../web/src/cli/terminal/terminal.js";
import { createSluice, SluiceError, type SluiceConfig } from "../../../web/src/index.js";
import { amount, isFull } from "../../support/full.js";
import { ROOT, sluice } from "./command.js";

const TEXT = await readFile(join(ROOT, "dist", "config.schema.json"), "utf8");
const SCHEMA = JSON.parse(TEXT) as SchemaNode;
const KEYS = configKeys(SCHEMA);
const NAMED = KEYS.map((key) => [key.key, key] as const);

const valid = new Ajv2020({ allowUnionTypes: true, strict: true }).compile(SCHEMA);

/** What an effect has to say of the values that a key may have; of a word, that word. */
const WORDS: Readonly<Record<string, RegExp>> = {
  number: /character|byte|second|artifact|image/i,
  boolean: /\bfalse: /,
  null: /\bnull: /i,
  string: /./,
  list: /./,
  object: /./,
};

/** `{"a": {"b": value}}` for the key `a.b`. */
function nested(key: string, value: unknown): Record<string, unknown> {
  const [first = "", ...rest] = key.split(".");
  return { [first]: rest.length === 0 ? value : nested(rest.join("."), value) };
}

/** A configuration that gives one key a value; a key of a tool's field comes with those that it needs. */
function configured(key: string, value: unknown): Record<string, unknown> {
  const [, member] = /^tool_fields\.<tool>\[\]\.(\w+)$/.exec(key) ?? [];
  if (member === undefined) return nested(key, value);
  return { tool_fields: { tool: [{ field_path: "a", content_type: "pdf", [member]: value }] } };
}

/** What a key may be, in words: `integer or null, at least 1` → number, null. */
function kinds({ type }: ConfigKey): string[] {
  const words = type.split(", ")[0] ?? "";
  return words
    .split(" or ")
    .map((word) => (word === "integer" ? "number" : word))
    .sort();
}

test("there are the keys of the RFC's four sections and of interceptors, each once", () => {
  const names = KEYS.map(({ key }) => key);
  expect(new Set(names).size).toBe(names.length);
  for (const section of ["binary_detection", "resources", "guardrail", "retention", "interceptor"]) {
    expect(names.some((name) => name.startsWith(`${section}.`))).toBe(true);
  }
});

describe.each(NAMED)("%s", (name, key) => {
  test("its effect is told: the unit of a number, what false, null and each word do", () => {
    const { effect } = key;
    expect(effect).toMatch(/^[A-Z].{30,}\.$/s);
    for (const kind of kinds(key)) expect(effect).toMatch(WORDS[kind] ?? new RegExp(kind.replaceAll('"', "\\b")));
  });

  test("its default is a value that may be given", async () => {
    const config = key.default === undefined ? {} : configured(name, JSON.parse(key.default));
    expect(valid(config)).toBe(true);
    await expect(createSluice({ config })).resolves.toBeDefined();
  });

  test("the page's table has it", () => {
    const lines = configTable([key]).split("\n");
    const cells = (lines[2] ?? "").slice(2, -2).split(" | ");
    const read = cells.map((cell) =>
      cell
        .replace(/<\/?code>|<wbr>/g, "")
        .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))),
    );
    expect(read).toEqual([name, key.type, key.default ?? "(required)", key.effect]);
  });
});

test("the page has a place for the table", async () => {
  const page = await readFile(join(ROOT, "docs", "configuration.md"), "utf8");
  expect(page.split(MARKER).length).toBe(2);
});

/** An object of so many members. */
function numbered(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, value]));
}

const FIELD = { field_path: "a.*.0", content_type: "pdf" };
const NUMBERS = [
  -1, 0, 0.1, 0.9, 0.95, 1, 1.5, 16, 20, 21, 63, 64, 255, 256, 5_242_881, 10_000_000, 10_000_001, 1_073_741_825,
];
const TEXTS = [
  ..."auto off structured content lru none used answer error x a..b .a {size}".split(" "),
  "",
  ..."application/pdf image/* application/ /pdf a/b/c".split(" "),
  ...[200, 201, 500, 501, 2000, 2001].map((characters) => "é".repeat(characters)),
];
const LISTS = [[], ["image/png"], ["image/*"], ["png"], Array.from({ length: 33 }, () => "image/png")];
const SIGNATURES = [
  { JVBERi: ["pdf", "application/pdf"] },
  { JVB: ["pdf", "application/pdf"] },
  { "JVBE-i": ["pdf", "application/pdf"] },
  { JVBERi: ["p d", "application/pdf"] },
  { JVBERi: ["pdf"] },
  { JVBERi: "pdf" },
];
const FIELDS = [
  { tool: [] },
  { tool: [FIELD] },
  { tool: FIELD },
  { "": [FIELD] },
  { tool: [{ ...FIELD, path: "x" }] },
  { tool: [{ content_type: "pdf" }] },
];
const FORMS = [
  { tool: {} },
  { tool: { file: "base64", "files.*.data": "data_uri", note: "text", copy: "path" } },
  { tool: { file: "blob" } },
  { tool: { file: null } },
  { tool: { "": "text" } },
  { tool: { "a..b": "text" } },
  { tool: { ["é".repeat(500)]: "text" } },
  { tool: { ["é".repeat(501)]: "text" } },
  { "": {} },
  { ["😀".repeat(200)]: {} },
  { ["😀".repeat(201)]: {} },
  { tool: numbered(100, "text") },
  { tool: numbered(101, "text") },
  numbered(1_000, {}),
  numbered(1_001, {}),
];
const OBJECTS = [{}, { max_count: 3 }, { max_count: 0 }, { unknown: 1 }, ...SIGNATURES, ...FIELDS, ...FORMS];
const VALUES: readonly unknown[] = [true, false, null, ...NUMBERS, ...TEXTS, ...LISTS, ...OBJECTS];

/** Whether a configuration is taken; anything but a refusal with a place is thrown on. */
async function takes(config: SluiceConfig): Promise<boolean> {
  try {
    await createSluice({ config });
    return true;
  } catch (error) {
    if (error instanceof SluiceError && /^E_CONFIG_(KEY|VALUE)$/.test(error.code) && error.path) return false;
    throw error;
  }
}

const UNKNOWN = ["unknown", "guardrail.unknown", "retention.unknown", "interceptor.unknown"];

describe("what the schema takes, the library takes, and nothing else", () => {
  // A brief run gives each key a fourth of the values, another fourth to the next key.
  test.each(NAMED)("%s", async (name) => {
    const key = NAMED.findIndex(([each]) => each === name);
    for (const value of VALUES.filter((_, at) => isFull || at % 4 === key % 4)) {
      const config = configured(name, value);
      expect([config, await takes(config)]).toEqual([config, valid(config)]);
    }
  });

  test("for any key and any value", async () => {
    const key = fc.constantFrom(...KEYS.map((each) => each.key), ...UNKNOWN);
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    const value = fc.oneof(fc.constantFrom(...VALUES), fc.integer(), fc.boolean(), fc.string(), number);
    const agree = fc.asyncProperty(key, value, async (name, given) => {
      const config = configured(name, given);
      expect(await takes(config)).toBe(valid(config));
    });
    await fc.assert(agree, { numRuns: amount(100, 300) });
  });
});

describe("sluice config", () => {
  test("prints every key in a line of its own: key, type, default, effect", async () => {
    const { code, stdout, stderr } = await sluice(["config"]);
    expect([code, stderr]).toEqual([0, ""]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => line.split("\t"))).toEqual(
      KEYS.map(({ key, type, default: standard, effect }) => [key, type, standard ?? "", effect]),
    );
  });

  test("--json prints the schema", async () => {
    expect(await sluice(["config", "--json"])).toEqual({ code: 0, stdout: TEXT, stderr: "" });
  });

  test("on a terminal it breaks lines where they end", async () => {
    const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
    await printKeys(KEYS, new Output(screen, { NO_COLOR: "1" }));
    const shown = String(screen.read());
    for (const { key } of KEYS) expect(shown.split("\n")).toContain(key);
    expect(Math.max(...shown.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(shown).toContain("\n  integer, 256 to 10,000,000; default 10000\n");
    expect(shown).toContain("\n  string, 1 to 500 characters; required\n");
  });
});
