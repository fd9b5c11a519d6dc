/**
 * The end of a session, and what goes with it.
 * @module
 */
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import { sessionChannel } from "./announcer.js";
import type { ServeDeps } from "../deps.js";
import type { EndedSession } from "./session-register.js";
import { ownerOf, scopeOf } from "./session.js";

/** Somebody who has something of sessions that is to go with them. Must not throw. */
type OnSessionEnd = (ended: EndedSession) => Promise<void>;

/** Artifacts that are deleted at the same time. */
const AT_ONCE = 8;

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
        deleted += await this.#clear(ended, trace);
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw storageError(failure, "write");
    return deleted;
  }

  /** Deletes what is in one scope; one that cannot be deleted keeps none of the others. */
  async #clear({ session }: EndedSession, trace: string | null): Promise<number> {
    const artifacts = new ScopedArtifacts(this.#deps.store, scopeOf(session, trace));
    const ids: string[] = [];
    for await (const { id } of artifacts.list()) ids.push(id);
    let [deleted, failure]: [number, unknown] = [0, undefined];
    const hand = async (): Promise<void> => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        try {
          if (await artifacts.delete(id)) deleted += 1;
        } catch (error) {
          if (!hasExpired(error)) failure ??= error;
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, hand));
    if (failure !== undefined) throw storageError(failure, "write");
    return deleted;
  }
}

/** Retention was quicker: it is gone all the same. */
function hasExpired(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "E_EXPIRED";
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
