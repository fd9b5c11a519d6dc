/**
 * A store that goes when the program does: `--store session`.
 * @module
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileArtifactStore } from "../../artifacts/file/file-store.js";

const PREFIX = "sluice-session-";

/** A store in a private folder of its own. */
export class SessionStore implements AsyncDisposable {
  readonly store: FileArtifactStore;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.store = new FileArtifactStore(folder);
  }

  /** Makes one, and removes what programs left behind that were killed. */
  static async open(): Promise<SessionStore> {
    await removeLeftovers();
    return new SessionStore(await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removed(this.#folder);
  }
}

async function removeLeftovers(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const pid = /^sluice-session-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await removed(join(tmpdir(), name));
  }
}

/** Folders of other users cannot be removed, and are theirs to remove. */
async function removed(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
