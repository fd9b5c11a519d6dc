/**
 * "End session".
 * @module
 */
import { ScopedArtifacts } from "../artifacts/scoped.js";
import { storageError } from "../errors/storage.js";
import type { ArtifactSessions } from "./artifact-sessions.js";
import type { SessionStore } from "./serve-artifacts.js";

/**
 * Ends a session: at once its key opens nothing, then all artifacts of its scope are deleted. Does nothing for a key that
 * is unknown.
 *
 * @returns how many artifacts were deleted.
 * @throws SluiceError E_STORE_… when some could not be; the key opens nothing all the same, and ending it again tries
 * the rest.
 */
export async function endSession(
  key: string,
  { sessions, store }: { readonly sessions: ArtifactSessions; readonly store: SessionStore },
): Promise<number> {
  const scope = await sessions.end(key);
  if (scope === null) return 0;
  const artifacts = new ScopedArtifacts(typeof store === "function" ? store(scope) : store, scope);
  const ids: string[] = [];
  let deleted = 0;
  let failure: unknown;
  try {
    for await (const { id } of artifacts.list()) ids.push(id);
  } catch (error) {
    throw storageError(error, "read");
  }
  for (const id of ids) {
    try {
      if (await artifacts.delete(id)) deleted++;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw storageError(failure, "write");
  await sessions.forget(key);
  return deleted;
}
