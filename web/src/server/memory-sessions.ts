/**
 * Sessions for one process.
 * @module
 */
import { fullScope, type FullScope } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { MAX_SESSIONS, type ArtifactSessions } from "./artifact-sessions.js";
import { SeenInMemory } from "./seen-artifacts.js";
import { sessionKey } from "./session-key.js";

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
