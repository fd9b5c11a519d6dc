/**
 * What a session leaves among a user's files.
 * @module
 */
import { ownerOf, scopeOf } from "./session.js";
import type { OnSessionEnd } from "./ending.js";
import type { ServeTerms } from "../terms.js";

/** Empties the folder of the session's user, and deletes files that do not outlive the session. */
export function filesEnding({ files, report }: Pick<ServeTerms, "files" | "report">): OnSessionEnd {
  return async ({ session }) => {
    if (files === null) return;
    const scope = files.isLasting ? ownerOf(session.identity) : scopeOf(session);
    const ended = files.userFiles.endSession(scope).catch(report);
    // A folder that serves the user's other sessions too is emptied when they let it: nobody waits for that.
    if (!files.isLasting) await ended;
  };
}
