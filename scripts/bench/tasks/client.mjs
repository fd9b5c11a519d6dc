/**
 * A client of an MCP server on standard streams, as small as can be. The SDKs' own refuse a result of 80 MB, or take minutes for it,
 * and the benchmark has to see what comes without Sluice as well.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../run.mjs";

const FILESYSTEM = join(root, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const ATTACHMENTS = fileURLToPath(new URL("server.mjs", import.meta.url));
const COMMAND = join(root, "dist/cli/main.js");

/** How each server is started over a folder. */
const SERVERS = {
  filesystem: (folder) => [FILESYSTEM, folder],
  attachments: (folder) => [ATTACHMENTS, folder],
};

/** A server as it is. */
export const plain = (server, folder) => connect(SERVERS[server](folder));

/** The same behind `sluice proxy`, which stores in the folder `store`. */
export const proxied = (server, folder, store) =>
  connect([
    COMMAND,
    "proxy",
    "--store",
    store,
    "--namespace",
    server,
    "--",
    process.execPath,
    ...SERVERS[server](folder),
  ]);

/** Starts a server, says hello, and lists its tools. */
async function connect(args) {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
  const waiting = new Map();
  let errors = "";
  let pieces = [];
  child.stderr.setEncoding("utf8").on("data", (text) => (errors = (errors + text).slice(-2000)));
  child.stdout.on("data", (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end));
      const message = JSON.parse(Buffer.concat(pieces).toString());
      pieces = [];
      from = end + 1;
      if (message.method === undefined) waiting.get(message.id)?.(message);
      else if (message.id !== undefined) send({ id: message.id, error: { code: -32601, message: "Method not found" } });
    }
    pieces.push(chunk.subarray(from));
  });
  const gone = once(child, "exit").then(([code]) => {
    throw new Error(`The server ended with ${code}: ${errors}`);
  });
  gone.catch(() => {});
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  const ask = async (method, params) => {
    const id = (last += 1);
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    const { result, error } = await Promise.race([answer, gone]);
    waiting.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const { instructions = "" } = await ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  });
  send({ method: "notifications/initialized" });
  const { tools } = await ask("tools/list", {});
  return {
    instructions,
    tools,
    call: async (name, given) => shown(await ask("tools/call", { name, arguments: given })),
    async close() {
      child.stdin.end();
      await gone.catch(() => {});
    },
  };
}

/** What a host shows a model of a result: its blocks, texts as they are, the bytes of the others as base64. */
function shown({ content, isError }) {
  const texts = content.map((block) => block.text ?? block.resource?.text ?? JSON.stringify(block));
  return { text: texts.join("\n"), isError: isError === true };
}
