/**
 * The stores of the playground: one for sessions, one for My Files.
 * @module
 */
import type { ArtifactScope, ArtifactStore, RetentionConfig } from "mcp-sluice";
import { IndexedDbArtifactSessions, IndexedDbArtifactStore } from "mcp-sluice/browser";
import type { Keys } from "./shelves.js";

/** The owner of everything: a browser has one visitor. */
export const VISITOR = { user_id: "visitor" } as const;

/** The number of files in My Files, without loading what works with them. */
export async function fileCount(store: ArtifactStore): Promise<number> {
  const found = new Set<string>();
  for await (const { namespace, source } of store.list(VISITOR)) {
    if (source["user_file"] !== undefined) found.add(namespace);
  }
  return found.size;
}

const MIB = 1024 * 1024;

/** Allows larger artifacts than the defaults: the visitor sees what is stored. */
const SESSION_RETENTION: RetentionConfig = { max_artifact_bytes: 512 * MIB, max_session_bytes: 2048 * MIB };

/** Both stores, and the sessions that open them. */
export class Stores {
  readonly session = new IndexedDbArtifactStore({
    name: "sluice-session",
    retention: SESSION_RETENTION,
  });
  readonly files = new IndexedDbArtifactStore({ name: "sluice-files", retention: null });
  readonly sessions = new IndexedDbArtifactSessions();

  /** The store of a scope: My Files have no session. */
  readonly of = ({ session_id }: ArtifactScope): ArtifactStore => (session_id == null ? this.files : this.session);

  /** Opens the stores; replaces keys that are no longer valid. */
  async open(keys: Partial<Keys>): Promise<{ readonly keys: Keys; readonly scope: ArtifactScope }> {
    // Removes partial writes of closed tabs and expired artifacts.
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
