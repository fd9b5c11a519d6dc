/**
 * What is uploaded at the moment, by the session it is for.
 * @module
 */
import { onAbort } from "../core/abort.js";
import { inTime } from "./http/time-limit.js";
import type { EndedSession } from "./sessions/session-register.js";

/** One upload under way; disposed of when it has ended, however. */
interface Upload extends Disposable {
  /** Aborted when its session ends. */
  readonly signal: AbortSignal;
}

interface UnderWay {
  readonly over: AbortController;
  readonly ended: Promise<void>;
}

/** Milliseconds that the end of a session waits for its uploads to leave nothing behind. */
const PATIENCE = 5000;

/** Uploads of one process. */
export class Uploads {
  readonly #underWay = new Map<string, Set<UnderWay>>();

  /** Begins one. */
  begin(session: string): Upload {
    const over = new AbortController();
    const done = new AbortController();
    const upload: UnderWay = { over, ended: new Promise((resolve) => void onAbort(done.signal, resolve)) };
    const all = this.#underWay.get(session) ?? new Set();
    this.#underWay.set(session, all.add(upload));
    return {
      signal: over.signal,
      [Symbol.dispose]: () => {
        done.abort();
        all.delete(upload);
        if (all.size === 0 && this.#underWay.get(session) === all) this.#underWay.delete(session);
      },
    };
  }

  /** Aborts those of a session that ended. */
  readonly endOf = async ({ session }: EndedSession): Promise<void> => {
    const all = [...(this.#underWay.get(session.id) ?? [])];
    for (const { over } of all) over.abort();
    const ended = Promise.all(all.map((upload) => upload.ended));
    // Whoever hangs finds that there is no session any more, and clears up alone.
    await inTime(ended, PATIENCE, () => new Error("late")).catch(() => undefined);
  };
}
