/**
 * A server in a process of its own, which ends when its starter ends.
 * @module
 */
import { spawn as spawnPlain, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { SluiceError } from "../../errors/error.js";
import type { ServerOutput } from "./server-output.js";

/** How a process ended: with an exit code or by a signal. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Options for starting a server. */
interface ServerProcessOptions {
  readonly args?: readonly string[];
  /** The whole environment, except for our own variables. Defaults to that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /**
   * Where its standard error goes: inherited, or readable from `stderr`.
   * @defaultValue `"inherit"`
   */
  readonly stderr?: "inherit" | "pipe" | "ignore";
  /**
   * Its standard input: written to, or empty. A shell takes a pipe of Node's for a network connection, and reads its user's files.
   * @defaultValue `"pipe"`
   */
  readonly stdin?: "pipe" | "ignore";
  /**
   * Whether a chunk of its standard output is valid only until the next one is asked for. Much output is then read in less time.
   * @defaultValue false
   */
  readonly reusesMemory?: boolean;
}

/** Milliseconds that a server has to end after SIGTERM. */
const GRACE = 2000;

/**
 * Shell script that ends a process group when its standard input closes, which also happens when we are killed. The
 * group has two seconds to end by itself.
 */
const WATCH = 'read -r _; kill -s TERM -- "-$0" && sleep 2 && kill -s KILL -- "-$0"';

const HAS_GROUPS = process.platform !== "win32";

/** Our own variables, such as `SLUICE_PROXY_TOKEN`. Case-insensitive for Windows. */
const OWN_VARIABLE = /^SLUICE_/i;

/** Removes our own variables, which may hold secrets, from an environment for a child process. */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OWN_VARIABLE.test(name)));
}

/** A running server. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #watch: ChildProcess | undefined;
  /** Its standard output, if that is no pipe of the child's. */
  readonly #output: ServerOutput | undefined;
  /** Resolves when the process has ended and its output is read. */
  readonly ended: Promise<ProcessEnd>;
  #hasEnded = false;

  private constructor(child: ChildProcess, output: ServerOutput | undefined) {
    this.#child = child;
    this.#output = output;
    this.#watch = HAS_GROUPS ? watch(child.pid as number) : undefined;
    // Writes to a process that has ended are lost; its end is reported instead.
    child.stdin?.on("error", () => undefined);
    child.once("exit", () => this.#endGroup());
    this.ended = this.#end();
  }

  /** Starts a command without a shell. Throws E_MISUSE if it cannot be started. */
  static async start(command: string, options: ServerProcessOptions = {}): Promise<ServerProcess> {
    const { args = [], env, cwd, stdin = "pipe", stderr = "inherit", reusesMemory = false } = options;
    // Windows alone needs more than Node does by itself. It reads the environment as soon as it is loaded.
    const spawn = HAS_GROUPS ? spawnPlain : (await import("cross-spawn")).default;
    const output = reusesMemory ? await (await import("./server-output.js")).ServerOutput.open() : undefined;
    try {
      const child = spawn(command, [...args], {
        stdio: [stdin, output?.theirs ?? "pipe", stderr],
        // In a group of its own, so that what a launcher such as npx started ends with it.
        detached: HAS_GROUPS,
        windowsHide: true,
        env: childEnvironment(env),
        ...(cwd !== undefined && { cwd }),
      });
      await once(child, "spawn");
      child.on("error", () => undefined);
      return new ServerProcess(child, output);
    } catch (error) {
      output?.destroy();
      throw notStarted(command, error as NodeJS.ErrnoException);
    } finally {
      output?.handedOver();
    }
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Whether the process has ended. Its output may not be fully read. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Its standard output, for one reader. */
  get output(): AsyncIterable<Uint8Array> {
    return this.#output ?? (this.#child.stdout as Readable);
  }

  /** Its standard error; null unless piped. */
  get stderr(): Readable | null {
    return this.#child.stderr;
  }

  /** Writes to its standard input. Resolves when more can be written. Writes after its end are lost. */
  async write(bytes: Uint8Array): Promise<void> {
    const input = this.#child.stdin as Writable;
    if (this.#hasEnded || !input.writable || input.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        input.off("drain", finish).off("close", finish);
        resolve();
      };
      input.once("drain", finish).once("close", finish);
    });
  }

  /** Closes its standard input. */
  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Sends a signal to the process and everything it started. */
  signal(signal: NodeJS.Signals): void {
    if (!HAS_GROUPS) {
      this.#child.kill(signal);
      return;
    }
    try {
      process.kill(-this.pid, signal);
    } catch {
      // The group has already ended.
    }
  }

  /** Ends the process: SIGTERM, then SIGKILL two seconds later. */
  async stop(): Promise<ProcessEnd> {
    if (!this.#hasEnded) this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), GRACE);
    const end = await this.ended;
    clearTimeout(timer);
    return end;
  }

  async #end(): Promise<ProcessEnd> {
    const end = await new Promise<ProcessEnd>((resolve) => {
      this.#child.once("close", (code, signal) => resolve({ code, signal }));
    });
    await this.#output?.ended;
    // Ends what is left of the group.
    this.#watch?.stdin?.end();
    return end;
  }

  /** Ends everything that the process started, once it has ended. */
  #endGroup(): void {
    this.#hasEnded = true;
    this.signal("SIGTERM");
    if (this.#output?.isRead === false) this.#output.destroy();
    const timer = setTimeout(() => {
      this.signal("SIGKILL");
      // A process that left the group may keep the output open.
      this.#output?.destroy();
      this.#child.stdout?.destroy();
      this.#child.stderr?.destroy();
    }, GRACE);
    // Not unref'd before: a caller may wait for the end, and an unread pipe does not keep Node running.
    void this.ended.then(() => timer.unref());
  }
}

function watch(group: number): ChildProcess {
  const watcher = spawnPlain("/bin/sh", ["-c", WATCH, String(group)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: childEnvironment(),
  });
  // Without a shell the server still sees the end of its input.
  watcher.on("error", () => undefined);
  watcher.stdin.on("error", () => undefined);
  watcher.unref();
  (watcher.stdin as Writable & { unref?: () => void }).unref?.();
  return watcher;
}

function notStarted(command: string, error: NodeJS.ErrnoException): SluiceError {
  const reason =
    error.code === "ENOENT" ? "there is no such command; check its spelling and PATH" : (error.code ?? "it failed");
  return new SluiceError("E_MISUSE", `cannot start ${JSON.stringify(command)}: ${reason}`, {}, { cause: error });
}
