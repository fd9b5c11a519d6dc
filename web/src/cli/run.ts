/**
 * `sluice run`: a server that can write to one user's folder only.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename } from "node:path";
import { Transform, type Readable, type TransformCallback } from "node:stream";
import { text } from "node:stream/consumers";
import { SluiceError } from "../errors/error.js";
import { sandboxed } from "../files/local-workspaces.js";
import { workspaceName } from "../files/names.js";
import { deniedWrite, deniedWrites, refusalLine } from "../files/refusals.js";
import { Workspace, type WorkspaceOptions } from "../files/workspace/workspace.js";
import { inherited } from "../mcp/gated-stdio.js";
import type { FileRefusal } from "../tools/user-files.js";
import { childEnvironment, type ProcessEnd } from "../mcp/server-process.js";
import type { Invocation } from "./commands.js";
import { CommandError, Exit, UsageError } from "./exit.js";
import { switched } from "./file-flags.js";
import { endLike } from "./proxy/stdio.js";
import { defaultFolder } from "./store-folder.js";
import { printable } from "./terminal.js";

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
  const whose = { tool: basename(operands[0] ?? ""), user_id, tenant_id: invocation.value("tenant") ?? null };
  const end = await new Sandbox(argv, environment(invocation.values("env")), new DeniedWrites(whose)).ended;
  if (switched(invocation, "persist-files") === false) await workspace.clear();
  return endLike(end);
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

/** Bytes of a line that is looked at; the rest of a longer one only passes. */
const MAX_LINE = 16 * 1024;

/** Passes on what a command writes to its standard error, with a line behind each that tells of a write that was denied. */
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
    for (const path of deniedWrites(line)) {
      const said = {
        where: "write" as const,
        ...this.#whose,
        time: new Date().toISOString(),
        error: deniedWrite(path),
      };
      this.push(`sluice: ${printable(refusalLine(said))}\n`);
    }
  }
}

const NEWLINE = 10;

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

  constructor([program = "", ...args]: readonly string[], env: NodeJS.ProcessEnv, errors: Transform) {
    const passOn = (signal: NodeJS.Signals): void => void this.#signal(signal);
    // Before it is started: what comes at once is passed on as well.
    for (const signal of SIGNALS) process.on(signal, passOn);
    this.#outer = spawn(program, ["--info-fd", String(INFO), ...args], {
      // A terminal is the command's own: whoever sits there sees what it writes.
      stdio: ["inherit", "inherit", process.stderr.isTTY ? "inherit" : "pipe", "pipe"],
      env: childEnvironment(env),
      // A terminal's signals come to us alone, and from us to the command.
      detached: true,
    });
    this.#outer.stderr?.pipe(errors).pipe(process.stderr, { end: false });
    this.#inner = innerOf(this.#outer.stdio[INFO] as Readable);
    this.ended = new Promise((resolve, reject) => {
      this.#outer.once("error", reject);
      // Once all that it wrote has come.
      this.#outer.once("close", (code, signal) => resolve({ code, signal }));
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
