/**
 * `sluice run`: runs a server that can write only to one user's folder.
 *
 * The operands and options are in `commands/serve.ts`.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename } from "node:path";
import { Transform, type Readable, type TransformCallback } from "node:stream";
import { text } from "node:stream/consumers";
import { SluiceError } from "../errors/error.js";
import { buildSandboxCommand } from "../files/local-workspaces.js";
import { workspaceName } from "../files/names.js";
import { toDeniedWriteError, findDeniedWrites, refusalLine } from "../files/tool-text.js";
import { Workspace, type WorkspaceOptions } from "../files/workspace/workspace.js";
import { listInherited } from "../mcp/stdio/gated-stdio.js";
import type { FileRefusal } from "../tools/user-files.js";
import { childEnvironment, type ProcessEnd } from "../mcp/stdio/server-process.js";
import type { Invocation } from "./command.js";
import { CommandError, Exit, UsageError } from "./exit.js";
import { readSwitch } from "./configuration.js";
import { endLike } from "./proxy/stdio.js";
import { defaultFolder } from "./store/folders.js";
import { printable } from "./terminal/terminal.js";

/** Returns the command's exit code. Throws UsageError, and SluiceError if the sandbox is unavailable. */
export async function run(invocation: Invocation): Promise<number> {
  const user_id = invocation.value("user");
  const { operands } = invocation;
  if (user_id === undefined || operands.length === 0) {
    throw new UsageError("run needs a user and a command: sluice run --user NAME -- COMMAND ARGS…", "run");
  }
  const root = invocation.value("tmp");
  const name = await workspaceName({ tenant_id: invocation.value("tenant") ?? null, user_id });
  const workspace = await openWorkspace({ name, ...(root !== undefined && { root }) });
  const hide = [...(await ownStore()), ...invocation.values("hide")];
  const argv = await buildSandboxCommand(operands, { workspace, hide });
  const whose = { tool: basename(operands[0] ?? ""), user_id, tenant_id: invocation.value("tenant") ?? null };
  const end = await new Sandbox(argv, environment(invocation.values("env")), new DeniedWrites(whose)).ended;
  if (readSwitch(invocation, "persist-files") === false) await workspace.clear();
  return endLike(end);
}

/** Opens the user's folder. Replaces errors of a store, whose sentences would send the reader to the wrong place. */
async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  try {
    return await Workspace.open(options);
  } catch (error) {
    if (!(error instanceof SluiceError) || !error.code.startsWith("E_STORE_")) throw error;
    throw new CommandError(Exit.create, error.message, { cause: error });
  }
}

/** The default store's folder. Created if missing, so that a store made later is hidden as well. */
async function ownStore(): Promise<readonly string[]> {
  const folder = defaultFolder(process.env, process.platform, homedir());
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
  return (await stat(folder).catch(() => undefined)) === undefined ? [] : [folder];
}

function environment(names: readonly string[]): NodeJS.ProcessEnv {
  return { ...listInherited(), ...Object.fromEntries(names.map((name) => [name, process.env[name]])) };
}

/** Bytes of a line that are searched. The rest of a longer line only passes through. */
const MAX_LINE = 16 * 1024;

/** Passes on a command's standard error. Adds a line after each line that reports a denied write. */
class DeniedWrites extends Transform {
  readonly #whose: Pick<FileRefusal, "tool" | "user_id" | "tenant_id">;
  #line = Buffer.alloc(0);

  constructor(whose: Pick<FileRefusal, "tool" | "user_id" | "tenant_id">) {
    super();
    this.#whose = whose;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.push(chunk.subarray(from, end + 1));
      this.#take(chunk.subarray(from, end));
      this.#tell();
      from = end + 1;
    }
    this.push(chunk.subarray(from));
    this.#take(chunk.subarray(from));
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#tell();
    done();
  }

  #take(bytes: Buffer): void {
    this.#line = Buffer.concat([this.#line, bytes.subarray(0, MAX_LINE - this.#line.length)]);
  }

  #tell(): void {
    const line = this.#line.toString();
    this.#line = Buffer.alloc(0);
    for (const path of findDeniedWrites(line)) {
      const said = {
        where: "write" as const,
        ...this.#whose,
        time: new Date().toISOString(),
        error: toDeniedWriteError(path),
      };
      this.push(`sluice: ${printable(refusalLine(said))}\n`);
    }
  }
}

const NEWLINE = 10;

/** Signals that are passed on to the command. */
const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
/** Those that ask it to end. */
const ENDS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP"];

/** Milliseconds that a command may take to end after such a signal. */
const GRACE = 2000;

/** File descriptor on which bubblewrap reports the process that it started. */
const INFO = 3;

/** A command under bubblewrap. Passes signals on to it until it has ended. */
class Sandbox {
  /** How it ended. */
  readonly ended: Promise<ProcessEnd>;
  readonly #outer: ChildProcess;
  /** The first process inside, which leads the command's process group. */
  readonly #inner: Promise<number | undefined>;

  constructor([program = "", ...args]: readonly string[], env: NodeJS.ProcessEnv, errors: Transform) {
    const passOn = (signal: NodeJS.Signals): void => void this.#signal(signal);
    // Before it starts, so that no signal is missed.
    for (const signal of SIGNALS) process.on(signal, passOn);
    this.#outer = spawn(program, ["--info-fd", String(INFO), ...args], {
      // On a terminal the person sees the command's errors, so they need no scanning.
      stdio: ["inherit", "inherit", process.stderr.isTTY ? "inherit" : "pipe", "pipe"],
      env: childEnvironment(env),
      // Signals of the terminal reach us alone, and we pass them on.
      detached: true,
    });
    this.#outer.stderr?.pipe(errors).pipe(process.stderr, { end: false });
    this.#inner = readInnerPid(this.#outer.stdio[INFO] as Readable);
    this.ended = new Promise((resolve, reject) => {
      this.#outer.once("error", reject);
      // `close` comes after all output.
      this.#outer.once("close", (code, signal) => resolve({ code, signal }));
    });
    const over = (): void => SIGNALS.forEach((signal) => void process.off(signal, passOn));
    this.ended.then(over, over);
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    // Killing the outer process kills everything inside.
    if (ENDS.includes(signal)) setTimeout(() => this.#outer.kill("SIGKILL"), GRACE).unref();
    const inner = await this.#inner;
    try {
      if (inner === undefined) throw new Error("there is none yet");
      process.kill(-inner, signal);
    } catch {
      // The sandbox is still being set up, so no command could handle the signal.
      this.#outer.kill("SIGKILL");
    }
  }
}

/** The process that bubblewrap started; undefined if it ended before. */
async function readInnerPid(info: Readable): Promise<number | undefined> {
  const said = await text(info).catch(() => "");
  const [, pid] = /"child-pid": *(\d+)/.exec(said) ?? [];
  return pid === undefined || Number(pid) <= 1 ? undefined : Number(pid);
}
