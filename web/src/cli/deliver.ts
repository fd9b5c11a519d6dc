/**
 * Stored bytes on their way to a person: to standard output, or to a file that appears only when it is complete.
 * @module
 */
import { UsageError } from "./exit.js";
import { OutputFile } from "./output-file.js";
import { Progress } from "./progress.js";
import type { Terminal } from "./terminal.js";

/** What is known of the bytes. */
export interface Delivered {
  /** What a person calls them. */
  readonly name: string;
  readonly mime_type: string | null;
  /** In bytes. */
  readonly size: number;
  /** The command that was given. */
  readonly command: string;
}

/** Writes them, with progress. `target` undefined or `-`: standard output, where a terminal gets texts only. Throws UsageError. */
export async function deliver(
  bytes: ReadableStream<Uint8Array>,
  what: Delivered,
  target: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const progress = new Progress(terminal.errors, "get", what.size);
  try {
    if (target === undefined) await toOutput(bytes, what, progress, terminal);
    else if (target === "-") await written(bytes, progress, terminal);
    else await toFile(target, bytes, progress, terminal);
  } finally {
    await progress.done();
  }
}

async function toOutput(
  bytes: ReadableStream<Uint8Array>,
  { name, mime_type, command }: Delivered,
  progress: Progress,
  terminal: Terminal,
): Promise<void> {
  if (terminal.output.isTerminal && !isText(mime_type)) {
    await bytes.cancel();
    throw new UsageError(
      `${name} is ${mime_type ?? "of no known type"}, which would disturb the terminal; give -o FILE, or -o - to have it all the same`,
      command,
    );
  }
  await written(bytes, progress, terminal);
}

async function written(bytes: ReadableStream<Uint8Array>, progress: Progress, { output }: Terminal): Promise<void> {
  for await (const chunk of bytes) {
    await output.write(chunk);
    await progress.add(chunk.length);
  }
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
