/**
 * Runs commands one after the other, each in its own process group, and streams their output.
 * @module
 */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { env as ours, platform } from "node:process";
import type { Readable } from "node:stream";
import { onAbort, untilAborted } from "../../../core/abort.js";
import { Tail, decodePieces } from "../../../jsonrpc/bytes.js";
import { ServerProcess } from "../../../mcp/stdio/server-process.js";
import { quoteName, wrong } from "../../errors.js";

/** How the last command ended. */
export interface Outcome {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of its standard error. */
  readonly errors: string;
}

/** A command that is ready to start. */
interface ReadyStep {
  /** Its words. They may depend on the output of earlier commands. */
  readonly words: (outputs: readonly string[]) => readonly string[];
  readonly isShown: boolean;
}

/** What commands run with. */
export interface Running {
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string | null;
  readonly signal: AbortSignal;
  /** The running processes. */
  readonly processes: Set<ServerProcess>;
  /** The start of error messages. */
  readonly subject: string;
  /** Returns the words that start a command for its user. Defaults to the words themselves. */
  readonly command?: (words: readonly string[]) => Promise<readonly string[]>;
}

/** Maximum characters of standard error that are kept. */
const MAX_ERRORS = 65_536;
/** Maximum bytes of an output that later commands can use. */
const MAX_REFERRED = 131_072;

/** Environment variables that programs need. Others may be secrets. */
const NEEDED: readonly string[] =
  platform === "win32"
    ? "PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC TEMP TMP USERPROFILE USERNAME HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROCESSOR_ARCHITECTURE".split(
        " ",
      )
    : "PATH HOME LANG LC_ALL LC_CTYPE USER LOGNAME SHELL TERM TZ TMPDIR".split(" ");

/** The environment of a command: a few harmless variables of this process, and the given ones. */
export function environment(
  inherited: readonly string[] | null,
  ...given: readonly Readonly<Record<string, string>>[]
): Readonly<Record<string, string>> {
  const taken = (inherited ?? NEEDED).flatMap((name): [string, string][] => {
    const value = ours[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.assign(Object.fromEntries(taken), ...given) as Record<string, string>;
}

/** Commands that run when their output is read. The first failure ends the run. */
export class CommandRun {
  readonly #steps: readonly ReadyStep[];
  readonly #running: Running;
  #folder: string | null;
  #outcome: Outcome = { code: 0, signal: null, errors: "" };

  constructor(steps: readonly ReadyStep[], running: Running) {
    this.#steps = steps;
    this.#running = running;
    this.#folder = running.folder;
  }

  /** How the last command ended. Valid once the output has been read. */
  get outcome(): Outcome {
    return this.#outcome;
  }

  /** Whether all commands succeeded. */
  get isSuccess(): boolean {
    return this.#outcome.code === 0;
  }

  /**
   * The output of the commands that show it.
   *
   * @throws ToolNodeError E_TOOL_CONFIG if a command cannot be started; the signal's reason.
   */
  async *output(): AsyncGenerator<Uint8Array> {
    const outputs: string[] = [];
    const { command = async (words: readonly string[]) => words } = this.#running;
    for (const { words: wordsAfter, isShown } of this.#steps) {
      const words = wordsAfter(outputs);
      const [program = "", ...args] = words;
      if (program === "cd" && args.length === 1) {
        this.#folder = resolve(this.#folder ?? ".", args[0] as string);
        outputs.push("");
        continue;
      }
      const kept = new Tail(MAX_REFERRED);
      const [started = "", ...rest] = await command(words);
      for await (const piece of this.#run(started, rest)) {
        if (this.#steps.length > 1) kept.add(piece);
        if (isShown) yield piece;
      }
      outputs.push(tailText(kept).replace(/[\r\n]+$/, ""));
      if (!this.isSuccess) return;
    }
  }

  async *#run(program: string, args: readonly string[]): AsyncGenerator<Uint8Array> {
    const { signal, processes } = this.#running;
    const child = await this.#start(program, args);
    processes.add(child);
    const stop = (): void => void child.stop().catch(() => undefined);
    const forget = onAbort(signal, stop);
    try {
      signal.throwIfAborted();
      const errors = new Tail(MAX_ERRORS);
      (child.stderr as Readable).on("data", (piece: Uint8Array) => errors.add(piece));
      yield* eachUntilAborted(child.output, signal);
      const { code, signal: killer } = await untilAborted(child.ended, signal);
      this.#outcome = { code, signal: killer, errors: tailText(errors) };
    } finally {
      forget();
      // Also reached when the reader stops early.
      void child.stop().finally(() => processes.delete(child));
    }
  }

  async #start(program: string, args: readonly string[]): Promise<ServerProcess> {
    const { env, subject, signal } = this.#running;
    signal.throwIfAborted();
    try {
      return await ServerProcess.start(program, {
        args,
        env,
        stdin: "ignore",
        stderr: "pipe",
        ...(this.#folder !== null && { cwd: this.#folder }),
      });
    } catch {
      // The original error contains the program's path.
      const folder = this.#folder === null ? "" : ", and that the working_dir exists";
      const remedy = `check that it is installed, is on the PATH, and may be run${folder}`;
      throw wrong(`${subject} cannot start its program ${quoteName(programName(program))}: ${remedy}.`);
    }
  }
}

function tailText({ bytes, isCut }: Tail): string {
  const text = decodePieces([bytes]);
  return isCut ? `…${text.replace(/^\ufffd+/, "")}` : text;
}

async function* eachUntilAborted(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  for (;;) {
    const { done = false, value } = await untilAborted(iterator.next(), signal);
    if (done) return;
    yield value;
  }
}

/** Maximum number of folders to search. */
const MAX_FOLDERS = 1000;

/** A program's name without its folder. */
export function programName(program: string): string {
  return program.split(/[/\\]/).pop() ?? "";
}

/** Whether a program exists, as a path or on the `PATH` of the environment. True if that is unknown. */
export async function isProgram(program: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  const isPath = platform === "win32" ? /[/\\:]/.test(program) : program.includes("/");
  const folders = isPath ? [""] : readPath(env)?.split(delimiter).slice(0, MAX_FOLDERS);
  if (folders === undefined) return true;
  const endings = platform === "win32" ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT;.COM").split(";")] : [""];
  for (const folder of folders) {
    for (const ending of endings) {
      // An empty entry means the current folder.
      if (await mayBeRun(folder === "" ? `${program}${ending}` : join(folder, `${program}${ending}`))) return true;
    }
  }
  return false;
}

function readPath(env: Readonly<Record<string, string>>): string | undefined {
  if (platform !== "win32") return env["PATH"];
  return Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1];
}

async function mayBeRun(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
