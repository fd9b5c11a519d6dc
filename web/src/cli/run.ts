/**
 * `sluice run`: a server that can write to one user's folder only.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { SluiceError } from "../errors/error.js";
import { sandboxed } from "../files/local-workspaces.js";
import { workspaceName } from "../files/names.js";
import { Workspace, type WorkspaceOptions } from "../files/workspace/workspace.js";
import { inherited } from "../mcp/gated-stdio.js";
import { childEnvironment, type ProcessEnd } from "../transports/server-process.js";
import type { Invocation } from "./commands.js";
import { CommandError, Exit, UsageError } from "./exit.js";
import { endLike } from "./proxy/stdio.js";
import { defaultFolder } from "./store.js";

/** Ends with the exit code of the command. Throws UsageError, and SluiceError where it cannot be sandboxed. */
export async function run(invocation: Invocation): Promise<number> {
  const user_id = invocation.value("user");
  if (user_id === undefined) throw new UsageError("say whose server it is with --user NAME", "run");
  const { operands } = invocation;
  if (operands.length === 0) {
    throw new UsageError("run needs a command: sluice run --user NAME -- COMMAND ARGS…", "run");
  }
  const root = invocation.value("tmp");
  const name = await workspaceName({ tenant_id: invocation.value("tenant") ?? null, user_id });
  const workspace = await opened({ name, ...(root !== undefined && { root }) });
  const hide = [...(await ownStore()), ...invocation.values("hide")];
  const argv = await sandboxed(operands, { workspace, hide });
  return endLike(await new Sandbox(argv, environment(invocation.values("env"))).ended);
}

/** Who reads of a store would look for it in the wrong place. */
async function opened(options: WorkspaceOptions): Promise<Workspace> {
  try {
    return await Workspace.open(options);
  } catch (error) {
    if (!(error instanceof SluiceError) || !error.code.startsWith("E_STORE_")) throw error;
    throw new CommandError(Exit.create, error.message, { cause: error });
  }
}

/** Made where there is none: a store that comes into being later must not be seen either. */
async function ownStore(): Promise<readonly string[]> {
  const folder = defaultFolder(process.env, process.platform, homedir());
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
  return (await stat(folder).catch(() => undefined)) === undefined ? [] : [folder];
}

function environment(names: readonly string[]): NodeJS.ProcessEnv {
  return { ...inherited(), ...Object.fromEntries(names.map((name) => [name, process.env[name]])) };
}

/** Signals that are the command's, not ours. */
const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
/** Those that ask it to end. */
const ENDS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP"];

/** How long, in milliseconds, a command may take to end after such a signal. */
const GRACE = 2000;

/** Where bubblewrap tells of the process that it made; the streams before it are the command's. */
const INFO = 3;

/** Runs until the command has ended; passes signals on meanwhile. */
class Sandbox {
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
