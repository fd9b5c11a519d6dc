/**
 * `sluice transform --ndjson`: a result a line, each streamed on its own.
 * @module
 */
import type { Sluice, SluiceStream, TransformOptions } from "../core/sluice.js";
import type { SluiceError } from "../errors/error.js";
import { Exit, isDataError } from "./exit.js";
import { errorInPlace } from "./in-place.js";
import { withoutMark, type Input } from "./input.js";
import { isBlank, linePieces } from "./lines.js";
import { oneLine } from "./pretty.js";
import type { Progress } from "./progress.js";
import type { Terminal } from "./terminal.js";

/** One line out for each line in, blank lines included; 65 when any of them was not JSON. */
export async function transformLines(
  sluice: Sluice,
  options: TransformOptions,
  input: Input,
  progress: Progress,
  { output }: Terminal,
): Promise<number> {
  let exit: number = Exit.ok;
  let line = new Line(sluice, options, 1);
  try {
    for await (const { bytes, last } of linePieces(withoutMark(input.chunks))) {
      await line.write(bytes);
      await progress.add(bytes.length);
      if (!last) continue;
      const { text, failed } = await line.close();
      if (failed) exit = Exit.data;
      await output.write(`${text}\n`);
      line = new Line(sluice, options, line.number + 1);
    }
  } finally {
    await line.dispose();
  }
  return exit;
}

/** One line on its way through the gate. After an error the rest of it is skipped. */
class Line {
  readonly number: number;
  readonly #sluice: Sluice;
  readonly #options: TransformOptions;
  #stream: SluiceStream | undefined;
  #blank = true;
  #error: SluiceError | undefined;

  constructor(sluice: Sluice, options: TransformOptions, number: number) {
    this.#sluice = sluice;
    this.#options = options;
    this.number = number;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0 || this.#error !== undefined) return;
    this.#blank &&= isBlank(bytes);
    this.#stream ??= this.#sluice.open(this.#options);
    try {
      await this.#stream.write(bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  async close(): Promise<{ text: string; failed: boolean }> {
    try {
      if (!this.#blank && this.#error === undefined && this.#stream !== undefined) {
        const { text } = await this.#stream.close();
        return { text: oneLine(text.trimEnd()), failed: false };
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      await this.dispose();
    }
    return this.#error === undefined
      ? { text: "", failed: false }
      : { text: errorInPlace(this.#error, this.number), failed: true };
  }

  async dispose(): Promise<void> {
    await this.#stream?.[Symbol.asyncDispose]();
    this.#stream = undefined;
  }

  #fail(error: unknown): void {
    if (!isDataError(error)) throw error;
    this.#error = error;
  }
}
