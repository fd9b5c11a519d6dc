/**
 * The session: its stores, its keys and its scope.
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

  /** The scope of the session's artifacts, once it is open: a page shows remembered calls before. Rejects with what `open` throws. */
  readonly opened: Promise<ArtifactScope>;
  #settle: (scope: Promise<ArtifactScope>) => void = () => undefined;

  /** `onFiles` is called when tools made files. */
  constructor(onFiles: () => void) {
    this.#onFiles = onFiles;
    this.opened = new Promise((resolve) => (this.#settle = resolve));
    // Who waits is told.
    this.opened.catch(() => undefined);
  }

  /** The store of the session's artifacts. */
  get store(): ArtifactStore {
    return this.#stores.session;
  }

  /** The store of My Files. */
  get files(): ArtifactStore {
    return this.#stores.files;
  }

  /** My Files by name; loaded on first use. */
  myFiles(): Promise<MyFiles> {
    this.#myFiles ??= this.#load();
    return this.#myFiles;
  }

  /** The scope of the session's artifacts; empty before it is open. */
  get scope(): ArtifactScope {
    return this.#scope;
  }

  /** Opens the stores, with the keys of an earlier visit if they are still valid. */
  async open(keys: Partial<Keys>): Promise<Keys> {
    const opening = this.#stores.open(keys);
    this.#settle(opening.then(({ scope }) => scope));
    const opened = await opening;
    this.#keys = opened.keys;
    this.#scope = opened.scope;
    return opened.keys;
  }

  /** Deletes everything it stored and revokes its key. */
  async end(): Promise<void> {
    if (this.#keys === undefined) return;
    await endSession(this.#keys.session, { sessions: this.#stores.sessions, store: this.#stores.of });
  }

  async #load(): Promise<MyFiles> {
    try {
      const { MyFiles } = await import("./my-files.js");
      return new MyFiles(this.files, this.#onFiles);
    } catch (error) {
      // The network may be back at the next try.
      this.#myFiles = undefined;
      throw error;
    }
  }
}
