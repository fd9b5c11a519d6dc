/** `sluice doctor`, and entries that are started as hosts start them. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { SavingsCounter } from "../../../../web/src/cli/store/savings.js";
import { FileArtifactStore } from "../../../../web/src/node.js";
import { COMMAND } from "../command.js";
import { Home } from "./home.js";

const PROGRAM = [process.execPath, COMMAND];
const PLACE = ".cursor/mcp.json";

/** A server with two tools, that answers a line with a line. */
const SERVER = `
  const info = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
  const tools = ["a", "b"].map((name) => ({ name, inputSchema: { type: "object" } }));
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const result = method === "initialize" ? info : { tools };
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
  });
`;

/** The same over HTTP, with the headers of each request. */
async function httpServer(): Promise<{ readonly url: string; readonly seen: readonly IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const info = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
  const tools = [{ name: "a", inputSchema: { type: "object" } }];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    seen.push(request.headers);
    const { id, method } = JSON.parse(await textOf(request)) as { id?: number; method: string };
    const result = method === "initialize" ? info : { tools };
    if (id === undefined) response.writeHead(202).end();
    else response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
}

const configured = (mcpServers: object): string => JSON.stringify({ mcpServers }, undefined, 2);

test("entries start as they were written: a command, and an address whose headers are in the environment", async () => {
  const home = await Home.open();
  const { url, seen } = await httpServer();
  const script = await home.write("server.cjs", SERVER);
  const headers = { Authorization: "Bearer k3y", "X-Other": "a: b" };
  await home.write(PLACE, configured({ files: { command: process.execPath, args: [script] }, far: { url, headers } }));
  await home.run(["install", "--yes"], { program: PROGRAM });
  const store = home.path("store");
  // The folder of the proxies' store is in the cache folder of whoever runs them.
  process.env["XDG_CACHE_HOME"] = home.path("cache");
  onTestFinished(() => void delete process.env["XDG_CACHE_HOME"]);
  const { code, stdout, stderr } = await home.run(["doctor", "--start", "--store", store]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^ {2}files .*behind Sluice; starts, with 4 tools; nothing in the store$/m);
  expect(stdout).toMatch(/^ {2}far .*behind Sluice; starts, with 3 tools; nothing in the store$/m);
  expect(stdout).not.toContain("k3y");
  expect(seen.length).toBeGreaterThan(0);
  for (const each of seen) expect(each).toMatchObject({ authorization: "Bearer k3y", "x-other": "a: b" });
});

test("says what is behind Sluice, and what the store has of it; starts nothing", async () => {
  const home = await Home.open();
  const script = await home.write("server.cjs", `require("node:fs").writeFileSync(process.argv[2], "");`);
  const entries = {
    files: { command: process.execPath, args: [script, home.path("started")] },
    time: { command: "uvx", args: ["mcp-server-time"] },
    far: { url: "https://mcp.example.com/mcp" },
  };
  await home.write(PLACE, configured(entries));
  await home.run(["install", "--server", "files", "--yes"], { program: PROGRAM });
  const store = new FileArtifactStore(home.path("store"));
  await store.putBytes(new Uint8Array(2048), { namespace: "files" });
  await store.putText("x".repeat(100), { namespace: "other" });
  const args = ["doctor", "--store", home.path("store")];
  const { code, stdout } = await home.run(args);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {2}files .*behind Sluice; 1 artifact of 2\.0 KB in the store$/m);
  expect(stdout).toMatch(/^ {2}time .*not behind Sluice$/m);
  expect(stdout).toMatch(/^ {2}far .*skipped: it has no headers/m);
  expect(stdout).toContain(`The store ${home.path("store")} has 2 artifacts of 2.1 KB.\n`);
  await expect(home.read("started")).rejects.toThrow("ENOENT");
  expect(JSON.parse((await home.run([...args, "--json"])).stdout)).toMatchObject({
    hosts: [
      {
        host: "Cursor",
        file: home.path(PLACE),
        servers: [
          { name: "files", behind: true, artifacts: 1, bytes: 2048 },
          { name: "time", behind: false },
          { name: "far", behind: false, skipped: expect.stringContaining("no headers") },
        ],
      },
    ],
    store: { store: home.path("store"), artifacts: 2, bytes: 2148 },
  });
});

