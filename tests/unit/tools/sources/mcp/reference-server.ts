/**
 * The reference server over Streamable HTTP, which can be ended and started again at the same port.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = join(
  fileURLToPath(new URL("../../../../..", import.meta.url)),
  "node_modules/@modelcontextprotocol/server-everything/dist/transports/streamableHttp.js",
);

/** It, at one port. */
export class ReferenceServer implements AsyncDisposable {
  readonly url: string;
  readonly #port: number;
  #child: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}/mcp`;
  }

  static async open(): Promise<ReferenceServer> {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const server = new ReferenceServer(port);
    await server.start();
    return server;
  }

  /** It knows none of the sessions before. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, PORT: String(this.#port) },
    });
    this.#child = child;
    let isListening = false;
    for await (const line of createInterface({ input: child.stderr })) {
      isListening = line.includes("listening");
      if (isListening) break;
    }
    child.stderr.resume();
    if (!isListening) throw new Error("the reference server did not start");
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
