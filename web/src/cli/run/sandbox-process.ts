/**
 * A command in its sandbox, as a process of ours.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { childEnvironment, type ProcessEnd } from "../../transports/server-process.js";

/** Signals that are the command's, not ours. */
const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
/** Those that ask it to end. */
const ENDS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP"];

/** How long, in milliseconds, a command may take to end after such a signal. */
const GRACE = 2000;

/** Where bubblewrap tells of the process that it made; the streams before it are the command's. */
const INFO = 3;

/** Runs until the command has ended; passes signals on meanwhile. */
export class Sandbox {
  /** How it ended. */
  readonly ended: Promise<ProcessEnd>;
  readonly #outer: ChildProcess;
  /** The first process within, which leads the group that the command is in. */
  readonly #inner: Promise<number | undefined>;

  constructor([program = "", ...args]: readonly string[], env: NodeJS.ProcessEnv) {
    const passOn = (signal: NodeJS.Signals): void => void this.#signal(signal);
    // Before it is started: what comes at once is passed on as well.
    for (const signal of SIGNALS) process.on(signal, passOn);
    this.#outer = spawn(program, ["--info-fd", String(INFO), ...args], {
      stdio: ["inherit", "inherit", "inherit", "pipe"],
      env: childEnvironment(env),
      // A terminal's signals come to us alone, and from us to the command.
      detached: true,
    });
    this.#inner = innerOf(this.#outer.stdio[INFO] as Readable);
    this.ended = new Promise((resolve, reject) => {
      this.#outer.once("error", reject);
      this.#outer.once("exit", (code, signal) => resolve({ code, signal }));
    });
    const over = (): void => SIGNALS.forEach((signal) => void process.off(signal, passOn));
    this.ended.then(over, over);
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    // All within is killed with the process that holds it.
    if (ENDS.includes(signal)) setTimeout(() => this.#outer.kill("SIGKILL"), GRACE).unref();
    const inner = await this.#inner;
    try {
      if (inner === undefined) throw new Error("there is none yet");
      process.kill(-inner, signal);
    } catch {
      // The sandbox is still being made: there is no command yet that could do anything about it.
      this.#outer.kill("SIGKILL");
    }
  }
}

/** Undefined where bubblewrap ended before it made one. */
async function innerOf(info: Readable): Promise<number | undefined> {
  const said = await text(info).catch(() => "");
  const [, pid] = /"child-pid": *(\d+)/.exec(said) ?? [];
  return pid === undefined || Number(pid) <= 1 ? undefined : Number(pid);
}
