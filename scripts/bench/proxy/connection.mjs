/**
 * Connections to the server of this folder, and to the proxy in front of it.
 * @module
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../run.mjs";

const SERVER = [process.execPath, fileURLToPath(new URL("server.mjs", import.meta.url))];
const NEWLINE = 0x0a;

/** The server of this folder, and the proxy in front of it. */
export const DIRECT = SERVER;
export const proxied = (store) => [
  process.execPath,
  join(root, "dist/cli/main.js"),
  "proxy",
  "--store",
  store,
  "--",
  ...SERVER,
];

/** The most memory that a process had, in MiB. `resourceUsage` counts what its starter had as well. */
export function peakOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** A process to which requests are sent, one line each. */
export class Connection {
  #process;
  #chunks = [];
  #waiting = [];

  constructor([command, ...args]) {
    this.#process = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
    this.#process.stdout.on("data", (chunk) => this.#take(chunk));
  }

  static async open(command) {
    const connection = new Connection(command);
    const clientInfo = { name: "bench", version: "1" };
    await connection.request(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    return connection;
  }

  /** Sends a request, and gives the next line that comes, as its chunks; none of them unless it is kept. */
  request(id, method, params, { isKept = true } = {}) {
    return new Promise((resolve) => {
      this.#waiting.push({ resolve, isKept });
      this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  /** Calls the tool that answers with so many bytes. */
  bytes(id, bytes, options) {
    return this.request(id, "tools/call", { name: "bytes", arguments: { bytes } }, options);
  }

  /** The most memory the process had, in MiB. */
  get peak() {
    return peakOf(this.#process.pid);
  }

  close() {
    this.#process.stdin.end();
    return new Promise((resolve) => this.#process.once("close", resolve));
  }

  #take(chunk) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, at));
      const line = this.#chunks;
      this.#chunks = [];
      this.#waiting.shift()?.resolve(line);
      from = at + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  #keep(chunk) {
    if (this.#waiting[0]?.isKept !== false) this.#chunks.push(chunk);
  }
}
