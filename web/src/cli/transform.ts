/**
 * `sluice transform`: a tool result in, what a model should see out.
 * @module
 */
import { counted, humanSize } from "../core/amounts.js";
import type { Sluice, SluiceStream, Transformed, TransformOptions } from "../core/sluice.js";
import type { SluiceError } from "../errors/error.js";
import { isBlank, linePieces } from "../transports/lines.js";
import type { Invocation } from "./commands.js";
import { errorInPlace, Exit, exitCodeOfAnswer, isDataError, UsageError } from "./exit.js";
import { openInput, withoutMark, type Input } from "./input.js";
import { openSluice } from "./library.js";
import { indent, oneLine } from "./pretty.js";
import { Progress } from "./progress.js";
import { nameStore, reportFailures, reportInput } from "./report.js";
import { parseScope } from "./scope.js";
import { openStore } from "./store.js";
import type { Terminal } from "./terminal.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  if (invocation.has("ndjson") && invocation.has("pretty")) {
    throw new UsageError(
      "--ndjson writes one line a result and --pretty writes many; give one of them",
      invocation.command,
    );
  }
  const options = transformOptions(invocation, terminal.signal);
  const input = await openInput(invocation.operands[0], terminal);
  const store = openStore(invocation.value("store"));
  const sluice = await openSluice(store, invocation.value("config"));
  const progress = new Progress(terminal.errors, "transform", input.size);
  const work: Work = { sluice, options, input, progress, terminal, store: invocation.value("store") };
  try {
    if (invocation.has("ndjson")) return await transformLines(work);
    return await transformWhole(work, invocation.has("pretty"));
  } finally {
    await progress.done();
  }
}

function transformOptions(invocation: Invocation, signal: AbortSignal): TransformOptions {
  const tool = invocation.value("tool");
  const namespace = namespaceOf(invocation);
  const scope = parseScope(invocation.values("scope"), invocation.command);
  return {
    dialect: invocation.value("dialect") === "mcp" ? "mcp" : "observation",
    signal,
    ...(tool !== undefined && { tool }),
    ...(namespace !== undefined && { namespace }),
    ...(scope !== undefined && { scope }),
  };
}

function namespaceOf(invocation: Invocation): string | undefined {
  const namespace = invocation.value("namespace");
  if (namespace === undefined || /^[\w.-]{1,64}$/.test(namespace)) return namespace;
  throw new UsageError("--namespace takes at most 64 letters, digits, `-`, `_` and `.`", invocation.command);
}

async function transformWhole(work: Work, pretty: boolean): Promise<number> {
  const { options, progress, terminal } = work;
  const stream = work.sluice.open(options);
  let bytes = 0;
  try {
    for await (const chunk of withoutMark(work.input.chunks)) {
      bytes += chunk.length;
      await stream.write(chunk);
      await progress.add(chunk.length);
    }
    const result = await stream.close();
    await progress.done();
    await terminal.output.write(written(result.text, options, pretty, terminal.output.isTerminal));
    await sayWhatWasKept(result, terminal);
    await reportFailures(result.failures, terminal.errors);
    if (result.failures.length > 0) await nameStore(terminal.errors, work.store);
    return exitCodeOfAnswer(result.failures);
  } catch (error) {
    if (!isDataError(error)) throw error;
    await terminal.output.write(`${errorInPlace(error)}\n`);
    await reportInput(work.input.name, error, bytes === 0, terminal.errors);
    return Exit.data;
  } finally {
    await stream[Symbol.asyncDispose]();
  }
}

/** The mcp dialect is written to the byte, so that `restore` gives back the very bytes that came. */
function written(text: string, { dialect }: TransformOptions, pretty: boolean, isTerminal: boolean): string {
  if (pretty) return `${indent(text)}\n`;
  const exact = dialect === "mcp" && !isTerminal;
  return exact || text.endsWith("\n") ? text : `${text}\n`;
}

/** One line for a person; the numbers are in the result for programs. */
async function sayWhatWasKept({ artifacts, bytesIn, bytesOut }: Transformed, { errors }: Terminal): Promise<void> {
  const kept = artifacts.filter(({ source }) => source["truncated"] !== true);
  if (!errors.isTerminal || kept.length === 0) return;
  const bytes = kept.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  const line = `${counted(kept.length, "artifact")} of ${humanSize(bytes)}; ${humanSize(bytesIn)} in, ${humanSize(bytesOut)} out`;
  await errors.write(errors.dim(`${line}\n`));
}

interface Work {
  readonly sluice: Sluice;
  readonly options: TransformOptions;
  readonly input: Input;
  readonly progress: Progress;
  readonly terminal: Terminal;
  /** As `--store` names it. */
  readonly store: string | undefined;
}

/** One line out for each line in, blank lines included. The first line that failed gives the exit code. */
async function transformLines({ sluice, options, input, progress, terminal, store }: Work): Promise<number> {
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
