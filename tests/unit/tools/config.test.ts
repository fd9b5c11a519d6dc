import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { SluiceConfig } from "../../../web/src/config/types.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import {
  compilePattern,
  type ExternalToolConfig,
  matchesFilter,
  readToolConfig,
  type SCHEMA,
} from "../../../web/src/tools/config/config.js";
import { readSourcesFile } from "../../../web/src/tools/config/sources-file.js";
import { ToolConfigError, ToolNodeError } from "../../../web/src/tools/errors.js";
import { thrown } from "./thrown.js";

const SECRET = "s3cr3t-value";
const LEAST = { name: "github", transport: "mcp", connection: "npx -y some-server" } as const;

/** What is read of the least there may be and `more`. */
const read = (more: object): ReturnType<typeof readToolConfig> => readToolConfig({ ...LEAST, ...more });

/** The error of the least there may be and `more`. */
function refused(more: object, path?: string): ToolConfigError {
  const error = thrown(() => readToolConfig({ ...LEAST, ...more }, path));
  expect(error).toBeInstanceOf(ToolConfigError);
  return error as ToolConfigError;
}

test("defaults are those of the plan", () => {
  expect(readToolConfig(LEAST)).toEqual({
    ...LEAST,
    description: "",
    utcp_mode: "auto",
    env: {},
    auth_type: "none",
    auth_config: {},
    allowed_communication_protocols: null,
    allowed_hosts: [],
    trusted_origins: [],
    timeout_s: 30,
    notify_after_s: [15, 20, 25],
    retry_policy: {
      max_attempts: 3,
      wait_exponential_min_s: 0.1,
      wait_exponential_max_s: 5,
      retry_on_status: [429, 500, 502, 503, 504],
    },
    max_concurrency: 10,
    tool_filter: null,
    user_files: false,
    artifact_extraction: {},
    output_transformer: null,
    transformer_input: "reduced",
    transformer_timeout_s: 30,
  });
});

const seen = (): string => "seen";

test("what is given takes the place of a default, and what is not given of a policy does not", () => {
  const given = {
    description: "Repositories",
    env: { LOG: "1" },
    auth_type: "bearer",
    auth_config: { token: "${TOKEN}", env: "GITHUB_TOKEN" },
    timeout_s: 1.5,
    retry_policy: { max_attempts: 5 },
    max_concurrency: 100,
    artifact_extraction: { max_inline_size: 500 },
    output_transformer: seen,
    transformer_input: "raw",
    transformer_timeout_s: 2,
  };
  const config = read(given);
  expect(config).toMatchObject(given);
  expect(config.output_transformer).toBe(seen);
  expect(config.retry_policy.wait_exponential_max_s).toBe(5);
});

