/** Variables: filled in where they stand, and missing ones told of all at once. */
import { env } from "node:process";
import fc from "fast-check";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { type CallToolResult, createSluice } from "../../../web/src/index.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { readToolConfig } from "../../../web/src/tools/config/config.js";
import { resolveVariables } from "../../../web/src/tools/config/resolved-config.js";
import { substitute, variableNames, toVariables } from "../../../web/src/tools/config/variables.js";
import { ToolAuthError, type ToolNodeError } from "../../../web/src/tools/errors.js";
import type { ToolNodeOptions } from "../../../web/src/tools/options.js";
import { environmentVariables } from "../../../web/src/tools/sources/node-source.js";
import { connected } from "./artifacts/connected.js";
import { thrown } from "./thrown.js";

describe("variables", () => {
  const VALUES = toVariables({ TOKEN: "t0k", HOST: "example.com", EMPTY: "", NESTED: "${TOKEN}", DOLLAR: "$& $1 $$" });

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
        expect(substitute(`${text}\${V}${text}`, toVariables({ V: value }), "x")).toBe(text + value + text);
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
      const message = (thrown(() => resolveVariables(CONFIG, toVariables({}))) as Error).message;
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
      const { endpoint } = resolveVariables(CONFIG, toVariables({ TOKEN: `a b" --evil 'c`, HOST: "" }));
      expect(endpoint).toEqual({ kind: "stdio", argv: ["server", "--token", `a b" --evil 'c`] });
    });

    test("what a value makes of the connection is checked", () => {
      for (const transport of ["mcp", "http", "utcp", "cli"]) {
        const config = readToolConfig({ name: "a", transport, connection: "${URL}" });
        const error = thrown(() => resolveVariables(config, toVariables({ URL: "wss://s3cr3t" }))) as ToolNodeError;
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
      expect(resolved.connection).toBe(
        text.replace("${TOKEN}", () => "own $& $1 $$").replace("${HOST}", "example.com"),
      );
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
});

/** What a ToolNode is given beside its configuration, the dialect of its results among it. */
describe("options", () => {
  const CONFIG = { name: "shell", transport: "cli", connection: "echo ${WORD}" } as const;

  const WRONG: readonly (readonly [options: unknown, sentence: RegExp])[] = [
    [null, /options of a ToolNode must be an object/],
    [[], /options of a ToolNode must be an object/],
    [{ registry: [] }, /option registry .* must be a ToolRegistry/],
    [{ variables: 1 }, /option variables .* must be a function or an object/],
    [{ dialect: "MCP" }, /option dialect .* must be "observation" or "mcp"/],
    [{ onEvent: "log" }, /option onEvent .* must be a function/],
    [{ fetch: {} }, /option fetch .* must be a function/],
    [{ onevent: () => undefined }, /"onevent" is not an option of a ToolNode; did you mean onEvent\?/],
    [{ zzz: 1 }, /"zzz" is not an option of a ToolNode; the options are registry, store,/],
    [JSON.parse('{"__proto__":1}'), /"__proto__" is not an option/],
  ];

  /** Makes a ToolNode with options that the type would not let through. */
  const make = (options: unknown) => (): ToolNode => new ToolNode(CONFIG, options as ToolNodeOptions);

  describe.each(WRONG)("%j", (options, sentence) => {
    test("is refused at once, by name and with the remedy", () => {
      expect(make(options)).toThrow(sentence);
      expect(make(options)).toThrow(expect.objectContaining({ code: "E_TOOL_CONFIG", category: "non_retryable" }));
    });
  });

  test("what is undefined is left out", () => {
    expect(new ToolNode(CONFIG, { registry: undefined } as unknown as ToolNodeOptions).name).toBe("shell");
  });

  test.each([{ WORD: "said" }, (name: string) => (name === "WORD" ? "said" : undefined)])(
    "variables are an object or a function",
    async (variables) => {
      await using node = new ToolNode(CONFIG, { variables });
      await node.connect();
      expect((await node.call("run")).text).toContain("said");
    },
  );

  const PDF = { type: "resource", resource: { uri: "file:///report.pdf", mimeType: "application/pdf" } };

  describe("the mcp dialect", () => {
    test("gives the reduced result, which restore undoes", async () => {
      await using files = await connected({}, { dialect: "mcp" });
      const { value, text, refs } = await files.node.call("pdf");
      expect(value).toMatchObject({
        content: [{ type: "text" }],
        _meta: { "sluice/refs": expect.anything() as object },
      });
      expect([text.length < 2000, refs === undefined]).toEqual([true, false]);
      const sluice = await createSluice({ store: files.store });
      const sent = await sluice.restore(value);
      expect(sent).toMatchObject({ content: [PDF] });
      expect(JSON.stringify(sent)).toContain('"blob":"JVBERi0xLjQK');
    });

    test("is in the type of the value", () => {
      const mcp = new ToolNode(CONFIG, { dialect: "mcp" });
      expectTypeOf<Awaited<ReturnType<typeof mcp.call>>["value"]>().toEqualTypeOf<CallToolResult>();
      const plain = [new ToolNode(CONFIG), new ToolNode(CONFIG, {}), new ToolNode(CONFIG, { dialect: "observation" })];
      expectTypeOf<Awaited<ReturnType<(typeof plain)[number]["call"]>>["value"]>().toEqualTypeOf<unknown>();
      expectTypeOf(mcp).toExtend<ToolNode>();
      expectTypeOf<ToolNodeOptions["dialect"]>().toEqualTypeOf<"mcp" | "observation" | undefined>();
    });

    test("writes as a result what is said in place of a call", async () => {
      await using files = await connected({}, { dialect: "mcp" });
      const { value, isError } = await files.node.call("upload", { data: "artifact://files_000000000000" });
      const content = [{ type: "text", text: expect.stringContaining("no such artifact") as string }];
      expect({ value, isError }).toEqual({ value: { content, isError: true }, isError: true });
    });

    test("is not that of the tool that reads artifacts", async () => {
      await using files = await connected({}, { dialect: "mcp" });
      const { value } = await files.node.call("artifact_read", { uri: await files.id("log"), lines: "1" });
      expect(value).toEqual(expect.stringContaining("line 1"));
    });
  });

  test("the observation is given where nothing is said, and where that is said", async () => {
    for (const options of [{}, { dialect: "observation" as const }]) {
      await using files = await connected({}, options);
      const { text, refs } = await files.node.call("pdf");
      expect(text).toContain('"id":"files_');
      expect([text.includes("sluice/refs"), refs]).toEqual([false, undefined]);
    }
  });

  /** Tells whether the list that `restore` needs is there; fails at `log`. */
  function output_transformer(tool: string, document: unknown): unknown {
    if (tool === "log") throw new Error("none of mine");
    return { refs: JSON.stringify(document).includes("sluice/refs") };
  }

  test("a transformer is given the same, and answered for the same, in either", async () => {
    for (const dialect of ["observation", "mcp"] as const) {
      await using files = await connected({ output_transformer }, { dialect });
      expect((await files.node.call("pdf")).value).toEqual({ refs: true });
      expect((await files.node.call("log")).value).toHaveProperty("artifact.id");
      const refused = await files.node.call("upload", { data: "artifact://files_000000000000" });
      expect(refused.value).toMatchObject({
        isError: true,
        content: expect.stringContaining("no such artifact") as string,
      });
    }
  });
});
