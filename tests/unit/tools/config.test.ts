/** A source's configuration: its defaults, its bounds, and errors that name the place and the remedy. */
import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import { readToolConfig, ToolConfigError, type ExternalToolConfig } from "../../../web/src/tools/config.js";
import type { SCHEMA } from "../../../web/src/tools/config/schema.js";
import { ToolNodeError } from "../../../web/src/tools/errors.js";
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
  ['"retry_policy": {"x9": 5}', "retry_policy.x9", "there are max_attempts, wait_exponential_min_s"],
  ['"zzzzzz": 1', "zzzzzz", "there are name, description, transport"],
  ['"__proto__": {}', "__proto__", "there are name"],
  ['"constructor": 1', "constructor", "there are name"],
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
    expect(JSON.stringify([error, error.message, error.stack, error.toDict()])).not.toContain(SECRET);
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
