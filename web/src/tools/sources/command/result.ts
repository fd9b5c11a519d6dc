/**
 * What a command printed, through the gate.
 *
 * As long as it is short it is held until the command has ended, since a failure is told otherwise. What is longer goes
 * through while it comes, as a block of a result that can still say in its last line that the command failed.
 * @module
 */
import type { Sluice, TransformOptions } from "../../../core/sluice.js";
import type { SourceResult } from "../../source.js";
import { block, gatedBody, MAGIC, textIn } from "../body/gated-body.js";
import { HeldBytes } from "../body/held.js";
import { through } from "../body/through.js";
import type { CommandRun, Outcome } from "./run.js";

/** Bytes of output that are held. */
const MAX_HELD = 1024 * 1024;
/** Characters of a last line that is repeated. */
const MAX_TOLD = 300;

/** Runs the commands and takes what they print through the gate. A command that fails is a result that says so. */
export async function resultOf(run: CommandRun, sluice: Sluice, options: TransformOptions): Promise<SourceResult> {
  await using held = new HeldBytes(run.output());
  const head = await held.hold(MAX_HELD);
  if (held.isWhole && run.isSuccess) {
    const body = { bytes: held.all(), claim: "unknown", mimeType: null, filename: null } as const;
    return { gated: await gatedBody(body, sluice, options), isError: false };
  }
  const gated = await through(sluice, options, document(held, head, run, sluice));
  return { gated, isError: !run.isSuccess };
}

/** A CallToolResult as text; a single block of JSON in it is JSON to the gate. */
async function* document(
  held: HeldBytes,
  head: Uint8Array,
  run: CommandRun,
  sluice: Sluice,
): AsyncGenerator<Uint8Array | string> {
  const end = (): string => (run.isSuccess ? "]}" : `,${failure(run.outcome)}],"isError":true}`);
  if (held.isWhole && head.length === 0) {
    yield `{"content":[${failure(run.outcome)}],"isError":true}`;
  } else if (held.isWhole ? textIn(head) !== undefined : isJson(head)) {
    yield '{"content":[{"type":"text","text":"';
    const decoder = new TextDecoder();
    for await (const piece of held.all()) yield JSON.stringify(decoder.decode(piece, { stream: true })).slice(1, -1);
    yield `${JSON.stringify(decoder.decode()).slice(1, -1)}"}${end()}`;
  } else {
    yield* block(held.all(), sluice.sniff(head.subarray(0, MAGIC)).mime_type, null, end);
  }
}

/** How it ended, with what it said last; then all that it wrote to its standard error, which the gate may put away. */
function failure({ code, signal, errors }: Outcome): string {
  const how = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with exit code ${code}`;
  const written = errors.trimEnd();
  const last = written.slice(written.lastIndexOf("\n") + 1).trim();
  const isTold = last !== "" && last.length <= MAX_TOLD && last !== written;
  const told = { type: "text", text: isTold ? `The command ${how}: ${last}` : `The command ${how}.` };
  const blocks = written === "" ? [told] : [told, { type: "text", text: written }];
  return JSON.stringify(blocks).slice(1, -1);
}

/** Whether it begins as JSON of some size does; other text of that size is of use only as its bytes. */
function isJson(head: Uint8Array): boolean {
  const first = head.find((byte) => byte > 0x20);
  return first === 0x7b || first === 0x5b;
}