/** Paths with values on both sides of their bounds. */
const BOUNDS: readonly (readonly [path: string, good: readonly unknown[], bad: readonly unknown[]])[] = [
  ["name", ["a", "google-drive", "A_1", "x".repeat(64)], ["", "a.b", "a b", "é", "x".repeat(65), 1, null]],
  ["description", ["", "two\nlines"], [null, 1, "x".repeat(10_001)]],
  ["transport", ["mcp"], ["stdio", "MCP", null, 1]],
  ["connection", ["server", '"my server" --flag', "https://example.com/mcp"], ["", "  ", null, [], {}]],
  ["env", [{}, { "A(x86)": "" }], [null, [], { A: 1 }, { "A=B": "c" }, { A: "\u0000" }, { "": "a" }, "A=1"]],
  ["auth_type", ["none"], ["oauth", "NONE", null]],
  ["auth_config", [{ any: "thing" }], [null, { any: 1 }, []]],
  ["timeout_s", [1, 300, 2.5], [0.99, 301, "30", null, Number.NaN, Infinity]],
  [
    "notify_after_s",
    [
      [1, 2, 3],
      [0.1, 0.2, 300],
    ],
    [[1, 2], [1, 2, 3, 4], [1, 1, 2], [3, 2, 1], [0, 1, 2], [1, 2, 301], 15, null],
  ],
  ["retry_policy", [{}], [null, [], 3]],
  ["retry_policy.max_attempts", [1, 10], [0, 11, 1.5, "3"]],
  ["retry_policy.wait_exponential_min_s", [0.01, 5], [0.009, -1, Infinity]],
  ["retry_policy.wait_exponential_max_s", [0.1, 86_400], [0.09, 86_401, "5"]],
  ["retry_policy.retry_on_status", [[], [429], [418, 599]], [[99], [600], [429.5], ["429"], null, 429]],
  ["max_concurrency", [1, 100], [0, 101, 2.5]],
  ["tool_filter", [null, [], ["get_.*", "list"]], ["get", [1], ["("], ["a".repeat(257)], ["(a+)+$"]]],
  ["user_files", [true, false], [null, 1, "yes"]],
  ["artifact_extraction", [{}, { anything: "goes" }], [null, [], "x"]],
  ["output_transformer", [null, (): number => 1], ["f", {}, true]],
  ["transformer_input", ["reduced", "raw"], ["both", null]],
  ["transformer_timeout_s", [0.001, 300], [0, 301, "1"]],
  ["utcp_mode", ["auto"], ["manual", null]],
  ["allowed_communication_protocols", [null, [], ["http", "mcp", "cli"]], ["http", ["graphql"], [1]]],
  [
    "allowed_hosts",
    [[], ["api.example.com", "*.example.com:8443", "10.0.0.1", "[fd00::1]:80"]],
    ["a.example", ["https://a.example"], ["a.example/x"], ["*"], ["a.*.example"], [""], ["a.example:x"]],
  ],
  [
    "trusted_origins",
    [[], ["https://api.example.com", "http://127.0.0.1:8080"]],
    [
      ["api.example.com"],
      ["https://a.example/"],
      ["https://*.a.example/x"],
      ["ftp://a.example"],
      ["https://u:p@a.example"],
    ],
  ],
];

const at = (path: string, value: unknown): object =>
  path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;

describe.each(BOUNDS)("%s", (path, good, bad) => {
  test("takes what is within its bounds", () => {
    for (const value of good) expect(thrown(() => read(at(path, value)))).toBeUndefined();
  });

  test("refuses what is not, with its path and what it must be", () => {
    for (const value of bad) {
      const error = refused(at(path, value));
      expect(error).toMatchObject({ code: "E_TOOL_CONFIG", category: "non_retryable", isRetryable: false });
      expect(error.path.startsWith(path)).toBe(true);
      expect(error.message).toMatch(/^"[^"]+" must be .*\.$/s);
    }
  });
});

test.each(["name", "transport", "connection"])("%s may not be left out", (key) => {
  const { [key]: _, ...rest } = { ...LEAST } as Record<string, unknown>;
  const error = thrown(() => readToolConfig(rest)) as ToolConfigError;
  expect(error.path).toBe(key);
  expect(error.message).toMatch(new RegExp(`^"${key}" is missing: it must be `));
});

test.each([
  ['"conection": "x"', "conection", "did you mean connection?"],
  ['"timeout-s": 5', "timeout-s", "did you mean timeout_s?"],
  ['"retry_policy": {"max_attemps": 5}', "retry_policy.max_attemps", "did you mean max_attempts?"],
  ['"retry_policy": {"x9": 5}', "retry_policy.x9", "the keys are max_attempts, wait_exponential_min_s"],
  ['"zzzzzz": 1', "zzzzzz", "the keys are name, description, transport"],
  ['"__proto__": {}', "__proto__", "the keys are name"],
  ['"constructor": 1', "constructor", "the keys are name"],
])("%s is an unknown key that is named, with the remedy", (member, path, remedy) => {
  const config: unknown = JSON.parse(JSON.stringify(LEAST).replace("{", `{${member}, `));
  const error = thrown(() => readToolConfig(config)) as ToolConfigError;
  expect(error).toMatchObject({ code: "E_TOOL_CONFIG", path });
  expect(error.message).toContain(remedy);
});

