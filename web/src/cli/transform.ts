/**
 * `sluice transform`: a tool result in, what a model should see out.
 * @module
 */
import type { Sluice, Transformed, TransformOptions } from "../core/sluice.js";
import type { Invocation } from "./commands.js";
import { Exit, isDataError, UsageError } from "./exit.js";
import { errorInPlace } from "./in-place.js";
import { openInput, withoutMark, type Input } from "./input.js";
import { openSluice } from "./library.js";
import { indent } from "./pretty.js";
import { Progress } from "./progress.js";
import { parseScope } from "./scope.js";
import { openStore } from "./store.js";
import type { Terminal } from "./terminal.js";
import { transformLines } from "./transform-lines.js";
import { counted, humanSize } from "./words.js";

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
  try {
    if (invocation.has("ndjson")) return await transformLines(sluice, options, input, progress, terminal);
    return await transformWhole(sluice, options, input, progress, terminal, invocation.has("pretty"));
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

async function transformWhole(
  sluice: Sluice,
  options: TransformOptions,
  input: Input,
  progress: Progress,
  terminal: Terminal,
  pretty: boolean,
): Promise<number> {
  const stream = sluice.open(options);
  try {
    for await (const chunk of withoutMark(input.chunks)) {
      await stream.write(chunk);
      await progress.add(chunk.length);
    }
    const result = await stream.close();
    await progress.done();
    await terminal.output.write(written(result.text, options, pretty, terminal.output.isTerminal));
    await sayWhatWasKept(result, terminal);
    return Exit.ok;
  } catch (error) {
    if (!isDataError(error)) throw error;
    await terminal.output.write(`${errorInPlace(error)}\n`);
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
  if (!errors.isTerminal || artifacts.length === 0) return;
  const bytes = artifacts.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  const line = `${counted(artifacts.length, "artifact")} of ${humanSize(bytes)}; ${humanSize(bytesIn)} in, ${humanSize(bytesOut)} out`;
  await errors.write(errors.dim(`${line}\n`));
}
