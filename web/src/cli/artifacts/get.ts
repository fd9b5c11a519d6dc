/**
 * `sluice artifacts get`
 * @module
 */
import type { ArtifactRef, ByteRange } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import type { Invocation } from "../commands.js";
import { Exit, UsageError } from "../exit.js";
import { artifactId, locate } from "../locate.js";
import { OutputFile } from "../output-file.js";
import { Progress } from "../progress.js";
import { parseRange, resolveRange } from "../range.js";
import { parseScope } from "../scope.js";
import { openKeptStore } from "../store.js";
import type { Terminal } from "../terminal.js";
import { humanSize } from "../../core/amounts.js";
import { printable } from "../words.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const target = invocation.value("output");
  if (invocation.has("json") && (target === undefined || target === "-")) {
    throw new UsageError(
      "get --json needs -o FILE, since the bytes go to standard output; `artifacts stat --json` prints the reference alone",
      invocation.command,
    );
  }
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const range = invocation.value("range");
  const wanted = range === undefined ? undefined : parseRange(range, invocation.command);
  const store = await openKeptStore(invocation.value("store"));
  const ref = await locate(store, artifactId(invocation.operands[0] ?? ""), scope);
  const span = wanted === undefined ? undefined : resolveRange(wanted, ref.size_bytes);
  const bytes = await store.openReader(ref.id, { scope: ref.scope, ...(span !== undefined && { range: span }) });
  if (bytes === null) throw new SluiceError("E_NOT_FOUND", `${ref.id} was deleted just now`);
  const progress = new Progress(terminal.errors, "get", sizeOf(ref, span));
  try {
    if (target === undefined || target === "-") await toOutput(ref, bytes, progress, terminal);
    else await toFile(target, bytes, progress, terminal);
  } finally {
    await progress.done();
  }
  if (target !== undefined) await sayWhatCame(ref, span, target, invocation.has("json"), terminal);
  return Exit.ok;
}

function sizeOf(ref: ArtifactRef, span: Required<ByteRange> | undefined): number {
  return span === undefined ? ref.size_bytes : span.end - span.start;
}

async function toOutput(
  ref: ArtifactRef,
  bytes: ReadableStream<Uint8Array>,
  progress: Progress,
  { output }: Terminal,
): Promise<void> {
  if (output.isTerminal && !isText(ref.mime_type)) {
    await bytes.cancel();
    throw new UsageError(
      `${ref.id} is ${ref.mime_type ?? "of no known type"}, which would disturb the terminal; give -o FILE, or -o - to have it all the same`,
      "artifacts get",
    );
  }
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

async function sayWhatCame(
  ref: ArtifactRef,
  span: Required<ByteRange> | undefined,
  target: string,
  json: boolean,
  { output, errors }: Terminal,
): Promise<void> {
  if (json) await output.write(`${JSON.stringify(ref, null, 2)}\n`);
  else if (errors.isTerminal)
    await errors.write(errors.dim(`${humanSize(sizeOf(ref, span))} in ${printable(target)}\n`));
}
