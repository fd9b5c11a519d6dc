/**
 * A host that started the proxy, and can be as rude as hosts are.
 * @module
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { COMMAND } from "../../unit/cli/command.js";

const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));

/** A message, parsed. */
export interface Answer {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly result?: { readonly content?: readonly { readonly type: string; readonly text?: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

/** How a host starts the proxy. */
export interface HostOptions {
  readonly options?: readonly string[];
  readonly server?: readonly string[];
  readonly store: string;
  /** A shell command in front, such as `ulimit -f 100;`. */
  readonly before?: string;
  /** A shell command behind: then the shell stays, and is the proxy's host. */
  readonly after?: string;
}

/** The proxy in front of the server with faults. */
export class Host implements AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly messages: Answer[] = [];
  readonly lines: string[] = [];
  errors = "";
  /** How it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  #partial = "";
  #lastId = 0;
  #wake = new Set<() => void>();

  constructor({ options = [], server = [], store, before = "", after = "" }: HostOptions) {
    const words = [process.execPath, COMMAND, "proxy", "--store", store, ...options, "--", process.execPath, SERVER];
    const quoted = [...words, ...server].map((word) => `'${word}'`).join(" ");
    this.process = spawn("/bin/sh", ["-c", `${before} ${after === "" ? "exec" : ""} ${quoted}${after}`], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.process.stdout.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    this.process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.errors += text;
      this.#changed();
    });
    this.process.stdin.on("error", () => undefined);
    this.ended = once(this.process, "close").then(([code, signal]: unknown[]) => {
      this.#changed();
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
  }

  /** A host whose server has been initialized. */
  static async open(options: HostOptions): Promise<Host> {
    const host = new Host(options);
    const clientInfo = { name: "host", version: "1" };
    await host.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    host.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return host;
  }

  /** Sends a message, or a line as it is. */
  send(message: object | string): void {
    this.process.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  }

  /** Sends a request, and gives the answer. */
  async request(method: string, params: object = {}): Promise<Answer> {
    const id = this.begin(method, params);
    return this.answer(id);
  }

  /** Sends a request, and gives its id. */
  begin(method: string, params: object = {}): number {
    const id = (this.#lastId += 1);
    this.send({ jsonrpc: "2.0", id, method, params });
    return id;
  }

  call(name: string, args: object = {}): Promise<Answer> {
    return this.request("tools/call", { name, arguments: args });
  }

  answer(id: number): Promise<Answer> {
    return this.until(() => this.messages.find((message) => message.id === id && message.method === undefined));
  }

  /** Waits until there is something. */
  async until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.process.exitCode !== null) throw new Error(`the proxy is gone: ${this.errors}`);
      await new Promise<void>((resolve) => this.#wake.add(resolve));
    }
  }

  /** The most memory that the proxy has had, in MiB. */
  get peak(): number {
    const status = readFileSync(`/proc/${this.process.pid ?? 0}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.stdin.end();
    this.process.kill("SIGKILL");
    await this.ended;
  }

  #take(text: string): void {
    const lines = (this.#partial + text).split("\n");
    this.#partial = lines.pop() ?? "";
    for (const line of lines) {
      this.lines.push(line);
      this.messages.push(JSON.parse(line) as Answer);
    }
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#wake) wake();
    this.#wake.clear();
  }
}

/** Whether a process runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie is as good as gone: nobody waits for it here.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