test("an unknown key is told of before what is missing because of it", () => {
  const error = thrown(() => readToolConfig({ name: "a", transport: "mcp", conection: SECRET })) as ToolConfigError;
  expect(error.message).toContain("did you mean connection?");
});

test("a path begins with where the configuration stands", () => {
  expect(refused({ timeout_s: 0 }, "sources[2]").path).toBe("sources[2].timeout_s");
  expect(refused({ retry_policy: { retry_on_status: [429, 5] } }, "sources[2]").path).toBe(
    "sources[2].retry_policy.retry_on_status[1]",
  );
  expect(refused({ connection: "wss://example.com" }, "sources[2]").path).toBe("sources[2].connection");
  expect(thrown(() => readToolConfig(3, "sources[2]"))).toMatchObject({ path: "sources[2]" });
});

describe("keys that say something about each other", () => {
  test.each([
    ["bearer", "token"],
    ["api_key", "api_key"],
  ])("auth_type %s wants auth_config.%s", (auth_type, key) => {
    for (const auth_config of [undefined, {}, { [key]: "" }, { other: SECRET }]) {
      const error = refused({ auth_type, auth_config });
      expect(error.path).toBe(`auth_config.${key}`);
      expect(error.message).toContain(auth_type);
    }
    const connection = "https://example.com/mcp";
    expect(read({ connection, auth_type, auth_config: { [key]: SECRET } }).auth_config).toEqual({ [key]: SECRET });
  });

  test.each(["bearer", "api_key", "oauth2_user"])("auth_type %s of a program wants auth_config.env", (auth_type) => {
    const credentials = { token: SECRET, api_key: SECRET };
    const programs = [
      { transport: "mcp", connection: "npx -y some-server ${OPTION}" },
      { transport: "cli", connection: "git log" },
      { transport: "cli", connection: '{"tools": []}' },
    ];
    for (const program of programs) {
      for (const env of [undefined, "", "not-a-name", "A B"]) {
        const auth_config = { ...credentials, ...(env !== undefined && { env }) };
        const error = refused({ ...program, auth_type, auth_config }, "sources[1]");
        expect(error).toMatchObject({ code: "E_TOOL_CONFIG", path: "sources[1].auth_config.env" });
        expect(error.message).toContain(`auth_type ${auth_type}`);
        expect(error.message).not.toContain(SECRET);
      }
      for (const env of ["API_TOKEN", "${NAME_OF_IT}"])
        read({ ...program, auth_type, auth_config: { ...credentials, env } });
    }
    for (const connection of ["https://example.com/mcp", "${SERVER} --flag", "${HOST}/mcp"]) {
      read({ transport: "mcp", connection, auth_type, auth_config: credentials });
    }
    read({ transport: "cli", connection: "git", auth_config: credentials });
  });

  test.each([
    ["mcp", "server", ["auto"], ["manual_url", "base_url"]],
    ["http", "https://example.com", ["auto", "manual_url", "base_url"], []],
    ["utcp", "https://example.com/utcp", ["auto", "manual_url", "base_url"], []],
    ["cli", "./tools.json", ["auto", "manual_url"], ["base_url"]],
  ])("utcp_mode with the transport %s", (transport, connection, good, bad) => {
    for (const utcp_mode of good) expect(read({ transport, connection, utcp_mode }).utcp_mode).toBe(utcp_mode);
    for (const utcp_mode of bad) expect(refused({ transport, connection, utcp_mode }).path).toBe("utcp_mode");
  });

  test("waits do not grow shorter", () => {
    const error = refused({ retry_policy: { wait_exponential_min_s: 10 } });
    expect(error.path).toBe("retry_policy.wait_exponential_max_s");
    expect(error.message).toContain("10");
  });
});

