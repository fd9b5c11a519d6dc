/**
 * What a source answered, behind the gate: kept apart until the call says where it belongs.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../../artifacts/store.js";
import type { GatedResult, Sluice, TransformOptions } from "../../core/types.js";

const encoder = new TextEncoder();

/** Passes a document through the gate. Partial work is discarded if reading it fails. */
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

/** A new scope without a user. */
export function stagingScope(): ArtifactScope {
  const random = crypto.getRandomValues(new Uint32Array(4));
  return { session_id: `sluice-staging-${Array.from(random, (part) => part.toString(36)).join("-")}` };
}

/** A result in a temporary scope. Disposing of it deletes what was stored there. */
export function stageResult(gated: GatedResult, store: ArtifactStore, scope: ArtifactScope): GatedResult {
  return {
    original: gated.original,
    answer: (options) => gated.answer(options),
    [Symbol.asyncDispose]: async () => {
      await gated[Symbol.asyncDispose]();
      await dropStaged(store, scope);
    },
  };
}

/** Deletes everything in a temporary scope. What cannot be deleted is left to the store's limits. */
export async function dropStaged(store: ArtifactStore, scope: ArtifactScope): Promise<void> {
  try {
    for await (const { id } of store.list(scope)) await store.delete(id, scope);
  } catch {
    // Failures of the store were reported where they mattered.
  }
}
