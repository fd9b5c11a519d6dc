/**
 * The end of a session, and what goes with it.
 * @module
 */
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import { storageError } from "../../errors/storage.js";
import { sessionChannel } from "../events/announcer.js";
import type { ServeTerms } from "../terms.js";
import type { EndedSession } from "./session-register.js";
import { scopeOf } from "./session.js";

/** Somebody who has something of sessions that is to go with them. Must not throw. */
export type OnSessionEnd = (ended: EndedSession) => Promise<void>;

/** Ends sessions. */
export class SessionEnding {
  readonly #terms: ServeTerms;
  readonly #others: readonly OnSessionEnd[];

  constructor(terms: ServeTerms, others: readonly OnSessionEnd[]) {
    this.#terms = terms;
    this.#others = others;
  }

  /**
   * From now on its token opens nothing, in any process; then all that it stored is deleted.
   *
   * @returns how many artifacts were deleted; 0 for a session that is over.
   * @throws SluiceError E_STORE_… when some could not be: retention deletes them later.
   */
  async end(id: string): Promise<number> {
    const { state, announcer } = this.#terms;
    const ended = await state.sessions.end(id);
    if (ended === null) return 0;
    await announcer.tell(id, { kind: "session_ended" });
    await Promise.all(this.#others.map((other) => other(ended)));
    await state.events.end(sessionChannel(id));
    let deleted = 0;
    for (const trace of [null, ...ended.traces]) deleted += await this.#clear(ended, trace);
    return deleted;
  }

  async #clear({ session }: EndedSession, trace: string | null): Promise<number> {
    const artifacts = new ScopedArtifacts(this.#terms.store, scopeOf(session, trace));
    const ids: string[] = [];
    let [deleted, failure]: [number, unknown] = [0, undefined];
    for await (const { id } of artifacts.list()) ids.push(id);
    for (const id of ids) {
      try {
        if (await artifacts.delete(id)) deleted += 1;
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw storageError(failure, "write");
    return deleted;
  }
}