describe("a connection", () => {
  test.each([
    ["http", "https://api.example.com/v1"],
    ["utcp", "https://example.com/.well-known/utcp.json"],
    ["utcp", '{"utcp_version": "1.0", "tools": []}'],
    ["cli", '{"tools": []}'],
    ["cli", "./tools.json"],
    ["cli", "C:\\tools\\manual.json"],
    ["http", "${BASE_URL}/v1"],
    ["http", ' {"openapi": "3.1.0", "paths": {}}'],
    ["http", "# The shop\n---\nopenapi: 3.1.0\npaths: {}\n"],
    ["http", "info: {title: Shop}\n'swagger': '2.0'\npaths: {}\n"],
  ])("of %s may be %s", (transport, connection) => {
    expect(read({ transport, connection }).connection).toBe(connection);
  });

  test.each([
    ["http", "api.example.com"],
    ["http", "ftp://example.com"],
    ["http", "openapi: 3.1.0"],
    ["http", "./openapi.json"],
    ["http", "https://example.com\nopenapi: 3.1.0\n"],
    ["utcp", "file:///etc/passwd"],
    ["cli", "gopher://example.com"],
  ])("of %s may not be %s", (transport, connection) => {
    expect(refused({ transport, connection })).toMatchObject({ code: "E_TOOL_CONFIG", path: "connection" });
  });

  test.each(["mcp", "http", "utcp", "cli"])("of %s may not be a WebSocket", (transport) => {
    for (const connection of ["ws://example.com", "WSS://example.com"]) {
      expect(refused({ transport, connection })).toMatchObject({ code: "E_TOOL_UNSUPPORTED", path: "connection" });
    }
  });
});

test("no error says a value", () => {
  const wrong: readonly object[] = [
    { connection: `https://user:${SECRET}@example.com` },
    { connection: `"${SECRET}` },
    { connection: `wss://${SECRET}` },
    { transport: SECRET },
    { auth_config: { token: [SECRET] } },
    { env: { A: `${SECRET}\u0000` } },
    { tool_filter: [`(${SECRET}`] },
    { name: `${SECRET} ` },
    { auth_type: "bearer", auth_config: { tokn: SECRET } },
  ];
  for (const more of wrong) {
    const error = refused(more);
    expect(JSON.stringify([error, error.message, error.stack, error.toJSON()])).not.toContain(SECRET);
  }
});

test("any other value is refused with a place, never otherwise", () => {
  fc.assert(
    fc.property(
      fc.object({ withNullPrototype: true, maxDepth: 3 }),
      fc.constantFrom(...Object.keys(LEAST)),
      (odd, key) => {
        const error = thrown(() => readToolConfig({ ...LEAST, ...odd, [key]: odd }));
        expect(error).toBeInstanceOf(ToolNodeError);
        expect((error as ToolConfigError).message.length).toBeLessThan(1000);
      },
    ),
  );
  fc.assert(
    fc.property(fc.anything(), (odd) => {
      expect(thrown(() => readToolConfig(odd))).toBeInstanceOf(ToolConfigError);
    }),
  );
});

/** Without what the validator's types leave open: that keys are optional, and lists read-only. */
type Loose<T> = T extends (...given: never[]) => unknown
  ? T
  : T extends readonly (infer Element)[]
    ? Loose<Element>[]
    : T extends object
      ? { -readonly [Key in keyof T]?: Loose<T[Key]> | undefined }
      : T;

test("the type that is documented is what the schema takes", () => {
  expectTypeOf<Loose<ExternalToolConfig>>().toEqualTypeOf<Loose<z.input<typeof SCHEMA>>>();
});

const A = { name: "a", transport: "mcp", connection: "server" };
const B = { name: "b", transport: "http", connection: "https://example.com" };

const refusedFile = (text: string): ToolConfigError => {
  const error = thrown(() => readSourcesFile(text));
  expect(error).toBeInstanceOf(ToolConfigError);
  return error as ToolConfigError;
};

test("sources are read in their order, with their defaults", () => {
  expect(readSourcesFile(JSON.stringify({ sources: [A, B] }))).toEqual([A, B]);
  expect(readSourcesFile('{"sources": []}')).toEqual([]);
});

