/**
 * Partial results are discarded (user storage §11.3): what is stored of a result is its user's once the result is whole.
 * @module
 */
import { NoOpArtifactStore } from "../../artifacts/no-op.js";
import type { ArtifactScope, ArtifactStore } from "../../artifacts/store.js";
import type { Sluice, TransformOptions } from "../../core/sluice.js";
import type { Clock } from "../resilience/clock.js";
import type { SourceResult } from "../source.js";
import { dropStaged, restaged, stagingScope } from "../sources/mcp/staging.js";

/** How long, in milliseconds, a store may take with what a call that ended was about to store. */
const GRACE = 2000;

/** What one result needs. */
export interface WholeTerms {
  readonly sluice: Sluice;
  /** That of the sluice. */
  readonly store: ArtifactStore;
  /** How the result is written in the end, and whose it is. */
  readonly options: TransformOptions & { readonly scope: ArtifactScope };
  readonly clock: Clock;
}

/**
 * Has a result made in a scope of nobody's, and makes it its user's when it is there. Of work that throws nothing stays. What the
 * store failed at stays as it is told: nothing of it can be read again.
 */
export async function whole(
  work: (scope: ArtifactScope) => Promise<SourceResult>,
  { sluice, store, options, clock }: WholeTerms,
): Promise<SourceResult> {
  if (store instanceof NoOpArtifactStore) return work(options.scope);
  // It is still known whose call it is, for whoever has to ask.
  const { tenant_id = null, user_id = null } = options.scope;
  const scope = { ...stagingScope(), tenant_id, user_id };
  const drop = (): void => void dropStaged(store, scope);
  try {
    const result = await work(scope);
    const fresh = await unknown(result.reduced);
    return { ...result, reduced: await owned(result.reduced), ...(fresh.size > 0 && { fresh }) };
  } catch (error) {
    // What was under way to the store may arrive behind the first look.
    clock.after(GRACE, drop);
    throw error;
  } finally {
    drop();
  }

  /** What of it the user has not had before: the same content has the same id. */
  async function unknown({ artifacts }: SourceResult["reduced"]): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (const { id } of artifacts) if (!(await store.exists(id, options.scope))) ids.add(id);
    return ids;
  }

  async function owned(reduced: SourceResult["reduced"]): Promise<SourceResult["reduced"]> {
    const { artifacts, failures } = reduced;
    const isKept = failures.length === 0 && artifacts.every(({ source }) => source["truncated"] !== true);
    const isDone = artifacts.length === 0 && options.readResource === undefined;
    return isKept && !isDone ? restaged({ reduced, scope }, options, sluice) : reduced;
  }
}
