/**
 * A file that is there when it is complete, and else is as it was.
 * @module
 */
import { open, rename, stat, unlink, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CommandError, Exit } from "./exit.js";
import { systemReason } from "./system-reason.js";
import { printable } from "./words.js";

/** Bytes on their way into a file. A regular file is written beside its place and moved there at the end. */
export class OutputFile {
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

  /** Makes what was written the file. */
  async publish(): Promise<void> {
    await failing(this.#target, async () => {
      await this.#handle?.close();
      this.#handle = undefined;
      if (this.#partial !== undefined) await rename(this.#partial, this.#target);
    });
  }

  /** Takes an unfinished file away; does nothing after `publish`. */
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
    throw new CommandError(Exit.create, `cannot write ${printable(target)}: ${systemReason(error)}`, { cause: error });
  }
}
