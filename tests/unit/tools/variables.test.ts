/** Variables: filled in where they stand, and missing ones told of all at once. */
import { env } from "node:process";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { readToolConfig } from "../../../web/src/tools/config/config.js";
import { environmentVariables } from "../../../web/src/tools/sources/node-source.js";
import { ToolAuthError, type ToolNodeError } from "../../../web/src/tools/errors.js";
import { resolveVariables, substitute, variableNames, variablesOf } from "../../../web/src/tools/config/variables.js";
import { thrown } from "./thrown.js";

const VALUES = variablesOf({ TOKEN: "t0k", HOST: "example.com", EMPTY: "", NESTED: "${TOKEN}", DOLLAR: "$& $1 $$" });

test.each([
  ["nothing", "nothing"],
  ["${TOKEN}", "t0k"],
  ["a${TOKEN}b${HOST}c${TOKEN}", "at0kbexample.comct0k"],
  ["${EMPTY}", ""],
  ["${NESTED}", "${TOKEN}"],
  ["${DOLLAR}", "$& $1 $$"],
  ["$TOKEN $ {TOKEN} ${", "$TOKEN $ {TOKEN} ${"],
])("%s becomes %s", (text, filled) => {
  expect(substitute(text, VALUES, "source")).toBe(filled);
});

test("what is missing is named with the source, all of it at once", () => {
  const error = thrown(() => substitute("${A} ${TOKEN} ${B} ${A}", VALUES, "github")) as ToolNodeError;
  expect(error).toBeInstanceOf(ToolAuthError);
  expect(error).toMatchObject({ code: "E_TOOL_AUTH", category: "auth_required", isRetryable: false });
  expect(error.message).toContain('"github" needs the variables A, B, which have no value');
  expect(error.message).not.toContain("t0k");
});

test.each(["${}", "${A B}", "${TOKEN:-x}", "${1}", "${a-b}"])("%s is told of as no variable's name", (text) => {
  expect(thrown(() => substitute(text, VALUES, "github"))).toMatchObject({ code: "E_TOOL_CONFIG" });
});

test.each(["__proto__", "constructor", "toString"])("%s is a name like another, and has no value", (name) => {
  for (const variables of [VALUES, environmentVariables]) {
    expect(thrown(() => substitute(`\${${name}}`, variables, "github"))).toBeInstanceOf(ToolAuthError);
  }
});

test("names are told in their order, each once", () => {
  expect(variableNames("${B} ${A} ${B} $C")).toEqual(["B", "A"]);
});

test("texts without a reference stay as they are, and values come out as they are", () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: "grapheme" }), (text, value) => {
      fc.pre(!text.includes("${"));
      expect(substitute(`${text}\${V}${text}`, variablesOf({ V: value }), "x")).toBe(text + value + text);
    }),
  );
});

describe("of a configuration", () => {
  const CONFIG = readToolConfig({
    name: "github",
    description: "${NOT_A_VARIABLE}",
    transport: "mcp",
    connection: "server --token ${TOKEN}",
    env: { A: "${HOST}", B: "plain" },
    auth_type: "bearer",
    auth_config: { token: "Bearer-${TOKEN}", env: "TOKEN" },
    tool_filter: ["get"],
  });

  test("connection, env and auth_config are filled in, and nothing else", () => {
    expect(resolveVariables(CONFIG, VALUES)).toEqual({
      ...CONFIG,
      connection: "server --token t0k",
      env: { A: "example.com", B: "plain" },
      auth_config: { token: "Bearer-t0k", env: "TOKEN" },
      endpoint: { kind: "stdio", argv: ["server", "--token", "t0k"] },
    });
    expect(CONFIG.connection).toBe("server --token ${TOKEN}");
  });

  test("what is missing anywhere is told in one sentence", () => {
    const message = (thrown(() => resolveVariables(CONFIG, variablesOf({}))) as Error).message;
    expect(message).toContain("TOKEN, HOST");
    expect(message).not.toContain("NOT_A_VARIABLE");
  });

  test("a document of its own is filled in from env and auth_config first, and a value stays within its text", () => {
    const connection = '{"tools": [], "a": "${TOKEN}", "b": "${KEY}", "c": "${HOST}"}';
    const auth_config = { TOKEN: "none", KEY: '${DOLLAR}", "d": "\\' };
    const config = readToolConfig({ name: "a", transport: "utcp", connection, env: { TOKEN: "own" }, auth_config });
    const { connection: filled } = resolveVariables(config, VALUES);
    expect(JSON.parse(filled)).toEqual({ tools: [], a: "own", b: '$& $1 $$", "d": "\\', c: "example.com" });
  });

  test("a value in a command stays one argument", () => {
    const { endpoint } = resolveVariables(CONFIG, variablesOf({ TOKEN: `a b" --evil 'c`, HOST: "" }));
    expect(endpoint).toEqual({ kind: "stdio", argv: ["server", "--token", `a b" --evil 'c`] });
  });

  test("what a value makes of the connection is checked", () => {
    for (const transport of ["mcp", "http", "utcp", "cli"]) {
      const config = readToolConfig({ name: "a", transport, connection: "${URL}" });
      const error = thrown(() => resolveVariables(config, variablesOf({ URL: "wss://s3cr3t" }))) as ToolNodeError;
      expect(error).toMatchObject({ code: "E_TOOL_UNSUPPORTED" });
      expect(error.message).not.toContain("s3cr3t");
    }
  });

  test("other transports have no endpoint", () => {
    const config = readToolConfig({ name: "a", transport: "http", connection: "https://${HOST}/v1" });
    expect(resolveVariables(config, VALUES)).toMatchObject({ connection: "https://example.com/v1", endpoint: null });
  });
});

describe("of the environment", () => {
  afterEach(() => {
    delete env["TEST_VARIABLE_OF_OURS"];
  });

  test("values are those at the time", () => {
    expect(environmentVariables("TEST_VARIABLE_OF_OURS")).toBeUndefined();
    env["TEST_VARIABLE_OF_OURS"] = "here";
    expect(substitute("${TEST_VARIABLE_OF_OURS}", environmentVariables, "x")).toBe("here");
  });
});

const document = (transport: "http" | "utcp" | "cli", text: string, own: Record<string, string>) =>
  resolveVariables(readToolConfig({ name: "a", transport, connection: text, env: own }), VALUES);

describe("of a document in the connection", () => {
  test.each<["http" | "utcp" | "cli", string]>([
    ["http", `{"a": "\${TOKEN} \${HOST}"}`],
    ["utcp", `tools: []\na: "\${TOKEN} \${HOST}"\n`],
    ["cli", `{"a": "\${TOKEN} \${HOST}"}`],
  ])("variables of env go before those of the host (%s)", (transport, text) => {
    const resolved = document(transport, text, { TOKEN: "own ${DOLLAR}", UNUSED: "x" });
    expect(resolved.connection).toBe(text.replace("${TOKEN}", () => "own $& $1 $$").replace("${HOST}", "example.com"));
    expect(resolved.env).toEqual({ TOKEN: "own $& $1 $$", UNUSED: "x" });
  });

  test("what env has need not be in the environment, and what it needs must be", () => {
    const text = '{"a": "${OWN}"}';
    expect(document("utcp", text, { OWN: "mine" }).connection).toBe('{"a": "mine"}');
    expect(thrown(() => document("utcp", text, { OWN: "${OWN}" }))).toMatchObject({ code: "E_TOOL_AUTH" });
  });

  test("an address takes those of the host", () => {
    expect(document("http", "https://${HOST}/", { HOST: "other.example" }).connection).toBe("https://example.com/");
  });
});
