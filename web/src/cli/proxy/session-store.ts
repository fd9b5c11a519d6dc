/**
 * A store that goes when the program does: `--store session`.
 * @module
 */
import { tmpdir } from "node:os";
import { FileArtifactStore } from "../../artifacts/file/file-store.js";
import { CommandError, Exit } from "../exit.js";
import { systemReason } from "../system-reason.js";
import { printable } from "../words.js";
import { PrivateFolder } from "../../artifacts/private-folder.js";

/** A store in a private folder of its own. */
export class SessionStore implements AsyncDisposable {
  readonly store: FileArtifactStore;
  readonly #folder: PrivateFolder;

  private constructor(folder: PrivateFolder) {
    this.#folder = folder;
    this.store = new FileArtifactStore(folder.path);
  }

  /** Throws CommandError, exit 2, where the system's folder for temporary files takes none. */
  static async open(): Promise<SessionStore> {
    try {
      return new SessionStore(await PrivateFolder.open("session"));
    } catch (error) {
      const sentence = `cannot make a folder in ${printable(tmpdir())} for --store session: ${systemReason(error)}`;
      throw new CommandError(Exit.usage, `${sentence}; name another in TMPDIR, or a store with --store DIR`, {
        cause: error,
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}
