/**
 * The session: whose everything is, from opening to ending.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "mcp-sluice";
import { endSession } from "mcp-sluice/browser";
import type { Keys } from "./shelves.js";
import { Stores } from "./stores.js";

/** One session, and My Files, which outlive it. */
export class Session {
  readonly #stores = new Stores();
  #keys: Keys | undefined;
  #scope: ArtifactScope = {};

  /** Where results' artifacts go. */
  get store(): ArtifactStore {
    return this.#stores.session;
  }

  /** Where My Files are. */
  get files(): ArtifactStore {
    return this.#stores.files;
  }

  /** Of the session's artifacts; empty before it is open. */
  get scope(): ArtifactScope {
    return this.#scope;
  }

  /** Opens the stores, with keys of an earlier visit where they still open something. */
  async open(keys: Partial<Keys>): Promise<Keys> {
    const opened = await this.#stores.open(keys);
    this.#keys = opened.keys;
    this.#scope = opened.scope;
    return opened.keys;
  }

  /** Deletes all that it stored; its key opens nothing any more. */
  async end(): Promise<void> {
    if (this.#keys === undefined) return;
    await endSession(this.#keys.session, { sessions: this.#stores.sessions, store: this.#stores.of });
  }
}
