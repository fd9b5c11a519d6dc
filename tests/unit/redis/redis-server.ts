/** A real Redis server in a folder of its own, for as long as a test takes. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createClient } from "@redis/client";

/** Runs the server until standard input ends, which it does with this process, however that ends; says its process id. */
const GUARDED = 'redis-server "$@" >/dev/null & echo $!; cat >/dev/null; kill -9 $! 2>/dev/null; wait';
const PLAIN = ["--bind", "127.0.0.1", "--loglevel", "warning", "--save", ""];

/** What is said to be done is on the disk. */
export const DURABLE = ["--appendonly", "yes", "--appendfsync", "always"];

export class TestRedis implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #options: readonly string[];
  #guard: ChildProcess | undefined;
  #pid = 0;

  private constructor(port: number, folder: string, options: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#options = options;
  }

  /** A server with these words of its command line. Throws where it does not run. */
  static async started(...options: readonly string[]): Promise<TestRedis> {
    const folder = await mkdtemp(join(tmpdir(), "sluice-redis-"));
    const redis = new TestRedis(await freePort(), folder, options);
    await redis.start();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Again, with what is in its folder. */
  async start(): Promise<void> {
    const words = ["--port", String(this.port), "--dir", this.#folder, ...PLAIN, ...this.#options];
    const guard = spawn("sh", ["-c", GUARDED, "sh", ...words], { stdio: ["pipe", "pipe", "inherit"] });
    this.#guard = guard;
    const [line] = (await once(createInterface(guard.stdout), "line")) as [string];
    this.#pid = Number(line);
    // Whatever it asks for: who refuses is there.
    const probe = createClient({ url: this.url, RESP: 2, disableClientInfo: true });
    probe.on("error", () => undefined);
    await probe.connect();
    await probe.sendCommand(["PING"]).catch(() => undefined);
    probe.destroy();
  }

  /** As `kill -9`. */
  async kill(): Promise<void> {
    await this.#ended(() => this.signal("SIGKILL"));
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.#pid, name);
  }

  /** The reply to a command, as somebody else gets it. */
  async command(...words: readonly string[]): Promise<unknown> {
    const client = createClient({ url: this.url, RESP: 2, disableClientInfo: true });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return await client.sendCommand(words);
    } finally {
      client.destroy();
    }
  }

  /** All but that of the version, which stays. */
  async keys(): Promise<readonly string[]> {
    return ((await this.command("KEYS", "*")) as string[]).filter((key) => !key.endsWith("}:version")).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ended(() => undefined);
    await rm(this.#folder, { recursive: true });
  }

  async #ended(first: () => void): Promise<void> {
    const guard = this.#guard;
    if (guard === undefined) return;
    this.#guard = undefined;
    first();
    guard.stdin?.end();
    await once(guard, "close");
  }
}

/** A port that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
