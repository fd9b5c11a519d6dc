/**
 * A document in pieces through the gate.
 * @module
 */
import type { GatedResult, Sluice, TransformOptions } from "../../../core/sluice.js";

const encoder = new TextEncoder();

/** Takes a document through the gate. What was begun is thrown away when a piece fails to come. */
export async function through(
  sluice: Sluice,
  options: TransformOptions,
  pieces: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
): Promise<GatedResult> {
  const stream = sluice.open(options);
  try {
    for await (const piece of pieces) await stream.write(typeof piece === "string" ? encoder.encode(piece) : piece);
    return await stream.end();
  } finally {
    await stream[Symbol.asyncDispose]();
  }
}
