/** Edits of configurations, whatever they look like. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { editConfig, parseConfig, type EntryChange } from "../../../../web/src/cli/install/config-text.js";
import type { Format } from "../../../../web/src/cli/install/hosts.js";
import { amount } from "../../../support/full.js";

const change = (members: Readonly<Record<string, unknown>>): EntryChange => new Map(Object.entries(members));

const edited = (text: string, format: Format, members: Readonly<Record<string, unknown>>): Promise<string> =>
  editConfig(text, format, [{ path: ["servers", "one"], change: change(members) }], "file");

describe("JSON", () => {
  test.each([
    [
      "what is new takes the place of what goes",
      `{ "servers": { "one": { "url": "x", /* a */ "headers": {}, // b\n "z": 1 } } }`,
      { url: undefined, headers: undefined, command: "c", args: ["d"] },
      `{ "servers": { "one": { "command": "c", /* a */ "args": ["d"], // b\n "z": 1 } } }`,
    ],
    [
      "a member goes with its comma and its line, and no comment with it",
      `{ "servers": { "one": {\n  "a": 1, // a\n  "url": "x",\n  // z\n  "z": 1\n} } }`,
      { url: undefined },
      `{ "servers": { "one": {\n  "a": 1, // a\n  // z\n  "z": 1\n} } }`,
    ],
    [
      "the last member takes the comma before it",
      `{ "servers": { "one": {\n  "a": 1, // a\n  "url": "x"\n} } }`,
      { url: undefined },
      `{ "servers": { "one": {\n  "a": 1 // a\n} } }`,
    ],
    [
      "a trailing comma stays",
      `{ "servers": { "one": {\n  "a": 1,\n} } }`,
      { b: "x" },
      `{ "servers": { "one": {\n  "a": 1,\n  "b": "x",\n} } }`,
    ],
    ["an empty entry", `{ "servers": { "one": {} } }`, { b: "x" }, `{ "servers": { "one": { "b": "x" } } }`],
    [
      "of two entries of a name the last one counts",
      `{ "servers": { "one": { "a": "1" }, "one": { "a": "2" } } }`,
      { a: "3" },
      `{ "servers": { "one": { "a": "1" }, "one": { "a": "3" } } }`,
    ],
  ])("%s", async (_, text, members, wanted) => {
    expect(await edited(text, "json", members)).toBe(wanted);
  });

  test("commas and braces in texts and comments are no commas and braces", async () => {
    const text = `{ "servers": { "one": { "url": "},{", /* , } */ "b": "\\",", // ,\n } } }`;
    expect(await edited(text, "json", { url: undefined })).toBe(
      `{ "servers": { "one": { /* , } */ "b": "\\",", // ,\n } } }`,
    );
  });
});

describe("YAML", () => {
  test.each([
    [
      "lists with and without indentation, and on one line",
      "servers:\n  one:\n    a:\n    - x\n    b:\n        - x # y\n    c: [x]\n",
      { a: ["p", "x"], b: ["p", "x"], c: ["p", "x"] },
      'servers:\n  one:\n    a:\n    - "p"\n    - x\n    b:\n        - "p"\n        - x # y\n    c: ["p", x]\n',
    ],
    [
      "a name goes with its lines, and the comment of the next one stays",
      "servers:\n  one:\n    headers:\n      A: |\n        x\n      B: y\n\n    # z\n    z: 1\n",
      { headers: undefined },
      "servers:\n  one:\n\n    # z\n    z: 1\n",
    ],
    [
      "a new name stands at the top",
      "servers:\n  one:\n    # z\n    z: 1\n",
      { a: "x" },
      'servers:\n  one:\n    # z\n    a: "x"\n    z: 1\n',
    ],
  ])("%s", async (_, text, members, wanted) => {
    expect(await edited(text, "yaml", members)).toBe(wanted);
  });
});

test.each([
  ["a table inside of one", '[servers]\none = { command = "x", args = ["a"] } # c\ntwo = { command = "z" }\n'],
  ["names with dots", 'servers.one.command = "x" # c\nservers.one.args = ["a"]\nservers.two.command = "z"\n'],
  ["a name in quotes", '[servers."one"]\ncommand = "x" # c\nargs = ["a"]\n[servers."two words"]\ncommand = "z"\n'],
  ["tables in tables", '[servers.one]\ncommand = "x" # c\nargs = ["a"]\n[servers.one.tools.b]\nmode = "ask"\n'],
])("%s of TOML", async (_, text) => {
  // Checks itself that the rest says what it said.
  const after = await edited(text, "toml", { command: "y", args: ["p", "a"], env: { A: "b" } });
  expect(after).toContain("# c");
  expect(after).toContain('"y"');
});