describe("what is wrong is told with its path", () => {
  test.each([
    [{ sources: [A, B, { ...A, name: "c", retry_policy: { max_attemps: 2 } }] }, "sources[2].retry_policy.max_attemps"],
    [{ sources: [A, { ...B, timeout_s: 0 }] }, "sources[1].timeout_s"],
    [{ sources: [A, B, A] }, "sources[2].name"],
    [{ sources: [A, null] }, "sources[1]"],
    [{ sources: {} }, "sources"],
    [{ sources: Array.from({ length: 257 }, () => A) }, "sources"],
    [{}, "sources"],
    [{ source: [] }, "source"],
    [{ sources: [], version: 1 }, "version"],
    [[], ""],
    [null, ""],
  ])("%j", (value, path) => {
    expect(refusedFile(JSON.stringify(value))).toMatchObject({ code: "E_TOOL_CONFIG", path });
  });

  test("two sources with one name: both are named", () => {
    expect(refusedFile(JSON.stringify({ sources: [A, B, A] })).message).toContain("sources[0].name");
  });

  test("a key that is not known: the one that was meant", () => {
    expect(refusedFile('{"source": []}').message).toContain("sources");
  });
});

describe("what is not JSON is told with its line, and never quoted", () => {
  test.each([
    ['{"sources": [\n  {"name": "a" s3cr3t\n', "line 2, column"],
    ["", "line 1"],
    ["[".repeat(100_000) + "s3cr3t", "not JSON"],
    [`{"sources": [], "x": s3cr3t}`, "line 1, column 22"],
  ])("case %#", (text, place) => {
    const error = refusedFile(text);
    expect(error.message).toContain(place);
    expect(error.message).not.toContain("s3cr3t");
  });

  test("a file of any length is none", () => {
    expect(refusedFile(" ".repeat(4 * 1024 * 1024 + 1)).message).toContain("at most");
  });
});

const filterOf = (...patterns: string[]): readonly RegExp[] =>
  patterns.map((pattern) => {
    const compiled = compilePattern(pattern);
    if (compiled === undefined) throw new Error(`${pattern} was to be compiled.`);
    return compiled;
  });

test.each([
  ["get", "get_issue", true],
  ["get", "forget", false],
  ["issue", "get_issue", false],
  [".*issue", "get_issue", true],
  ["get_issue$", "get_issues", false],
  ["^get", "get_issue", true],
  ["get|list", "list_issues", true],
  ["get|list", "unlist", false],
  ["a|(b)", "xb", false],
  ["", "anything", true],
  ["GET", "get", false],
  ["get\\-file", "get-file", true],
  ["[)(]x", "(x", true],
  ["\\(x", "(x", true],
  ["(?:get|list)_(?=issue)", "list_issue", true],
])("%s on %s is %s", (pattern, name, isMatch) => {
  expect(matchesFilter(filterOf(pattern), name)).toBe(isMatch);
});

test("one of several is enough, and none at all lets every tool pass", () => {
  expect(matchesFilter(filterOf("a", "b"), "bee")).toBe(true);
  expect(matchesFilter(filterOf("a", "b"), "cee")).toBe(false);
  expect(matchesFilter([], "cee")).toBe(true);
  expect(matchesFilter(null, "cee")).toBe(true);
});

test("asking twice gives the same answer", () => {
  const filter = filterOf("get");
  expect([1, 2, 3].map(() => matchesFilter(filter, "get_issue"))).toEqual([true, true, true]);
});

test("a name longer than a tool's name may be is none", () => {
  expect(matchesFilter(filterOf("a"), "a".repeat(128))).toBe(true);
  expect(matchesFilter(filterOf("a"), "a".repeat(129))).toBe(false);
});

describe("is not compiled", () => {
  test.each(["(", "a)|(b", "[", "*", "(?P<name>a)", "(?i)get", "\\"])("what is none: %s", (pattern) => {
    expect(compilePattern(pattern)).toBeUndefined();
  });

  test.each([
    "(a+)+$",
    "(a*)*$",
    "(a|a)*$",
    "(a|ab)+$",
    "((a)+)+$",
    "(aa?)+$",
    "(a{1,})+$",
    "(a{1,5}){20}$",
    "(?:a+){2,}$",
    "(?=(a+)+$)",
    "x(y(a+)z)*",
    "([)]+)+$",
    "(\\)+)+$",
    ".*.*.*.*$",
    "a?".repeat(25),
    "(a|a)".repeat(25),
    "(?:a|a|a|a)".repeat(13),
    "a{0,9}".repeat(4),
    "(a?){30}",
  ])("what may never end: %s", (pattern) => {
    expect(compilePattern(pattern)).toBeUndefined();
  });
});

