/**
 * Writes stored bytes to standard output, or to a file that appears only when it is complete.
 * @module
 */
import { open, rename, stat, unlink, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../errors/storage.js";
import { CommandError, Exit, systemReason, UsageError } from "../exit.js";
import { Progress } from "./progress.js";
import { fileName, type Terminal } from "./terminal.js";

interface Delivered {
  /** The artifact's id or the file's name, for errors. */
  readonly name: string;
  readonly mime_type: string | null;
  /** In bytes. */
  readonly size: number;
  /** The running command, for errors. */
  readonly command: string;
}

/**
 * Writes bytes, with progress.
 *
 * @param target a file, or standard output if it is undefined or `-`.
 * @throws UsageError for binary content on a terminal, unless `target` is `-`.
 */
export async function deliver(
  bytes: ReadableStream<Uint8Array>,
  what: Delivered,
  target: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const progress = new Progress(terminal.errors, "get", what.size);
  try {
    if (target !== undefined && target !== "-") return await toFile(target, bytes, progress, terminal);
    if (target === undefined && terminal.output.isTerminal && !isText(what.mime_type)) throw disturbing(what);
    for await (const chunk of bytes) {
      await terminal.output.write(chunk);
      await progress.add(chunk.length);
    }
  } finally {
    await progress.done();
    // What was not read to its end keeps a file of the store open. A reader that failed is closed.
    await bytes.cancel().catch(() => undefined);
  }
}

function disturbing({ name, mime_type, command }: Delivered): UsageError {
  return new UsageError(
    `${name} is ${mime_type ?? "of unknown type"}, which would garble the terminal; use -o FILE, or -o - to print it anyway`,
    command,
  );
}

function isText(type: string | null): boolean {
  return type !== null && /^text\/|[/+](json|xml|yaml|javascript)\b|^image\/svg/.test(type);
}

async function toFile(
  target: string,
  bytes: ReadableStream<Uint8Array>,
  progress: Progress,
  { signal }: Terminal,
): Promise<void> {
  const file = await OutputFile.open(target);
  try {
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      await file.write(chunk);
      await progress.add(chunk.length);
    }
    await file.publish();
  } finally {
    await file.discard();
  }
}

/** A file to write. A regular file is written next to its place and moved there at the end. */
class OutputFile {
  readonly #target: string;
  readonly #partial: string | undefined;
  #handle: FileHandle | undefined;

  private constructor(target: string, partial: string | undefined, handle: FileHandle) {
    this.#target = target;
    this.#partial = partial;
    this.#handle = handle;
  }

  /** Pipes and devices are written to directly. Throws CommandError 73. */
  static async open(target: string): Promise<OutputFile> {
    return failing(target, async () => {
      const there = await stat(target).catch(() => undefined);
      if (there?.isDirectory() === true) throw Object.assign(new Error(), { code: "EISDIR" });
      if (there !== undefined && !there.isFile()) return new OutputFile(target, undefined, await open(target, "w"));
      const partial = join(dirname(target), `.${basename(target).slice(0, 200)}.${process.pid}.part`);
      return new OutputFile(target, partial, await open(partial, "wx"));
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    await failing(this.#target, async () => {
      for (let at = 0; at < bytes.length;) {
        const written = await this.#handle?.write(bytes, at);
        at += written?.bytesWritten ?? bytes.length;
      }
    });
  }

  /** Moves the complete file to its place. */
  async publish(): Promise<void> {
    await failing(this.#target, async () => {
      await this.#handle?.close();
      this.#handle = undefined;
      if (this.#partial !== undefined) await rename(this.#partial, this.#target);
    });
  }

  /** Deletes an unfinished file. Does nothing after `publish`. */
  async discard(): Promise<void> {
    if (this.#handle === undefined) return;
    await this.#handle.close();
    this.#handle = undefined;
    if (this.#partial !== undefined) await unlink(this.#partial);
  }
}

async function failing<T>(target: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason =
      systemCode(error) === "ENOENT"
        ? `the folder ${fileName(dirname(target))} does not exist; create it or choose another path`
        : systemReason(error);
    throw new CommandError(Exit.create, `cannot write ${fileName(target)}: ${reason}`, { cause: error });
  }
}
