/**
 * A client of an MCP server on standard streams, as small as can be. The SDKs' own refuse a result of 80 MB, or take minutes for it,
 * and a benchmark has to see what comes without Sluice as well.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** The first byte of every message. */
const OBJECT = "{".charCodeAt(0);

/**
 * Starts a server with this node, says hello, and lists its tools.
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 */
export async function connect(args, { cwd, env } = {}) {
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "pipe"],
    cwd,
    env: { ...process.env, ...env },
  });
  const waiting = new Map();
  let errors = "";
  let pieces = [];
  child.stderr.setEncoding("utf8").on("data", (text) => (errors = (errors + text).slice(-2000)));
  child.stdout.on("data", (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end));
      const line = Buffer.concat(pieces);
      pieces = [];
      from = end + 1;
      // Some servers greet first.
      if (line[0] !== OBJECT) continue;
      const message = JSON.parse(line.toString());
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
    call: (name, given) => ask("tools/call", { name, arguments: given }),
    async close() {
      child.stdin.end();
      await gone.catch(() => {});
    },
  };
}
