/**
 * `sluice files put`
 * @module
 */
import type { UserFile } from "../../files/user-file.js";
import type { UserStorage } from "../../files/user-storage.js";
import { Exit, UsageError } from "../exit.js";
import { openInput, type Input } from "../input.js";
import { Progress } from "../progress.js";
import type { Invocation } from "../spec.js";
import type { Terminal } from "../terminal.js";
import { printable } from "../words.js";
import { openFiles } from "./open-files.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const [as, names] = [invocation.value("as"), invocation.operands];
  if (as !== undefined && names.length > 1) throw new UsageError("--as names one file", invocation.command);
  if (as === undefined && (names.length === 0 || names.includes("-"))) {
    throw new UsageError("standard input has no name: give it one with --as NAME", invocation.command);
  }
  const files = await openFiles(invocation);
  const kept: UserFile[] = [];
  for (const name of names.length === 0 ? ["-"] : names) {
    const file = await put(files, as ?? name, await openInput(name, terminal), terminal);
    kept.push(file);
    if (!invocation.has("json")) await terminal.output.write(`${printable(file.name)}\n`);
  }
  if (invocation.has("json")) await terminal.output.write(`${JSON.stringify(kept, null, 2)}\n`);
  return Exit.ok;
}

async function put(files: UserStorage, name: string, input: Input, terminal: Terminal): Promise<UserFile> {
  const progress = new Progress(terminal.errors, "put", input.size);
  try {
    return await files.put(name, watched(input.chunks, progress, terminal.signal));
  } finally {
    await progress.done();
  }
}

async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
    await progress.add(chunk.length);
  }
}
