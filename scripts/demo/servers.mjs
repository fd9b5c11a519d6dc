/**
 * Real MCP servers over stdio, each behind an official SDK client.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Starts the demo's servers, `filesystem` on `folder`.
 * @param {string} folder
 * @returns {Promise<{ tableau: Client, everything: Client, filesystem: Client }>}
 */
export async function startServers(folder) {
  const [tableau, everything, filesystem] = await Promise.all([
    start([fileURLToPath(new URL("tableau-server.mjs", import.meta.url))]),
    start([program("@modelcontextprotocol/server-everything", "mcp-server-everything"), "stdio"]),
    start([program("@modelcontextprotocol/server-filesystem", "mcp-server-filesystem"), folder]),
  ]);
  return { tableau, everything, filesystem };
}

// The script behind a package's command, run by this very node.
function program(name, command) {
  const folder = join(root, "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return join(folder, typeof bin === "string" ? bin : bin[command]);
}

async function start(args) {
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: "ignore", cwd: root });
  const client = new Client({ name: "sluice-demo", version: "1.0.0" });
  await client.connect(transport);
  return client;
}
