/**
 * Sessions whose artifacts a service worker serves, by their keys.
 * @module
 */
import { fullScope, type FullScope } from "../../artifacts/scope.js";
import type { ArtifactScope } from "../../artifacts/store.js";
import { SeenInMemory } from "./handler.js";

/**
 * The sessions of served artifacts. A page starts and ends them, a service worker looks them up: they have to be
 * stored where both see them and where they outlive a stopped worker.
 *
 * All methods throw SluiceError E_STORE_READ or E_STORE_WRITE if the store fails.
 */
export interface ArtifactSessions {
  /**
   * Starts a session.
   *
   * @returns its key, which opens everything in the scope: a secret of the session.
   * @throws SluiceError E_INVALID_ARGUMENT for an invalid scope.
   */
  begin(scope: ArtifactScope): Promise<string>;
  /** The scope that a key opens, or null if there is no such session or it has ended. */
  find(key: string): Promise<ArtifactScope | null>;
  /** Ends a session: the key opens nothing any more. Returns its scope until the session is forgotten, or null. */
  end(key: string): Promise<ArtifactScope | null>;
  /** Deletes a session, and what was remembered for it. */
  forget(key: string): Promise<void>;
  /** Remembers that a session's artifact exists. Does nothing for an unknown key. */
  note(key: string, id: string): Promise<void>;
  /** Whether an artifact is remembered. A session remembers its last 1,024. */
  noted(key: string, id: string): Promise<boolean>;
}

/** Most sessions. The oldest are forgotten first, and their artifacts left to retention. */
export const MAX_SESSIONS = 1024;

const BYTES = 16;
const KEY = /^[A-Za-z0-9_-]{22}$/;

/** A new key: 128 random bits as 22 characters that need no encoding in addresses. */
export function sessionKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Whether a value has the form of a key. */
export function isSessionKey(key: unknown): key is string {
  return typeof key === "string" && KEY.test(key);
}

interface Session {
  readonly scope: FullScope;
  readonly seen: SeenInMemory;
  ended: boolean;
}

/** Stores sessions in memory. */
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
