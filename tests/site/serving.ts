/**
 * `sluice serve` as a process of its own, with its playground, for as long as tests take.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../unit/redis/redis-server.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const COMMAND = here("../../dist/cli/main.js");

/** The server of MCP that it has, as the sources of a configuration name it. */
export const TOOLS = {
  name: "tools",
  transport: "mcp",
  connection: `${process.execPath} ${here("served-tools.mjs")}`,
} as const;

/** A server that can die and come back where it was. */
export interface Serving extends AsyncDisposable {
  /** Ends with `/`. */
  readonly url: string;
  /** A folder that goes with it. */
  readonly folder: string;
  /** Starts it, and waits until it listens. */
  start(): Promise<void>;
  /** As `kill -9`. */
  kill(): Promise<void>;
}

/** Serves by a configuration. */
export async function serving(config: object, env: Readonly<Record<string, string>> = {}): Promise<Serving> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-serving-"));
  const file = join(folder, "serve.json");
  await writeFile(file, JSON.stringify({ store: join(folder, "store"), ...config }));
  const address = `127.0.0.1:${await freePort()}`;
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const args = [COMMAND, "serve", "--listen", address, "--config", file];
    server = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
    await listening(server);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill(signal);
    await ended;
  }

  await start();
  return {
    url: `http://${address}/`,
    folder,
    start,
    kill: () => end("SIGKILL"),
    [Symbol.asyncDispose]: async () => {
      await end("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A line to a server that can be cut. */
export interface Relay extends AsyncDisposable {
  /** Ends with `/`. */
  readonly url: string;
  /** Connections that were cut. */
  readonly breaks: number;
  /** Cuts all connections that there are; new ones can be made. */
  breakAll(): void;
}

/** Another address of what listens at a port. */
export async function relay(port: number): Promise<Relay> {
  const open = new Set<Socket>();
  let breaks = 0;
  const line = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const end of [near, far]) {
      open.add(end);
      end.on("error", () => undefined);
      end.once("close", () => {
        open.delete(end);
        near.destroy();
        far.destroy();
      });
    }
  });
  line.listen(0, "127.0.0.1");
  await once(line, "listening");
  const breakAll = (): void => {
    for (const end of open) {
      breaks += 1;
      end.destroy();
    }
  };
  return {
    url: `http://127.0.0.1:${(line.address() as AddressInfo).port}/`,
    get breaks() {
      return breaks;
    },
    breakAll,
    [Symbol.asyncDispose]: async () => {
      const closed = once(line, "close");
      line.close();
      breakAll();
      await closed;
    },
  };
}

function listening({ stderr }: ChildProcess): Promise<void> {
  let said = "";
  return new Promise((resolve, reject) => {
    stderr?.on("data", (text: Buffer) => {
      said = (said + text.toString()).slice(-10_000);
      if (said.includes("listening on")) resolve();
    });
    stderr?.once("close", () => reject(new Error(`It does not listen: ${said}`)));
  });
}
