/**
 * A store that goes when the program does: `--store session`.
 * @module
 */
import { FileArtifactStore } from "../../artifacts/file/file-store.js";
import { PrivateFolder } from "./private-folder.js";

/** A store in a private folder of its own. */
export class SessionStore implements AsyncDisposable {
  readonly store: FileArtifactStore;
  readonly #folder: PrivateFolder;

  private constructor(folder: PrivateFolder) {
    this.#folder = folder;
    this.store = new FileArtifactStore(folder.path);
  }

  static async open(): Promise<SessionStore> {
    return new SessionStore(await PrivateFolder.open("session"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}
