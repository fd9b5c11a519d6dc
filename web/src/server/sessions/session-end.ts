/**
 * Ends sessions, and deletes what they stored.
 * @module
 */
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import type { ArtifactStore } from "../../artifacts/store.js";
import type { UserFiles } from "../../files/user-files.js";
import { deleteAll } from "../artifacts/service.js";
import { storageError } from "../../errors/storage.js";
import { sessionChannel, type Announcer } from "./announcer.js";
import type { EventLog } from "./event-log.js";
import type { EndedSession, SessionRegister } from "./session-register.js";
import { toOwner, toScope } from "../session.js";

/** Cleans up what a part of the server holds for a session. Must not throw. */
type OnSessionEnd = (ended: EndedSession) => Promise<void>;

/** What sessions are kept in, and who is told of their end. */
interface EndDeps {
  readonly state: { readonly sessions: Pick<SessionRegister, "end">; readonly events: Pick<EventLog, "end"> };
  readonly store: ArtifactStore;
  readonly announcer: Pick<Announcer, "tell">;
}

/** Ends sessions. */
export class SessionEnding {
  readonly #deps: EndDeps;
  readonly #others: readonly OnSessionEnd[];

  constructor(deps: EndDeps, others: readonly OnSessionEnd[]) {
    this.#deps = deps;
    this.#others = others;
  }

  /**
   * Ends a session in all processes, then deletes what it stored.
   *
   * @returns how many artifacts were deleted; 0 for a session that is over.
   * @throws SluiceError E_STORE_… if some could not be deleted. Retention deletes them later.
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
        deleted += await deleteAll(new ScopedArtifacts(this.#deps.store, toScope(ended.session, trace)));
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw storageError(failure, "write");
    return deleted;
  }
}

/** Users' files, and how long they last. */
interface FilesEndDeps {
  /** Null if the server keeps none. */
  readonly files: { readonly userFiles: Pick<UserFiles, "endSession">; readonly isLasting: boolean } | null;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
}

/** Empties the user's folder, and deletes files that do not outlive the session. */
export function filesEnding({ files, report }: FilesEndDeps): OnSessionEnd {
  return async ({ session }) => {
    if (files === null) return;
    const scope = files.isLasting ? toOwner(session.identity) : toScope(session);
    const ended = files.userFiles.endSession(scope).catch(report);
    // A folder in use by the user's other sessions is emptied when they release it, without waiting for that.
    if (!files.isLasting) await ended;
  };
}