test.each([
  "([a-z]{2})+",
  "(get|list)_.*",
  "(foo)+",
  "(a+)?",
  "([*+?|])+",
  "(\\+)+",
  ".*foo.*bar.*",
  "(a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z|0|1)$",
  "a?".repeat(20),
  "[)(]+",
  "a{2}?",
  "x{,2}{3}",
])("%s is harmless", (pattern) => {
  expect(compilePattern(pattern)).toBeInstanceOf(RegExp);
});

test.each(["a*a*a*b", `${"a?".repeat(15)}a*b`, `${"(?:a|a)".repeat(15)}a*b`, "(.*)(.*)\\1\\2b"])(
  "%s comes to an end on the name that it likes least",
  (pattern) => {
    expect(matchesFilter(filterOf(pattern), "a".repeat(128))).toBe(false);
  },
);

test("whatever is compiled is anchored at the start and nowhere else", () => {
  const word = fc.stringMatching(/^[a-z_]{1,12}$/);
  fc.assert(
    fc.property(word, word, word, (pattern, before, after) => {
      expect(matchesFilter(filterOf(pattern), pattern + after)).toBe(true);
      expect(matchesFilter(filterOf(pattern), before + pattern)).toBe((before + pattern).startsWith(pattern));
    }),
  );
});

test("no text makes the compiler throw, and what it gives comes to an end", () => {
  const piece = fc.constantFrom("a", "(", ")", "[", "]", "\\", "*", "+", "?", "|", "{2,}", "{3}", "(?:", ".", "$");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const pattern = compilePattern(pieces.join(""));
      expect([undefined, true, false]).toContain(pattern?.test("a".repeat(30)));
    }),
    { numRuns: 500 },
  );
});

const connected = async (artifact_extraction: object): Promise<void> => {
  const config = { name: "own", transport: "cli", connection: "node", artifact_extraction } as const;
  await using node = new ToolNode(config, { store: new MemoryArtifactStore() });
  await node.connect();
};

/** The sections, those that may be null left out. */
const SECTIONS: Readonly<Record<Exclude<keyof SluiceConfig, "default_summary_template">, RegExp>> = {
  max_inline_size: /must be an integer/,
  auto_artifact_large_content: /must be true or false/,
  binary_detection: /must be an object/,
  resources: /must be an object/,
  tool_fields: /must be an object/,
  guardrail: /must be an object/,
  inline_media: /must be "auto", "off" or an object/,
  prefer: /must be "structured" or "content"/,
  retention: /must be an object/,
  interceptor: /must be an object/,
};

test.each(Object.entries(SECTIONS))("null in place of %s", async (key, sentence) => {
  await expect(connected({ [key]: null })).rejects.toMatchObject({
    code: "E_CONFIG_VALUE",
    path: key,
    message: expect.stringMatching(sentence) as string,
  });
});

test.each([
  ["resources.enabled", { resources: { enabled: null } }],
  ["retention.cleanup_strategy", { retention: { cleanup_strategy: null } }],
  ["guardrail.max_field_chars", { guardrail: { max_field_chars: null } }],
  ["tool_fields.export", { tool_fields: { export: null } }],
  ["interceptor.on_store_failure", { interceptor: { on_store_failure: null } }],
])("null at %s", async (path, config) => {
  await expect(connected(config)).rejects.toMatchObject({ code: "E_CONFIG_VALUE", path });
});

test("what has no value says nothing, and null where that means something is taken", async () => {
  await expect(connected({ retention: undefined, guardrail: undefined })).resolves.toBeUndefined();
  const nulls = { retention: { ttl_seconds: null }, default_summary_template: null };
  await expect(connected(nulls)).resolves.toBeUndefined();
});
