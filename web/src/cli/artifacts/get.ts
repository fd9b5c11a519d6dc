/**
 * `sluice artifacts get`
 * @module
 */
import type { ArtifactRef, ByteRange } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import type { Invocation } from "../commands.js";
import { deliver } from "../deliver.js";
import { Exit, UsageError } from "../exit.js";
import { artifactId, locate } from "../locate.js";
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
  const what = { name: ref.id, mime_type: ref.mime_type, size: sizeOf(ref, span), command: "artifacts get" };
  await deliver(bytes, what, target, terminal);
  if (target !== undefined) await sayWhatCame(ref, span, target, invocation.has("json"), terminal);
  return Exit.ok;
}

function sizeOf(ref: ArtifactRef, span: Required<ByteRange> | undefined): number {
  return span === undefined ? ref.size_bytes : span.end - span.start;
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
