/**
 * `sluice transform --ndjson`: a result a line, each streamed on its own.
 * @module
 */
import type { Sluice, SluiceStream, TransformOptions } from "../core/sluice.js";
import type { SluiceError } from "../errors/error.js";
import { Exit, exitCodeOfAnswer, isDataError } from "./exit.js";
import { errorInPlace } from "./in-place.js";
import { withoutMark, type Input } from "./input.js";
import { isBlank, linePieces } from "../transports/lines.js";
import { oneLine } from "./pretty.js";
import type { Progress } from "./progress.js";
import { nameStore, reportFailures } from "./report.js";
import type { Terminal } from "./terminal.js";

/** What `transform` works with. */
export interface Work {
  readonly sluice: Sluice;
  readonly options: TransformOptions;
  readonly input: Input;
  readonly progress: Progress;
  readonly terminal: Terminal;
  /** As `--store` names it. */
  readonly store: string | undefined;
}

/** One line out for each line in, blank lines included. The first line that failed gives the exit code. */
export async function transformLines({ sluice, options, input, progress, terminal, store }: Work): Promise<number> {
  let exit: number = Exit.ok;
  let refused = false;
  let line = new Line(sluice, options, 1);
  try {
    for await (const { bytes, last } of linePieces(withoutMark(input.chunks))) {
      await line.write(bytes);
      await progress.add(bytes.length);
      if (!last) continue;
      const closed = await line.close();
      if (exit === Exit.ok) exit = closed.exit;
      await terminal.output.write(`${closed.text}\n`);
      if (closed.failures.length > 0) await progress.done();
      await reportFailures(closed.failures, terminal.errors, line.number);
      refused ||= closed.failures.length > 0;
      line = new Line(sluice, options, line.number + 1);
    }
  } finally {
    await line.dispose();
  }
  if (refused) await nameStore(terminal.errors, store);
  return exit;
}

interface Closed {
  readonly text: string;
  readonly exit: number;
  readonly failures: readonly SluiceError[];
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

  async close(): Promise<Closed> {
    try {
      if (!this.#blank && this.#error === undefined && this.#stream !== undefined) {
        const { text, failures } = await this.#stream.close();
        return { text: oneLine(text.trimEnd()), exit: exitCodeOfAnswer(failures), failures };
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      await this.dispose();
    }
    return this.#error === undefined
      ? { text: "", exit: Exit.ok, failures: [] }
      : { text: errorInPlace(this.#error, this.number), exit: Exit.data, failures: [] };
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
