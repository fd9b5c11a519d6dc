/**
 * Sessions whose artifacts are served: what a key opens, until the session ends.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";

/**
 * The sessions that whoever serves artifacts knows. A page begins and ends them, a service worker looks them up; so they
 * are kept where both see them, and where they outlive a worker that is stopped.
 *
 * All methods throw SluiceError E_STORE_READ or E_STORE_WRITE when they cannot be kept.
 */
export interface ArtifactSessions {
  /**
   * Begins a session.
   *
   * @returns its key, which opens all that the scope holds: a secret of whoever is in the session.
   * @throws SluiceError E_INVALID_ARGUMENT when the scope is none.
   */
  begin(scope: ArtifactScope): Promise<string>;
  /** What a key opens; null when there is no such session, or it has ended. */
  find(key: string): Promise<ArtifactScope | null>;
  /** Ends a session: from now on the key opens nothing. Gives its scope until it is forgotten, null when unknown. */
  end(key: string): Promise<ArtifactScope | null>;
  /** Forgets a session, and what was noted of it. */
  forget(key: string): Promise<void>;
  /** Notes that a session's artifact is there; nothing for a key that is unknown. */
  note(key: string, id: string): Promise<void>;
  /** Whether an artifact was noted, of the last 1,024 of the session. */
  noted(key: string, id: string): Promise<boolean>;
}

/** Most sessions that are known; the ones begun first are forgotten first. Their artifacts are left to retention. */
export const MAX_SESSIONS = 1024;
