/**
 * A server that runs as a process of its own, and goes when whoever started it goes.
 * @module
 */
import { spawn as spawnPlain, type ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import spawn from "cross-spawn";
import { SluiceError } from "../errors/error.js";

/** How a process ended: by itself with a code, or by a signal. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a server is started with. */
export interface ServerProcessOptions {
  readonly args?: readonly string[];
  /** The whole environment but for our own variables; that of this process where left out. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Where its standard error goes: to that of this process, or to be read from `stderr`. `inherit` when left out. */
  readonly stderr?: "inherit" | "pipe" | "ignore";
}

/** How long, in milliseconds, a server may take to end after SIGTERM. */
const GRACE = 2000;

/**
 * Ends a group of processes once its standard input closes, which it does also when we are killed. The group has two
 * seconds to end by itself.
 */
const WATCH = 'read -r _; kill -s TERM -- "-$0" && sleep 2 && kill -s KILL -- "-$0"';

const HAS_GROUPS = process.platform !== "win32";

/** Variables of our own, such as `SLUICE_PROXY_TOKEN`. Windows does not tell letters apart. */
const OWN_VARIABLE = /^SLUICE_/i;

/** An environment without our own variables, which may hold secrets: what every child process gets. */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OWN_VARIABLE.test(name)));
}

/** A running server. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #watch: ChildProcess | undefined;
  /** Settles when the process has ended and its output is read. */
  readonly ended: Promise<ProcessEnd>;
  #hasEnded = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#watch = HAS_GROUPS ? watch(child.pid as number) : undefined;
    // What is written to a process that has ended is lost, which its end tells.
    child.stdin?.on("error", () => undefined);
    child.once("exit", () => this.#endGroup());
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.#watch?.kill("SIGKILL");
        resolve({ code, signal });
      });
    });
  }

  /** Starts a command, without a shell. Throws E_MISUSE when it cannot be started. */
  static async start(command: string, options: ServerProcessOptions = {}): Promise<ServerProcess> {
    const { args = [], env, cwd, stderr = "inherit" } = options;
    const child = spawn(command, [...args], {
      stdio: ["pipe", "pipe", stderr],
      // A group of its own, so that what a starter like npx has started ends with it.
      detached: HAS_GROUPS,
      windowsHide: true,
      env: childEnvironment(env),
      ...(cwd !== undefined && { cwd }),
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error: NodeJS.ErrnoException) => reject(notStarted(command, error)));
    });
    child.on("error", () => undefined);
    return new ServerProcess(child);
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Its standard output, for one reader. */
  get output(): AsyncIterable<Uint8Array> {
    return this.#child.stdout as Readable;
  }

  /** Null unless it is piped. */
  get stderr(): Readable | null {
    return this.#child.stderr;
  }

  /** Writes to its standard input; settles when more can be taken. What comes after its end is lost. */
  async write(bytes: Uint8Array): Promise<void> {
    const input = this.#child.stdin as Writable;
    if (this.#hasEnded || !input.writable || input.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        input.off("drain", done).off("close", done);
        resolve();
      };
      input.once("drain", done).once("close", done);
    });
  }

  /** Closes its standard input. */
  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Sends a signal to it and to all that it started. */
  signal(signal: NodeJS.Signals): void {
    if (!HAS_GROUPS) {
      this.#child.kill(signal);
      return;
    }
    try {
      process.kill(-this.pid, signal);
    } catch {
      // None of them is there any more.
    }
  }

  /** Ends it: SIGTERM, and SIGKILL for what is still there two seconds later. */
  async stop(): Promise<ProcessEnd> {
    if (!this.#hasEnded) this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), GRACE);
    const end = await this.ended;
    clearTimeout(timer);
    return end;
  }

  /** Once it has ended, nothing that it started stays. */
  #endGroup(): void {
    this.#hasEnded = true;
    this.signal("SIGTERM");
    setTimeout(() => {
      this.signal("SIGKILL");
      // What left the group may hold the output open for as long as it likes.
      this.#child.stdout?.destroy();
      this.#child.stderr?.destroy();
    }, GRACE).unref();
  }
}

function watch(group: number): ChildProcess {
  const watcher = spawnPlain("/bin/sh", ["-c", WATCH, String(group)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: childEnvironment(),
  });
  // Without a shell the server is still told by the end of its input.
  watcher.on("error", () => undefined);
  watcher.stdin.on("error", () => undefined);
  watcher.unref();
  (watcher.stdin as Writable & { unref?: () => void }).unref?.();
  return watcher;
}

function notStarted(command: string, error: NodeJS.ErrnoException): SluiceError {
  const reason = error.code === "ENOENT" ? "there is no such command" : (error.code ?? "it failed");
  return new SluiceError("E_MISUSE", `cannot start ${JSON.stringify(command)}: ${reason}`, {}, { cause: error });
}