test("tells what was kept out of the results of each server, and of all", async () => {
  const home = await Home.open();
  await home.write(PLACE, configured({ files: { command: "a" }, quiet: { command: "b" } }));
  await home.run(["install", "--yes"], { program: PROGRAM });
  for (const namespace of ["files", "other"]) {
    await using savings = new SavingsCounter(home.path("store"), namespace);
    const one = { calls: 1, bytes_in: 1_000_000, bytes_shown: 500_400, bytes_out: 400 };
    for (let call = 0; call < 3; call += 1) savings.add("cursor", one);
    // A server of the same name in another host.
    savings.add("codex", { calls: 1, bytes_in: 1_000_000, bytes_shown: 12_000, bytes_out: 400 });
  }
  const args = ["doctor", "--store", home.path("store")];
  const { stdout } = await home.run(args);
  expect(stdout).toMatch(/^ {2}files .*; saved 1\.4 MB \(about 375,000 tokens\) in 3 calls; nothing in the store$/m);
  expect(stdout).toMatch(/^ {2}quiet .*behind Sluice; nothing in the store$/m);
  expect(stdout).toContain(
    "Sluice saved 2.9 MB (about 755,800 tokens) in 8 calls, against what each host would have shown its model:\n",
  );
  expect(stdout).toMatch(/^ {2}cursor +saved 2\.9 MB \(about 750,000 tokens\) in 6 calls$/m);
  expect(stdout).toMatch(/^ {2}codex +saved 22\.7 KB \(about 5,800 tokens\) in 2 calls$/m);
  const one = { calls: 3, bytes_in: 3_000_000, bytes_shown: 1_501_200, bytes_out: 1200, tokens_saved: 375_000 };
  const all = {
    calls: 8,
    bytes_out: 3200,
    tokens_saved: 755_800,
    hosts: { cursor: { calls: 6 }, codex: { calls: 2 } },
  };
  expect(JSON.parse((await home.run([...args, "--json"])).stdout)).toMatchObject({
    hosts: [{ servers: [{ name: "files", saved: one }, { name: "quiet" }] }],
    saved: all,
  });
});

test("a program that is gone, a server that does not start, and one that its host fills in are told", async () => {
  const home = await Home.open();
  process.env["XDG_CACHE_HOME"] = home.path("cache");
  onTestFinished(() => void delete process.env["XDG_CACHE_HOME"]);
  await home.write(PLACE, configured({ gone: { command: "a" } }));
  await home.run(["install", "--yes"], { program: [process.execPath, home.path("old/cli/main.js")] });
  const gone = await home.run(["doctor"]);
  expect(gone.code).toBe(1);
  expect(gone.stdout).toContain(
    `${home.path("old/cli/main.js")} is gone: run \`sluice uninstall cursor --server "gone"\`, then \`sluice install cursor --server "gone"\``,
  );
  const entries = {
    fails: { command: process.execPath, args: ["-e", "process.exit(3)"] },
    filled: { command: "a", env: { A: "${env:A}" } },
  };
  await home.write(PLACE, configured(entries));
  await home.run(["install", "--yes"], { program: PROGRAM });
  const { code, stdout } = await home.run(["doctor", "--start"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ {2}fails .*(?:it ended before it answered|it answered with an error)/m);
  expect(stdout).toMatch(/^ {2}filled .*not started, since its host fills in part of its entry/m);
});

test("each kind of file that a model can read is tried", async () => {
  const home = await Home.open();
  const { stdout } = await home.run(["doctor"]);
  expect(stdout).toMatch(/Files that a model can read\n {2}text of PDF +read\n {2}pages of PDF as pictures +read\n/);
  const { files } = JSON.parse((await home.run(["doctor", "--json"])).stdout) as {
    files: readonly { read: boolean }[];
  };
  expect(files.map(({ read }) => read)).toEqual([true, true, true, true]);
});
