/**
 * The end of a session, and what goes with it.
 * @module
 */
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import { deleteAll } from "../artifacts/service.js";
import { storageError } from "../../errors/storage.js";
import { sessionChannel } from "./announcer.js";
import type { ServeDeps } from "../deps.js";
import type { EndedSession } from "./session-register.js";
import { ownerOf, scopeOf } from "./session.js";

/** Somebody who has something of sessions that is to go with them. Must not throw. */
type OnSessionEnd = (ended: EndedSession) => Promise<void>;

/** Ends sessions. */
export class SessionEnding {
  readonly #deps: ServeDeps;
  readonly #others: readonly OnSessionEnd[];

  constructor(deps: ServeDeps, others: readonly OnSessionEnd[]) {
    this.#deps = deps;
    this.#others = others;
  }

  /**
   * From now on its token opens nothing, in any process; then all that it stored is deleted.
   *
   * @returns how many artifacts were deleted; 0 for a session that is over.
   * @throws SluiceError E_STORE_… when some could not be: retention deletes them later.
   */
  async end(id: string): Promise<number> {
    const { state, announcer } = this.#deps;
    const ended = await state.sessions.end(id);
    if (ended === null) return 0;
    await announcer.tell(id, { kind: "session_ended" });
    await Promise.all(this.#others.map((other) => other(ended)));
    await state.events.end(sessionChannel(id));
    let deleted = 0;
    let failure: unknown;
    for (const trace of [null, ...ended.traces]) {
      try {
        deleted += await deleteAll(new ScopedArtifacts(this.#deps.store, scopeOf(ended.session, trace)));
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw storageError(failure, "write");
    return deleted;
  }
}

/** Empties the folder of the session's user, and deletes files that do not outlive the session. */
export function filesEnding({ files, report }: Pick<ServeDeps, "files" | "report">): OnSessionEnd {
  return async ({ session }) => {
    if (files === null) return;
    const scope = files.isLasting ? ownerOf(session.identity) : scopeOf(session);
    const ended = files.userFiles.endSession(scope).catch(report);
    // A folder that serves the user's other sessions too is emptied when they let it: nobody waits for that.
    if (!files.isLasting) await ended;
  };
}
