/**
 * Where the playground keeps bytes: one store for what sessions get, one for My Files.
 * @module
 */
import type { ArtifactScope, ArtifactStore, RetentionConfig } from "mcp-sluice";
import { IndexedDbArtifactSessions, IndexedDbArtifactStore } from "mcp-sluice/browser";
import type { Keys } from "./shelves.js";

/** Whose everything is: there is one person to a browser. */
export const VISITOR = { user_id: "visitor" } as const;

/** How many files there are in My Files, without what is needed to do anything with them. */
export async function fileCount(store: ArtifactStore): Promise<number> {
  const found = new Set<string>();
  for await (const { namespace, source } of store.list(VISITOR)) {
    if (source["user_file"] !== undefined) found.add(namespace);
  }
  return found.size;
}

const MIB = 1024 * 1024;

/** Larger artifacts than the defaults allow, since a person is there to see what is stored. */
const SESSION_RETENTION: RetentionConfig = { max_artifact_bytes: 512 * MIB, max_session_bytes: 2048 * MIB };

/** Both stores, and the sessions that open them. */
export class Stores {
  readonly session = new IndexedDbArtifactStore({
    name: "sluice-session",
    retention: SESSION_RETENTION,
  });
  readonly files = new IndexedDbArtifactStore({ name: "sluice-files", retention: null });
  readonly sessions = new IndexedDbArtifactSessions();

  /** The store of a scope: only what has no session is kept for good. */
  readonly of = ({ session_id }: ArtifactScope): ArtifactStore => (session_id == null ? this.files : this.session);

  /** What the keys open; new ones where they open nothing. */
  async open(keys: Partial<Keys>): Promise<{ readonly keys: Keys; readonly scope: ArtifactScope }> {
    // What a closed tab left half written, and what expired meanwhile, goes now.
    await Promise.all([this.session.open(), this.files.open()]);
    const files = await this.#key(keys.files, VISITOR);
    const session = await this.#key(keys.session, { ...VISITOR, session_id: crypto.randomUUID() });
    return { keys: { files, session }, scope: (await this.sessions.find(session)) ?? VISITOR };
  }

  async #key(key: string | undefined, scope: ArtifactScope): Promise<string> {
    const known = key === undefined ? null : await this.sessions.find(key);
    return known === null || key === undefined ? this.sessions.begin(scope) : key;
  }
}
