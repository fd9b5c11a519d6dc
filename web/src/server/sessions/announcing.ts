/**
 * What was stored for a session, told to it; or taken away again, where it ended meanwhile.
 * @module
 */
import type { ArtifactRef } from "../../artifacts/store.js";
import { isTruncated } from "../../artifacts/unstored.js";
import type { AnswerRef } from "../../core/sluice.js";
import type { ServeTerms } from "../terms.js";
import type { ServedSession } from "./session.js";

/** What announcing works with. */
export type AnnouncingTerms = Pick<ServeTerms, "state" | "store" | "announcer">;

/**
 * Tells a session what was stored for it. False where it is over, in whichever process it ended: what was not there to be deleted
 * then is deleted now. Throws SluiceError E_STORE_….
 */
export async function announced(
  terms: AnnouncingTerms,
  { id }: ServedSession,
  refs: readonly AnswerRef[],
): Promise<boolean> {
  const { state, store, announcer } = terms;
  const kept = refs.filter((ref): ref is ArtifactRef => !isTruncated(ref));
  const own = kept.filter(({ scope }) => scope.session_id === id);
  if ((await state.sessions.find(id)) === null) {
    for (const { id: artifact, scope } of own) await store.delete(artifact, scope);
    return false;
  }
  await announcer.stored(id, own);
  // The user's files outlive the session.
  if (own.length < kept.length) await announcer.tell(id, { kind: "files_changed" });
  return true;
}
