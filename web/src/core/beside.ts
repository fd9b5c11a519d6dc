/**
 * References of results that have no `_meta` to carry them (an array, a text, an error): kept in the store, beside what
 * they belong to.
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { TransformOptions } from "./sluice.js";

const MIME_TYPE = "application/vnd.sluice.refs+json";

interface Carrier {
  readonly _meta?: Readonly<Record<string, unknown>> | null;
  readonly result?: { readonly _meta?: Readonly<Record<string, unknown>> | null } | null;
}

/** Whether a document carries its own references: where the core writes them, not wherever the key stands. */
function carriesRefs(json: string): boolean {
  if (!json.includes('"sluice/refs"')) return false;
  const root = parsed(json);
  return [root, root?.result].some((holder) => Array.isArray(holder?.["_meta"]?.["sluice/refs"]));
}

/** Null for what is not JSON, which the core refuses with a place. */
function parsed(json: string): Carrier | null {
  try {
    return JSON.parse(json) as Carrier | null;
  } catch {
    return null;
  }
}

/**
 * Whether references have to be kept beside a reduced document. For an array or a text that only looks as if it had
 * some, it is kept that there are none: another original may be reduced to the same.
 */
export function needsBeside(json: string, refs = "[]"): boolean {
  if (carriesRefs(json) || !json.includes("artifact://")) return false;
  return refs !== "[]" || !json.trimStart().startsWith("{");
}

/** Keeps `refs` for the reduced document `json`. */
export async function keepBeside(
  store: ArtifactStore,
  { scope, namespace }: TransformOptions,
  json: string,
  refs: string,
): Promise<void> {
  const of = oneSpelling(json);
  await store.putText(JSON.stringify({ of, refs }), {
    mime_type: MIME_TYPE,
    ...(namespace !== undefined && { namespace }),
    ...(scope !== undefined && { scope }),
    source: { restores_chars: of.length, kept_at: performance.timeOrigin + performance.now() },
  });
}

/**
 * The references kept for `json`, or nothing. Two originals may be reduced to the same document, such as a string
 * and an array of the same bytes: what was kept last is meant.
 */
export async function findBeside(
  store: ArtifactStore,
  scope: ArtifactScope | undefined,
  json: string,
): Promise<string> {
  if (carriesRefs(json) || !json.includes("artifact://")) return "";
  const wanted = oneSpelling(json);
  for (const { id } of await candidates(store, scope ?? {}, wanted.length)) {
    const bytes = await store.get(id, scope);
    if (bytes === null) continue;
    const kept = JSON.parse(new TextDecoder().decode(bytes)) as { readonly of: string; readonly refs: string };
    if (kept.of === wanted) return kept.refs;
  }
  return "";
}

/** What was kept for documents of this length, the newest first. */
async function candidates(store: ArtifactStore, scope: ArtifactScope, chars: number): Promise<ArtifactRef[]> {
  const found: ArtifactRef[] = [];
  for await (const ref of store.list(scope)) {
    if (ref.mime_type === MIME_TYPE && ref.source["restores_chars"] === chars) found.push(ref);
  }
  return found.sort((left, right) => Number(right.source["kept_at"]) - Number(left.source["kept_at"]));
}

// White space and escapes may change on the way of a document; its value does not.
function oneSpelling(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}
