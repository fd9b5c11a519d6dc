/**
 * `sluice files put`
 * @module
 */
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import type { UserFile } from "../../files/user-file.js";
import type { UserStorage } from "../../files/user-storage.js";
import { Exit, UsageError } from "../exit.js";
import { openInput, type Input } from "../input.js";
import { openSluice } from "../library.js";
import { Progress } from "../progress.js";
import type { Invocation } from "../spec.js";
import type { Terminal } from "../terminal.js";
import { printable } from "../words.js";
import { openFiles } from "./open-files.js";

/** Bytes that are looked at to tell what a file is. */
const HEAD = 65_536;

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
  const chunks = input.chunks[Symbol.asyncIterator]();
  try {
    const head = await beginning(chunks);
    const mime_type = await typeOf(head, input.size);
    return await files.put(name, whole(head, chunks, progress, terminal.signal), { mime_type });
  } finally {
    await chunks.return?.();
    await progress.done();
  }
}

/** As much as is looked at, or all where there is less. */
async function beginning(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let length = 0; length < HEAD;) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    parts.push(value.slice());
    length += value.length;
  }
  return Buffer.concat(parts);
}

async function typeOf(head: Uint8Array, size: number | undefined): Promise<string> {
  const sluice = await openSluice(new MemoryArtifactStore(), undefined);
  const seen = head.subarray(0, HEAD);
  return sluice.sniff(seen, size ?? Math.max(head.length, seen.length)).mime_type;
}

async function* whole(
  head: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  await progress.add(head.length);
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    signal.throwIfAborted();
    yield next.value;
    await progress.add(next.value.length);
  }
}
