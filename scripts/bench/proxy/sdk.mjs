/**
 * The SDKs' own clients, each measured in a process of its own; run by itself it is that process.
 * @module
 */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { peakOf } from "./connection.mjs";

const HERE = fileURLToPath(import.meta.url);
const MIB = 1024 * 1024;
const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));

/** Both SDKs are installed for the tests of real servers. */
const require = createRequire(new URL("../../../tests/e2e/package.json", import.meta.url));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

/** Runs one of the ways below in a process of its own. */
export async function apart(way, ...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [HERE, way, ...args.map(String)], { maxBuffer: MIB });
  return JSON.parse(stdout);
}

const MODULES = {
  1: {
    client: "@modelcontextprotocol/sdk/client/index.js",
    stdio: "@modelcontextprotocol/sdk/client/stdio.js",
    http: "@modelcontextprotocol/sdk/client/streamableHttp.js",
  },
  2: {
    client: "@modelcontextprotocol/client",
    stdio: "@modelcontextprotocol/client/stdio",
    http: "@modelcontextprotocol/client",
  },
};

async function called(client, version, bytes) {
  const start = performance.now();
  const rest = { timeout: 600_000, maxTotalTimeout: 600_000 };
  const params = { name: "bytes", arguments: { bytes } };
  const { content } = await (version === "1"
    ? client.callTool(params, undefined, rest)
    : client.callTool(params, rest));
  const time = performance.now() - start;
  const [block] = content;
  return { time, chars: (block.resource?.blob ?? block.text).length, peak: peakOf(process.pid) };
}

const ways = {
  /** Over stdio, with the cap raised. */
  async stdio(version, mebibytes) {
    const { Client } = await load(MODULES[version].client);
    const { StdioClientTransport } = await load(MODULES[version].stdio);
    const client = new Client({ name: "bench", version: "1" });
    const transport = { command: process.execPath, args: [SERVER], maxBufferSize: 4096 * MIB };
    await client.connect(new StdioClientTransport(transport));
    const seen = await called(client, version, mebibytes * MIB);
    await client.close();
    return seen;
  },
  /** Over HTTP, bare or with our fetch. */
  async http(version, mebibytes, url, gated, folder) {
    const { Client } = await load(MODULES[version].client);
    const { StreamableHTTPClientTransport } = await load(MODULES[version].http);
    const options = gated === "true" ? { fetch: await gatedFetch(folder) } : {};
    const client = new Client({ name: "bench", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
    const seen = await called(client, version, mebibytes * MIB);
    await client.close();
    return seen;
  },
  /** Over HTTP, read and thrown away: what any client of it takes at least. */
  async read(mebibytes, url) {
    const params = { name: "bytes", arguments: { bytes: mebibytes * MIB } };
    const start = performance.now();
    const response = await fetch(url, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    const reader = response.body.getReader();
    while (!(await reader.read()).done);
    return { time: performance.now() - start };
  },
};

async function gatedFetch(folder) {
  const { FileArtifactStore, gateFetch } = await import("../../../dist/node.js");
  return gateFetch(fetch, { store: new FileArtifactStore(folder), namespace: "bench" });
}

if (process.argv[1] === HERE) {
  const [way, ...rest] = process.argv.slice(2);
  console.log(JSON.stringify(await ways[way](...rest)));
  process.exit(0);
}
