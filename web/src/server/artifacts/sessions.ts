/**
 * Sessions whose artifacts are served: what a key opens, until the session ends.
 * @module
 */
import { fullScope, type FullScope } from "../../artifacts/scope.js";
import type { ArtifactScope } from "../../artifacts/store.js";
import { SeenInMemory } from "./handler.js";

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

const BYTES = 16;
const KEY = /^[A-Za-z0-9_-]{22}$/;

/** A new key: 128 random bits, as 22 characters that need no encoding in an address. */
export function sessionKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Whether a string has the form of a key. */
export function isSessionKey(key: unknown): key is string {
  return typeof key === "string" && KEY.test(key);
}

interface Session {
  readonly scope: FullScope;
  readonly seen: SeenInMemory;
  ended: boolean;
}

/** Knows sessions as long as the object lives. */
export class MemoryArtifactSessions implements ArtifactSessions {
  readonly #sessions = new Map<string, Session>();

  async begin(scope: ArtifactScope): Promise<string> {
    const session: Session = { scope: fullScope(scope), seen: new SeenInMemory(), ended: false };
    const key = sessionKey();
    this.#sessions.set(key, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    return key;
  }

  async find(key: string): Promise<FullScope | null> {
    const session = this.#sessions.get(key);
    return session === undefined || session.ended ? null : session.scope;
  }

  async end(key: string): Promise<FullScope | null> {
    const session = this.#sessions.get(key);
    if (session === undefined) return null;
    session.ended = true;
    return session.scope;
  }

  async forget(key: string): Promise<void> {
    this.#sessions.delete(key);
  }

  async note(key: string, id: string): Promise<void> {
    const session = this.#sessions.get(key);
    session?.seen.add(id, session.scope);
  }

  async noted(key: string, id: string): Promise<boolean> {
    const session = this.#sessions.get(key);
    return session?.seen.has(id, session.scope) ?? false;
  }
}
