/** Agents in processes of their own, which can be killed. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** What an agent prints. */
export interface Printed {
  readonly kind: string;
  readonly answer?: string;
  readonly resumeToken?: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly code?: string;
  readonly message?: string;
}

/** A Redis server in which runs wait. */
export interface RedisPlace {
  readonly url: string;
  /** See `RedisStateStore`. */
  readonly timeoutSeconds: number;
}

/** Where an agent works. */
export interface Place {
  readonly program: string;
  readonly folder: string;
  /** Where the model is, and the world that tools act on. */
  readonly origin: string;
  /** Where runs wait; in the folder, when left out. */
  readonly redis?: RedisPlace;
}

/** One process. */
export class Agent implements AsyncDisposable {
  /** The line that it prints. */
  readonly printed: Promise<Printed>;
  readonly #process: ChildProcess;
  readonly #closed: Promise<unknown>;

  /** `later`: milliseconds by which the clock of its state store is fast. */
  constructor({ program, folder, origin, redis }: Place, words: readonly string[], later = 0) {
    const core = new URL("../../../web/src/core/core.wasm", import.meta.url).href;
    const child = spawn(process.execPath, [program, folder, origin, core, String(later), ...words], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...(redis && { AGENT_REDIS: JSON.stringify(redis) }) },
    });
    this.#process = child;
    this.#closed = once(child, "close");
    this.printed = once(createInterface(child.stdout), "line").then(([line]) => JSON.parse(line as string) as Printed);
    // Some are killed before they print.
    this.printed.catch(() => undefined);
  }

  /** As `kill -9`. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
