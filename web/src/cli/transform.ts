/**
 * `sluice transform` turns a tool result into what a model should see; `sluice restore` undoes `transform --dialect mcp`.
 *
 * The operands and options are in `commands/results.ts`.
 * @module
 */
import { withRetention } from "../artifacts/retention/retaining-store.js";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { countNoun, humanSize } from "../core/amounts.js";
import { createSluiceOver } from "../core/sluice.js";
import type { Sluice, SluiceStream, Transformed, TransformOptions } from "../core/types.js";
import type { SluiceError } from "../errors/error.js";
import { readToolName } from "../mcp/artifact-reader/definition.js";
import { showImages } from "../mcp/shown-media.js";
import { withoutInterceptor } from "../mcp/interceptor-config.js";
import { isBlank, linePieces } from "../jsonrpc/lines.js";
import type { Invocation } from "./command.js";
import { checkConfig, readConfig } from "./configuration.js";
import { errorInPlace, Exit, exitCodeOfAnswer, isDataError, UsageError } from "./exit.js";
import { openInput, withoutMark, type Input } from "./terminal/input.js";
import { indent, oneLine } from "./terminal/json.js";
import { Progress } from "./terminal/progress.js";
import { nameStore, reportFailures, reportInput } from "./terminal/report.js";
import { acrossScopes, parseScope } from "./store/scope.js";
import { openKeptStore, openStore } from "./store/store.js";
import type { Output, Terminal } from "./terminal/terminal.js";

export async function transform(invocation: Invocation, terminal: Terminal): Promise<number> {
  if (invocation.has("ndjson") && invocation.has("pretty")) {
    throw new UsageError(
      "--ndjson writes one line per result and --pretty writes several; use only one of them",
      invocation.command,
    );
  }
  const options = transformOptions(invocation, terminal.signal);
  const store = openStore(invocation.value("store"));
  const sluice = await openSluice(store, invocation.value("config"));
  const input = await openInput(invocation.operands[0], terminal);
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
  const namespace = readNamespace(invocation);
  const scope = parseScope(invocation.values("scope"), invocation.command);
  return {
    dialect: invocation.value("dialect") === "mcp" ? "mcp" : "observation",
    signal,
    ...(tool !== undefined && { tool }),
    ...(namespace !== undefined && { namespace }),
    ...(scope !== undefined && { scope }),
  };
}

