/**
 * Results of which it is not known in time whose they are: they are stored under a name that nobody has, and go through
 * the gate a second time when it is known.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../../../artifacts/store.js";
import type { Sluice, Transformed, TransformOptions } from "../../../core/sluice.js";
import { through } from "../body/through.js";

/** A scope of nobody's. */
export function stagingScope(): ArtifactScope {
  const random = crypto.getRandomValues(new Uint32Array(4));
  return { session_id: `sluice-staging-${Array.from(random, (part) => part.toString(36)).join("-")}` };
}

/** Reduces what was staged as it would have been. */
export async function restaged(
  { reduced, scope }: { readonly reduced: Transformed; readonly scope: ArtifactScope },
  options: TransformOptions,
  sluice: Sluice,
): Promise<Transformed> {
  return through(sluice, options, sluice.restoreStream(reduced.text, { scope }));
}

/** Deletes what was stored for it. What cannot be deleted is left to the store's own limits. */
export async function dropStaged(store: ArtifactStore, scope: ArtifactScope): Promise<void> {
  try {
    for await (const { id } of store.list(scope)) await store.delete(id, scope);
  } catch {
    // A store that fails has told so where it mattered.
  }
}
