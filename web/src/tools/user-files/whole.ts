/**
 * Partial results are discarded (user storage §11.3): what is stored of a result is its user's once the result is whole.
 * @module
 */
import { NoOpArtifactStore } from "../../artifacts/no-op.js";
import type { ArtifactScope, ArtifactStore } from "../../artifacts/store.js";
import type { Clock } from "../resilience/clock.js";
import type { SourceResult } from "../source.js";
import { dropStaged, staged, stagingScope } from "../sources/mcp/staging.js";

/** How long, in milliseconds, a store may take with what a call that ended was about to store. */
const GRACE = 2000;

/**
 * Has a result made in a scope of nobody's, until it is asked for in its user's. Of work that throws, and of a result that nobody
 * takes, nothing stays.
 *
 * @param own its user's scope.
 */
export async function whole(
  work: (scope: ArtifactScope) => Promise<SourceResult>,
  own: ArtifactScope,
  store: ArtifactStore,
  clock: Clock,
): Promise<SourceResult> {
  if (store instanceof NoOpArtifactStore) return work(own);
  // It is still known whose call it is, for whoever has to ask.
  const { tenant_id = null, user_id = null } = own;
  const scope = { ...stagingScope(), tenant_id, user_id };
  try {
    const { gated, isError } = await work(scope);
    return { gated: staged(gated, store, scope), isError };
  } catch (error) {
    void dropStaged(store, scope);
    // What was under way to the store may arrive behind the first look.
    clock.after(GRACE, () => void dropStaged(store, scope));
    throw error;
  }
}
