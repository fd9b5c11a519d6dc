/**
 * Commands one after the other, each in a group of processes of its own, and what they print while they print it.
 * @module
 */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { env as ours, platform } from "node:process";
import type { Readable } from "node:stream";
import { onAbort, untilAborted } from "../../../core/abort.js";
import { joined } from "../../../transports/bytes.js";
import { ServerProcess } from "../../../transports/server-process.js";
import { quoted } from "../../adapting/place.js";
import { wrong } from "../../problem.js";

/** How the last command ended. */
export interface Outcome {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of what it wrote to its standard error. */
  readonly errors: string;
}

/** A command that is ready to be started. */
interface ReadyStep {
  /** Its words, which may need what the commands before it printed. */
  readonly words: (outputs: readonly string[]) => readonly string[];
  readonly isShown: boolean;
}

/** What commands are run with. */
export interface Running {
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string | null;
  readonly signal: AbortSignal;
  /** Those that run. */
  readonly processes: Set<ServerProcess>;
  /** Begins the sentences of errors. */
  readonly subject: string;
}

/** Characters of standard error that are kept. */
const MAX_ERRORS = 65_536;
/** Bytes of an output that later commands may refer to. */
const MAX_REFERRED = 131_072;

/** What programs cannot do without; everything else may be a secret. */
const NEEDED: readonly string[] =
  platform === "win32"
    ? "PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC TEMP TMP USERPROFILE USERNAME HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROCESSOR_ARCHITECTURE".split(
        " ",
      )
    : "PATH HOME LANG LC_ALL LC_CTYPE USER LOGNAME SHELL TERM TZ TMPDIR".split(" ");

/** The environment of a command: a few of our variables, and what it is given. */
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

/** Commands that run when their output is read; the first that fails is the last. */
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

  /** How the last command ended; said once the output was read to its end. */
  get outcome(): Outcome {
    return this.#outcome;
  }

  /** Whether all went well. */
  get isSuccess(): boolean {
    return this.#outcome.code === 0;
  }

  /**
   * What the commands print, of those that show it.
   *
   * @throws ToolNodeError E_TOOL_CONFIG where one cannot be started; the signal's reason, once its process was told to end.
   */
  async *output(): AsyncGenerator<Uint8Array> {
    const outputs: string[] = [];
    for (const { words, isShown } of this.#steps) {
      const [program = "", ...args] = words(outputs);
      if (program === "cd" && args.length === 1) {
        this.#folder = resolve(this.#folder ?? ".", args[0] as string);
        outputs.push("");
        continue;
      }
      const kept = new Tail(MAX_REFERRED);
      for await (const piece of this.#run(program, args)) {
        if (this.#steps.length > 1) kept.add(piece);
        if (isShown) yield piece;
      }
      outputs.push(kept.text().replace(/[\r\n]+$/, ""));
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
      child.endInput();
      yield* eachUntilAborted(child.output, signal);
      const { code, signal: killer } = await untilAborted(child.ended, signal);
      this.#outcome = { code, signal: killer, errors: errors.text() };
    } finally {
      forget();
      // Whoever stops reading wants no more of it.
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
        stderr: "pipe",
        ...(this.#folder !== null && { cwd: this.#folder }),
      });
    } catch {
      // What was thrown has the program's path in it.
      const folder = this.#folder === null ? "" : ", and that the working_dir is there";
      const remedy = `check that it is installed, is on the PATH, and may be run${folder}`;
      throw wrong(`${subject} cannot start its program ${quoted(programName(program))}: ${remedy}.`);
    }
  }
}

/** The last bytes of many. */
class Tail {
  readonly #limit: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(piece: Uint8Array): void {
    this.#isCut ||= this.#bytes.length + piece.length > this.#limit;
    this.#bytes = joined([this.#bytes, piece.subarray(-this.#limit)]).slice(-this.#limit);
  }

  text(): string {
    const text = new TextDecoder().decode(this.#bytes);
    return this.#isCut ? `…${text.replace(/^\ufffd+/, "")}` : text;
  }
}

async function* eachUntilAborted(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  for (;;) {
    const { done = false, value } = await untilAborted(iterator.next(), signal);
    if (done) return;
    yield value;
  }
}

/** Folders that are looked through. */
const MAX_FOLDERS = 1000;

/** A program without the folders that it is in. */
export function programName(program: string): string {
  return program.split(/[/\\]/).pop() ?? "";
}

/**
 * Whether a command can begin with a program: one on the `PATH` of its environment, or the file of a path. True also where
 * nobody can tell.
 */
export async function isProgram(program: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  const isPath = platform === "win32" ? /[/\\:]/.test(program) : program.includes("/");
  const folders = isPath ? [""] : pathOf(env)?.split(delimiter).slice(0, MAX_FOLDERS);
  if (folders === undefined) return true;
  const endings = platform === "win32" ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD;.BAT;.COM").split(";")] : [""];
  for (const folder of folders) {
    for (const ending of endings) {
      // An empty folder is the one that we are in.
      if (await mayBeRun(folder === "" ? `${program}${ending}` : join(folder, `${program}${ending}`))) return true;
    }
  }
  return false;
}

function pathOf(env: Readonly<Record<string, string>>): string | undefined {
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
