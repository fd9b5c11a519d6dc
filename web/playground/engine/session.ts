/**
 * The session: whose everything is, from opening to ending.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "mcp-sluice";
import { endSession } from "mcp-sluice/browser";
import type { MyFiles } from "./my-files.js";
import type { Keys } from "./shelves.js";
import { Stores } from "./stores.js";

/** One session, and My Files, which outlive it. */
export class Session {
  readonly #stores = new Stores();
  readonly #onFiles: () => void;
  #keys: Keys | undefined;
  #scope: ArtifactScope = {};
  #myFiles: Promise<MyFiles> | undefined;

  /** Tells when tools made files. */
  constructor(onFiles: () => void) {
    this.#onFiles = onFiles;
  }

  /** Where results' artifacts go. */
  get store(): ArtifactStore {
    return this.#stores.session;
  }

  /** Where My Files are. */
  get files(): ArtifactStore {
    return this.#stores.files;
  }

  /** My Files by their names; loaded when somebody has to do with them. */
  myFiles(): Promise<MyFiles> {
    this.#myFiles ??= this.#loaded();
    return this.#myFiles;
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

  async #loaded(): Promise<MyFiles> {
    try {
      const { MyFiles } = await import("./my-files.js");
      return new MyFiles(this.files, this.#onFiles);
    } catch (error) {
      // A network that is away may be there later.
      this.#myFiles = undefined;
      throw error;
    }
  }
}
