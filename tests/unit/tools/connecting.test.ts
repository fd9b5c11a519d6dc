/** Connecting and closing in any order: nobody waits for a silent server, and no program is left behind. */
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ToolNode, ToolRegistry } from "../../../web/src/tools-node.js";

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
  await expect(node.connect()).rejects.toThrow(/more than 8 MiB of what cannot be stored/);
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
