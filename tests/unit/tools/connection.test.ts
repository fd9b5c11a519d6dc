import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { transportOf } from "../../../web/src/tools/config/connection.js";
import { ToolConfigError } from "../../../web/src/tools/errors.js";
import { thrown } from "./thrown.js";

describe("a command", () => {
  test.each<readonly [string, readonly string[]]>([
    ["npx -y @modelcontextprotocol/server-github", ["npx", "-y", "@modelcontextprotocol/server-github"]],
    ["  server   --flag  ", ["server", "--flag"]],
    ["server \"two words\" 'and more'", ["server", "two words", "and more"]],
    ['server --name="two words"', ["server", "--name=two words"]],
    ['server ""', ["server", ""]],
    ['"C:\\Program Files\\node.exe" C:\\tools\\server.js', ["C:\\Program Files\\node.exe", "C:\\tools\\server.js"]],
    [`server "it's"`, ["server", "it's"]],
    ["server --url https://example.com", ["server", "--url", "https://example.com"]],
    ["server $(rm -rf) `x` ; & | > $HOME *", ["server", "$(rm", "-rf)", "`x`", ";", "&", "|", ">", "$HOME", "*"]],
    ["server\n", ["server"]],
  ])("%s", (connection, argv) => {
    expect(transportOf(connection)).toEqual({ kind: "stdio", argv });
  });

  test.each([
    "",
    "   ",
    '""',
    '" "',
    "server \u0000",
    "server\nother",
    "server\tother",
    "server \u001b[0m",
    'server "',
    "it's",
  ])("%j is none", (connection) => {
    expect(thrown(() => transportOf(connection))).toMatchObject({ code: "E_TOOL_CONFIG", path: "connection" });
  });

  test("arguments are bounded", () => {
    expect(thrown(() => transportOf("x ".repeat(1001)))).toBeInstanceOf(ToolConfigError);
  });

  test("words that are quoted come out as they are", () => {
    const word = fc.string({ unit: fc.constantFrom(..."a \\'$`;|&<>*?~{}()[]é😀".split("")), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        const connection = ["server", ...words.map((each) => `"${each}"`)].join(" ");
        expect(transportOf(connection)).toEqual({ kind: "stdio", argv: ["server", ...words] });
      }),
    );
  });
});

describe("an address", () => {
  test.each([
    ["https://example.com/mcp", "http", "https://example.com/mcp"],
    ["HTTP://localhost:3000", "http", "http://localhost:3000/"],
    [" https://example.com/mcp ", "http", "https://example.com/mcp"],
    ["https://example.com/sse", "sse", "https://example.com/sse"],
    ["https://example.com/v1/sse/", "sse", "https://example.com/v1/sse/"],
    ["https://example.com/sse?key=1", "sse", "https://example.com/sse?key=1"],
    ["https://example.com/asse", "http", "https://example.com/asse"],
    ["https://example.com/mcp?to=/sse", "http", "https://example.com/mcp?to=/sse"],
  ])("%s is of kind %s", (connection, kind, url) => {
    expect(transportOf(connection)).toEqual({ kind, url });
  });

  test.each(["ws://example.com", "wss://example.com/mcp", "WS://example.com"])("%s is not supported", (connection) => {
    expect(thrown(() => transportOf(connection))).toMatchObject({ code: "E_TOOL_UNSUPPORTED", path: "connection" });
  });

  test.each([
    "ftp://example.com",
    "file:///etc/passwd",
    "https://",
    "https://exa mple.com",
    "https://example.com --flag",
    "https://me:s3cr3t@example.com",
    "https://s3cr3t@example.com",
  ])("%s is none, and not repeated", (connection) => {
    const error = thrown(() => transportOf(connection)) as ToolConfigError;
    expect(error).toMatchObject({ code: "E_TOOL_CONFIG", path: "connection" });
    expect(error.message).not.toContain("s3cr3t");
  });
});

const filled = (connection: string, value: string): ReturnType<typeof transportOf> =>
  transportOf(connection, (text) => text.replaceAll("${V}", value));

describe("with values for variables", () => {
  test("a value in a command stays one argument, whatever is in it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (value) => {
        fc.pre(!value.includes("\u0000"));
        expect(filled("server --db=${V} ${V}", value)).toEqual({
          kind: "stdio",
          argv: ["server", `--db=${value}`, value],
        });
      }),
    );
  });

  test("a value may be the beginning of an address", () => {
    expect(filled("${V}/mcp", "https://example.com")).toEqual({ kind: "http", url: "https://example.com/mcp" });
  });

  test.each([
    ["${V}", ""],
    ["${V}", "wss://example.com"],
    ["${V}/mcp", "https://me:s3cr3t@example.com"],
    ["https://example.com/${V}", "a\nb"],
    ["server ${V}", "a\u0000b"],
  ])("%s with %j is refused", (connection, value) => {
    const error = thrown(() => filled(connection, value)) as ToolConfigError;
    expect(error).toBeInstanceOf(ToolConfigError);
    expect(error.message).not.toContain("s3cr3t");
  });
});
