/** Closing always settles, and leaves no program: Node itself ends a process whose last promise never settles, with exit code 13. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { ToolNode } from "../../../web/src/tools-node.js";
import { isRunning } from "../../e2e/faults/host.js";
import { answer, listening } from "./sources/mcp/http-server.js";

const BUILT = new URL("../../../dist/tools-node.js", import.meta.url).href;

/** What a host writes: it connects to a program, is told that it cannot, and closes. */
const HOST = `
import { ToolNode } from ${JSON.stringify(BUILT)};
const begun = performance.now();
const node = new ToolNode({ name: "own", transport: "mcp", connection: process.argv[1], timeout_s: 1 });
const code = await node.connect().catch((error) => error.code);
const seconds = (performance.now() - begun) / 1000;
await node.close();
console.log(JSON.stringify({ code, seconds }));`;

// At most three attempts of a second each, with little in between.
test.each([
  ["floods its output and never speaks MCP", "exec yes", 12],
  ["reads nothing and says nothing", "exec sleep 1000", 12],
  ["heeds neither the end of its input nor SIGTERM", "trap '' TERM; while :; do sleep 1; done", 20],
  ["heeds neither, and floods its output", "trap '' TERM; yes; yes", 20],
])("a program that %s", async (_, script, most) => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-closing-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [program, pids] = [join(folder, "program.sh"), join(folder, "pids")];
  await writeFile(program, `echo $$ >> "${pids}"\n${script}\n`);
  const connection = `sh "${program}"`;
  const ended = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", HOST, connection]);
  const { code, seconds } = JSON.parse(ended.stdout) as { code: string; seconds: number };
  expect(code).toBe("E_TOOL_TIMEOUT");
  expect(seconds).toBeLessThan(most);
  const started = (await readFile(pids, "utf8")).trim().split("\n").map(Number);
  expect(started).not.toEqual([]);
  await vi.waitFor(() => expect(started.filter(isRunning)).toEqual([]), 20_000);
});

test("a server over HTTP that answers nothing: neither what begins a session nor what ends it", async () => {
  await using silent = await listening("legacy", () => true);
  const node = new ToolNode({ name: "far", transport: "mcp", connection: silent.url, timeout_s: 1 });
  await expect(node.connect()).rejects.toMatchObject({ code: "E_TOOL_TIMEOUT" });
  await node.close();

  await using lasting = await listening("legacy", (came) => {
    const { request, response, rpc } = came;
    if (rpc?.method === "initialize") response.setHeader("mcp-session-id", "s");
    if (rpc?.method === "tools/list") answer(came, { tools: [] });
    return request.method === "DELETE" || rpc?.method === "tools/list";
  });
  const other = new ToolNode({ name: "far", transport: "mcp", connection: lasting.url });
  await other.connect();
  await other.close();
  expect(lasting.came.filter(({ request }) => request.method === "DELETE").length).toBe(1);
});

const fetch = (): Promise<Response> => new Promise(() => undefined);

test("a fetch that never settles, whatever it is told", async () => {
  const node = new ToolNode(
    { name: "far", transport: "mcp", connection: "http://127.0.0.1:9/mcp", timeout_s: 1 },
    { fetch },
  );
  await expect(node.connect()).rejects.toMatchObject({ code: "E_TOOL_TIMEOUT" });
  await node.close();
});
