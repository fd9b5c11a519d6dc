/** Connecting and closing in any order: nobody waits for a silent server, and no program is left behind. */
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ToolNode, ToolRegistry } from "../../../web/src/tools-node.js";
import { parseConnection } from "../../../web/src/tools/config/connection.js";
import { ToolConfigError } from "../../../web/src/tools/errors.js";
import { thrown } from "./thrown.js";

describe("connecting", () => {
  let folder: string;
  let pids: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-connecting-"));
    pids = join(folder, "pids");
    await writeFile(pids, "");
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  /** A server that notes its process, and answers or not. */
  async function server(answers: boolean, description = ""): Promise<string> {
    const script = join(folder, `server-${answers}.mjs`);
    await writeFile(
      script,
      `
    import { appendFileSync } from "node:fs";
    import { createInterface } from "node:readline";
    appendFileSync(${JSON.stringify(pids)}, process.pid + "\\n");
    const results = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
      "tools/list": { tools: [{ name: "echo", description: ${description || "''"}, inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "hello" }] },
    };
    createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined || !${answers}) return;
      const unknown = { code: -32601, message: "unknown" };
      const answer = results[method] === undefined ? { error: unknown } : { result: results[method] };
      console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });`,
    );
    return `"${process.execPath}" "${script}"`;
  }

  async function source(answers: boolean, registry = new ToolRegistry()): Promise<ToolNode> {
    const connection = await server(answers);
    const options = { store: new MemoryArtifactStore(), registry };
    return new ToolNode({ name: "own", transport: "mcp", connection, timeout_s: 300 }, options);
  }

  const isRunning = (pid: string): boolean => {
    try {
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  };

  /** The servers that were started are gone. */
  async function expectNoneLeft(): Promise<void> {
    const started = (await readFile(pids, "utf8")).split("\n").filter((pid) => pid !== "");
    await vi.waitFor(() => expect(started.filter(isRunning)).toEqual([]), 20_000);
  }

  describe("a server that never answers", () => {
    test("is not waited for by whoever gives up", async () => {
      const node = await source(false);
      const caller = new AbortController();
      const connecting = node.connect({ signal: caller.signal });
      await vi.waitFor(() => expect(readFileSync(pids, "utf8")).not.toBe(""), 20_000);
      caller.abort(new Error("enough"));
      await expect(connecting).rejects.toThrow("enough");
      await node.close();
      await expectNoneLeft();
    });

    test("is not waited for by `close`, and whoever connects is told", async () => {
      const node = await source(false);
      const connecting = node.connect();
      connecting.catch(() => undefined);
      await vi.waitFor(() => expect(readFileSync(pids, "utf8")).not.toBe(""), 20_000);
      await node.close();
      await expect(connecting).rejects.toThrow(/was closed: connect it again/);
      await expectNoneLeft();
    });
  });

  test("a list that is too large is refused with the reason", async () => {
    const connection = await server(true, '"x".repeat(12_000_000)');
    await using node = new ToolNode({ name: "own", transport: "mcp", connection });
    await expect(node.connect()).rejects.toThrow(/more than 8 MiB that cannot be stored/);
  });

  describe("connecting and closing at once", () => {
    test("`close` counts: what was being connected is not connected", async () => {
      const registry = new ToolRegistry();
      const node = await source(true, registry);
      const connecting = node.connect();
      connecting.catch(() => undefined);
      await node.close();
      await expect(connecting).rejects.toThrow(/was closed/);
      expect(registry.list()).toEqual([]);
      expect(() => node.getTools()).toThrow(/call connect first/);
      await expectNoneLeft();
    });

    test("connecting behind it counts too, and ends with the next `close`", async () => {
      const node = await source(true);
      for (let round = 0; round < 3; round += 1) {
        const first = node.connect();
        first.catch(() => undefined);
        void node.close();
        await node.connect();
        await expect(first).rejects.toThrow(/was closed/);
        expect((await node.call("echo")).text).toBe('"hello"');
        await node.close();
      }
      await expectNoneLeft();
    });

    test("one who gives up takes nothing from another who waits for the same", async () => {
      await using node = await source(true);
      const caller = new AbortController();
      const first = node.connect({ signal: caller.signal });
      first.catch(() => undefined);
      const second = node.connect();
      caller.abort(new Error("enough"));
      await expect(first).rejects.toThrow("enough");
      await second;
      expect((await node.call("echo")).text).toBe('"hello"');
    });
  });
});

describe("connections", () => {
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
      [`server --db=\${A:-b "c 'd} "\${E f} g"`, ["server", `--db=\${A:-b "c 'd}`, "${E f} g"]],
    ])("%s", (connection, argv) => {
      expect(parseConnection(connection)).toEqual({ kind: "stdio", argv });
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
      expect(thrown(() => parseConnection(connection))).toMatchObject({ code: "E_TOOL_CONFIG", path: "connection" });
    });

    test("arguments are bounded", () => {
      expect(thrown(() => parseConnection("x ".repeat(1001)))).toBeInstanceOf(ToolConfigError);
    });

    test("words that are quoted come out as they are", () => {
      const word = fc.string({ unit: fc.constantFrom(..."a \\'$`;|&<>*?~{}()[]é😀".split("")), maxLength: 12 });
      fc.assert(
        fc.property(fc.array(word, { maxLength: 6 }), (words) => {
          const connection = ["server", ...words.map((each) => `"${each}"`)].join(" ");
          // The braces of a variable keep text together before quotes do.
          fc.pre(!connection.includes("${"));
          expect(parseConnection(connection)).toEqual({ kind: "stdio", argv: ["server", ...words] });
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
      expect(parseConnection(connection)).toEqual({ kind, url });
    });

    test.each(["ws://example.com", "wss://example.com/mcp", "WS://example.com"])(
      "%s is not supported",
      (connection) => {
        expect(thrown(() => parseConnection(connection))).toMatchObject({
          code: "E_TOOL_UNSUPPORTED",
          path: "connection",
        });
      },
    );

    test.each([
      "ftp://example.com",
      "file:///etc/passwd",
      "https://",
      "https://exa mple.com",
      "https://example.com --flag",
      "https://me:s3cr3t@example.com",
      "https://s3cr3t@example.com",
    ])("%s is none, and not repeated", (connection) => {
      const error = thrown(() => parseConnection(connection)) as ToolConfigError;
      expect(error).toMatchObject({ code: "E_TOOL_CONFIG", path: "connection" });
      expect(error.message).not.toContain("s3cr3t");
    });
  });

  const filled = (connection: string, value: string): ReturnType<typeof parseConnection> =>
    parseConnection(connection, (text) => text.replaceAll("${V}", value));

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
});