test("dates and numbers of TOML stay as they are written", async () => {
  const rest =
    "a = 2026-01-02\nb = 2026-01-02T03:04:05.678+01:00\nc = 07:08:09\nd = 0x1F\ne = 9007199254740993\nf = 1_000.50\n";
  const text = `${rest}[servers.one]\ncommand = "x"\n`;
  expect(await edited(text, "toml", { command: "y" })).toBe(text.replace('"x"', '"y"'));
});

test.each([
  ["json", `{ "servers": { "one": [1] }`, "is not valid JSON"],
  ["toml", "a = 1\nb = = 2\n", "is not valid TOML at line 2, column 4"],
  ["yaml", "a: [\nb: c\n", "is not valid YAML at line 2, column 1"],
] as const)("what is not %s is told with its place", async (format, text, sentence) => {
  await expect(parseConfig(text, format, "file")).rejects.toMatchObject({
    code: "E_CONFIG_JSON",
    message: expect.stringContaining(sentence) as string,
  });
});

test("JSON that nests too deeply is told too", async () => {
  await expect(parseConfig("[".repeat(500_000), "json", "file")).rejects.toMatchObject({ code: "E_CONFIG_JSON" });
});

/** Any entry and any change of it, in all formats: the new text says what it should, and comments stay. */
// The texts have a member `end` of their own.
const name = fc.stringMatching(/^[a-z]{1,3}$/).filter((word) => word !== "end");
const value = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 }),
  fc.dictionary(name, fc.string({ maxLength: 5 }), { maxKeys: 2, noNullPrototype: true }),
);
const entry = fc.dictionary(name, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true });
const changes = fc.dictionary(name, fc.option(value, { nil: undefined }), { maxKeys: 4, noNullPrototype: true });

const WRITTEN: Readonly<Record<Format, (members: Readonly<Record<string, unknown>>) => string>> = {
  json: (members) => {
    const lines = Object.entries(members).map(
      ([key, each]) => `    ${JSON.stringify(key)}: ${JSON.stringify(each)}, // ${key}`,
    );
    return `// top\n{\n  "servers": {\n    "one": {\n${lines.join("\n")}\n    }, // end\n  }\n}\n`;
  },
  toml: (members) => {
    const written = (each: unknown): string =>
      typeof each === "object" && !Array.isArray(each)
        ? `{ ${Object.entries(each as object)
            .map(([key, text]) => `${key} = ${JSON.stringify(text)}`)
            .join(", ")} }`
        : JSON.stringify(each);
    const lines = Object.entries(members).map(([key, each]) => `${key} = ${written(each)}`);
    return `# top\n[servers.one]\n${lines.join("\n")}\n\n[end] # end\na = 1\n`;
  },
  yaml: (members) => {
    const lines = Object.entries(members).map(([key, each]) => `    "${key}": ${JSON.stringify(each)} # ${key}`);
    return `# top\nservers:\n  one:\n${lines.join("\n")}\n    "end": x\n# end\nafter: 1\n`;
  },
};

test.each(["json", "toml", "yaml"] as const)("any change of any entry in %s", async (format) => {
  let refused = 0;
  const runs = amount(150, 3000);
  await fc.assert(
    fc.asyncProperty(entry, changes, async (members, said) => {
      const text = WRITTEN[format](members);
      // Checks itself that the new text says what the old one said, with the changes.
      const after = await edited(text, format, said).catch((error: unknown) => {
        // Where an empty inline table of TOML makes room for another one.
        if (format !== "toml" || (error as { readonly code?: unknown }).code !== "E_CONFIG_VALUE") throw error;
        refused += 1;
      });
      if (after === undefined) return;
      expect(after).toMatch(/^(?:\/\/|#) top\n/);
      expect(after).toMatch(/(?:\/\/|#) end\n/);
      expect(await edited(text, format, {})).toBe(text);
    }),
    { numRuns: runs },
  );
  expect(refused).toBeLessThanOrEqual(runs / 100);
});
