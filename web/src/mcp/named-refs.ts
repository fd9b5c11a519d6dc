/**
 * Stores the list of references of a result, for clients that give their model all of `_meta`.
 * @module
 */
import { isTruncated } from "../artifacts/reference.js";
import type { ArtifactInfo, ArtifactStore } from "../artifacts/store.js";
import { LIST_RECORD } from "../core/restore.js";
import { checkRef } from "../core/store-access.js";
import { applyEdits, parseJson, replaceEdit, sliceSource, valueAt, type ValueNode } from "../json/text.js";

const REFS = "sluice/refs";

/**
 * Stores the list of references of a result, and puts the name of the stored list in its place. `restore` goes by the name. A
 * result stays as it is if it has no list, is nested too deep to edit, or if the store keeps nothing. Throws what the store throws.
 */
export async function nameRefs(result: string, store: ArtifactStore, info: ArtifactInfo): Promise<string> {
  const refs = result.includes(`"${REFS}"`) ? refsIn(result) : undefined;
  if (refs?.type !== "Array") return result;
  const ref = checkRef(await store.putText(sliceSource(result, refs), { ...info, ...LIST_RECORD }));
  return isTruncated(ref) ? result : applyEdits(result, [replaceEdit(refs, JSON.stringify(ref.id))]);
}

function refsIn(result: string): ValueNode | undefined {
  try {
    return valueAt(valueAt(parseJson(result), "_meta"), REFS);
  } catch {
    return undefined;
  }
}
