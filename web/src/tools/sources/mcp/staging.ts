/**
 * Results of which it is not known in time whose they are: they are stored under a name that nobody has, and stored for their
 * owner when it is known.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../../../artifacts/store.js";
import type { GatedResult } from "../../../core/sluice.js";

/** A scope of nobody's. */
export function stagingScope(): ArtifactScope {
  const random = crypto.getRandomValues(new Uint32Array(4));
  return { session_id: `sluice-staging-${Array.from(random, (part) => part.toString(36)).join("-")}` };
}

/** A result in a scope of nobody's, which is emptied with it. */
export function staged(gated: GatedResult, store: ArtifactStore, scope: ArtifactScope): GatedResult {
  return {
    original: gated.original,
    answer: (options) => gated.answer(options),
    [Symbol.asyncDispose]: async () => {
      await gated[Symbol.asyncDispose]();
      await dropStaged(store, scope);
    },
  };
}

/** Deletes what was stored for it. What cannot be deleted is left to the store's own limits. */
export async function dropStaged(store: ArtifactStore, scope: ArtifactScope): Promise<void> {
  try {
    for await (const { id } of store.list(scope)) await store.delete(id, scope);
  } catch {
    // A store that fails has told so where it mattered.
  }
}
