/**
 * A server in a process of its own, and clients that do as little as they can.
 * @module
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";

const MIB = 1024 * 1024;

/** The server, started. */
export class Served {
  #process;
  #orders = 0;
  #agent = new Agent({ keepAlive: true, maxSockets: Infinity });

  constructor(process, { port, plain, hono }) {
    this.#process = process;
    this.port = port;
    this.plain = plain;
    this.hono = hono;
  }

  static async start(folder, file) {
    const path = fileURLToPath(new URL("server.mjs", import.meta.url));
    const child = fork(path, [folder, file], { execArgv: ["--expose-gc"] });
    const [ports] = await new Promise((resolve, reject) => {
      child.once("message", (...said) => resolve(said));
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    return new Served(child, ports);
  }

  /** Has the server do something, and gives what comes of it. */
  async order(order, terms) {
    const id = ++this.#orders;
    const answer = new Promise((resolve) => {
      const heard = (said) => {
        if (said.id !== id) return;
        this.#process.off("message", heard);
        resolve(said.value);
      };
      this.#process.on("message", heard);
    });
    this.#process.send({ id, order, terms });
    return answer;
  }

  /** MiB in use, behind a collection. */
  async memory() {
    return (await this.order("memory")) / MIB;
  }

  /** MiB in use at the moment, however busy it is. */
  get rss() {
    const status = readFileSync(`/proc/${this.#process.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  }

  /** The response to a request, of which nothing is read yet. */
  open(path, { method = "GET", token, body, port = this.port, headers = {} } = {}) {
    return new Promise((resolve, reject) => {
      const said = { ...headers, ...(token && { authorization: `Bearer ${token}` }) };
      const asked = request({ host: "127.0.0.1", port, path, method, headers: said, agent: this.#agent }, resolve);
      asked.once("error", reject);
      asked.end(body);
    });
  }

  /** The JSON that a request comes to. */
  async json(path, terms) {
    const response = await this.open(path, terms);
    let text = "";
    for await (const piece of response.setEncoding("utf8")) text += piece;
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`);
    return text === "" ? null : JSON.parse(text);
  }

  /** A new session: its id and token. */
  session() {
    const headers = { "content-type": "application/json" };
    return this.json("/sessions", { method: "POST", body: '{"token":true}', headers });
  }

  async stop() {
    this.#agent.destroy();
    this.#process.disconnect();
    await new Promise((resolve) => this.#process.once("exit", resolve));
  }
}

/** The most memory that a server has while something is done. */
export async function peakDuring(served, work) {
  let peak = served.rss;
  const timer = setInterval(() => (peak = Math.max(peak, served.rss)), 50);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.max(peak, served.rss);
}