function readNamespace(invocation: Invocation): string | undefined {
  const namespace = invocation.value("namespace");
  if (namespace === undefined || /^[\w.-]{1,64}$/.test(namespace)) return namespace;
  throw new UsageError(
    `--namespace may only contain letters, digits, "-", "_" and ".", at most 64 of them; got ${JSON.stringify(namespace)}`,
    invocation.command,
  );
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
    await terminal.output.write(formatOutput(result.text, options, pretty, terminal.output.isTerminal));
    await printSummary(result, terminal);
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

/** The mcp dialect is written without a line break of our own, so that `restore` returns the original bytes. */
function formatOutput(text: string, { dialect }: TransformOptions, pretty: boolean, isTerminal: boolean): string {
  if (pretty) return `${indent(text)}\n`;
  const exact = dialect === "mcp" && !isTerminal;
  return exact || text.endsWith("\n") ? text : `${text}\n`;
}

/** Prints a summary on a terminal. Programs find the numbers in the result. */
async function printSummary({ artifacts, bytesIn, bytesOut }: Transformed, { errors }: Terminal): Promise<void> {
  const kept = artifacts.filter(({ source }) => source.truncated !== true);
  if (!errors.isTerminal || kept.length === 0) return;
  const bytes = kept.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  const line = `${countNoun(kept.length, "artifact")} of ${humanSize(bytes)}; ${humanSize(bytesIn)} in, ${humanSize(bytesOut)} out`;
  await errors.write(errors.dim(`${line}\n`));
}

interface Work {
  readonly sluice: Sluice;
  readonly options: TransformOptions;
  readonly input: Input;
  readonly progress: Progress;
  readonly terminal: Terminal;
  /** The value of `--store`. */
  readonly store: string | undefined;
}

/** Writes one line for each line of the input, blank lines included. The first line that fails gives the exit code. */
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

/** One line of the input. Skips the rest of the line after an error. */
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

export async function restore(invocation: Invocation, terminal: Terminal): Promise<number> {
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const { name, chunks } = await openInput(invocation.operands[0], terminal);
  const store = await openKeptStore(invocation.value("store"));
  const sluice = await openSluice(scope === undefined ? acrossScopes(store) : store, undefined);
  const restorer = new Restorer(sluice, scope, name, terminal);
  return invocation.has("ndjson") ? restorer.lines(withoutMark(chunks)) : restorer.whole(withoutMark(chunks));
}

/** Restores results. Holds the reduced text, since its references are at its end; stored content streams through. */
class Restorer {
  readonly #sluice: Sluice;
  readonly #scope: ArtifactScope | undefined;
  readonly #input: string;
  readonly #output: Output;
  readonly #errors: Output;
  readonly #progress: Progress;

  /** `input` is the name of the input, for errors. */
  constructor(sluice: Sluice, scope: ArtifactScope | undefined, input: string, { output, errors }: Terminal) {
    this.#sluice = sluice;
    this.#scope = scope;
    this.#input = input;
    this.#output = output;
    this.#errors = errors;
    this.#progress = new Progress(errors, "restore");
  }

  async whole(chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const text = new Text();
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      text.add(chunk);
    }
    const error = await this.#one(text.take(), undefined);
    if (error !== null || this.#output.isTerminal) await this.#output.write("\n");
    if (error === null) return Exit.ok;
    await reportInput(this.#input, error, bytes === 0, this.#errors);
    return Exit.data;
  }

  async lines(chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const text = new Text();
    let exit: number = Exit.ok;
    let number = 0;
    for await (const { bytes, last } of linePieces(chunks)) {
      text.add(bytes);
      if (!last) continue;
      number += 1;
      const blank = text.blank;
      const line = text.take();
      const error = blank ? null : await this.#one(line, number);
      if (error !== null) exit = Exit.data;
      await this.#output.write("\n");
    }
    return exit;
  }

  /** Restores one result. Returns the error that it printed in place of the result. */
  async #one(json: string, line: number | undefined): Promise<SluiceError | null> {
    let begun = false;
    try {
      for await (const piece of this.#sluice.restoreStream(
        json,
        this.#scope === undefined ? {} : { scope: this.#scope },
      )) {
        begun = true;
        await this.#output.write(piece);
        await this.#progress.add(piece.length);
      }
      return null;
    } catch (error) {
      if (begun || !isDataError(error)) throw error;
      await this.#output.write(errorInPlace(error, line));
      return error;
    } finally {
      await this.#progress.done();
    }
  }
}

/** Collects UTF-8 chunks. Decodes them at once, since their buffers are reused. */
class Text {
  #parts: string[] = [];
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Whether only white space has come so far. */
  blank = true;

  add(bytes: Uint8Array): void {
    this.blank &&= isBlank(bytes);
    this.#parts.push(this.#decoder.decode(bytes, { stream: true }));
  }

  take(): string {
    const text = this.#parts.join("") + this.#decoder.decode();
    this.#parts = [];
    this.blank = true;
    return text;
  }
}

/** Creates a Sluice over `store`, configured by a JSON file if given. */
export async function openSluice(store: ArtifactStore, configFile: string | undefined): Promise<Sluice> {
  const all = configFile === undefined ? undefined : await readConfig(configFile);
  return checkConfig(configFile, () => {
    const { store: kept, config } = withRetention(store, all);
    const deps = { store: kept, onFailure: "answer", readTool: readToolName, show: showImages } as const;
    return createSluiceOver(deps, withoutInterceptor(config));
  });
}
