/**
 * References of results that have no `_meta` to carry them (an array, a text, an error): kept in the store, beside what
 * they belong to.
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { guarded, storageError } from "../errors/storage.js";
import type { TransformOptions } from "./sluice.js";
import type { StoreAccess } from "./store-access.js";

const MIME_TYPE = "application/vnd.sluice.refs+json";

interface Carrier {
  readonly _meta?: Readonly<Record<string, unknown>> | null;
  readonly result?: { readonly _meta?: Readonly<Record<string, unknown>> | null } | null;
}

/** Whether a document carries its own references: where the core writes them, not wherever the key stands. */
function carriesRefs(json: string): boolean {
  if (!json.includes('"sluice/refs"')) return false;
  const root = parsed(json) as Carrier | null;
  return [root, root?.result].some((holder) => Array.isArray(holder?.["_meta"]?.["sluice/refs"]));
}

/** Null for what is not JSON: of a document the core says where it is not. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
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

/** Keeps `refs` for the reduced document `json`. Without them the answer is as good, but cannot be restored. */
export async function keepBeside(
  access: StoreAccess,
  { scope, namespace }: TransformOptions,
  json: string,
  refs: string,
): Promise<void> {
  const of = oneSpelling(json);
  const info = {
    mime_type: MIME_TYPE,
    ...(namespace !== undefined && { namespace }),
    ...(scope !== undefined && { scope }),
    source: { restores_chars: of.length, kept_at: performance.timeOrigin + performance.now() },
  };
  const keep = (): Promise<void> =>
    access.call("write", async (store) => {
      try {
        await store.putText(JSON.stringify({ of, refs }), info);
      } catch (error) {
        throw notKept(storageError(error, "write"));
      }
    });
  await access.attempt(keep, () => undefined);
}

function notKept({ code, message, cause }: SluiceError): SluiceError {
  const what = "The references of this result were not kept, so restore cannot put back what was taken out";
  return new SluiceError(code, `${what}: ${message}`, {}, { cause });
}

/**
 * The references kept for `json`, or nothing. Two originals may be reduced to the same document, such as a string
 * and an array of the same bytes: what was kept last is meant. Throws E_STORE_… when the store fails, E_EXPIRED
 * when what may have been meant has expired.
 */
export async function findBeside(
  store: ArtifactStore,
  scope: ArtifactScope | undefined,
  json: string,
): Promise<string> {
  if (carriesRefs(json) || !json.includes("artifact://")) return "";
  const wanted = oneSpelling(json);
  let expired: SluiceError | undefined;
  for (const { id } of await candidates(store, scope ?? {}, wanted.length)) {
    try {
      const bytes = await guarded("read", () => store.get(id, scope));
      const kept = bytes && recordOf(bytes, id);
      if (kept?.of === wanted) return kept.refs;
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "E_EXPIRED") throw error;
      expired = error;
    }
  }
  if (expired !== undefined) throw expired;
  return "";
}

interface Kept {
  readonly of: string;
  readonly refs: string;
}

function recordOf(bytes: Uint8Array, id: string): Kept {
  const kept = parsed(new TextDecoder().decode(bytes)) as Partial<Kept> | null;
  if (typeof kept?.of === "string" && typeof kept.refs === "string") return { of: kept.of, refs: kept.refs };
  throw new SluiceError(
    "E_STORE_CORRUPT",
    `The references in ${id} are damaged: delete it, and call the tool again to restore its result.`,
  );
}

/** What was kept for documents of this length, the newest first. */
async function candidates(store: ArtifactStore, scope: ArtifactScope, chars: number): Promise<ArtifactRef[]> {
  const found: ArtifactRef[] = [];
  await guarded("read", async () => {
    for await (const ref of store.list(scope)) {
      if (ref.mime_type === MIME_TYPE && ref.source["restores_chars"] === chars) found.push(ref);
    }
  });
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
