/**
 * Folders of this process alone, which go when it does.
 * @module
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a folder is for: a part of its name. */
export type FolderUse = "session" | "copies";

/** A folder that nobody else may look into. */
export class PrivateFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes one, and removes what processes left behind that were killed. */
  static async open(use: FolderUse): Promise<PrivateFolder> {
    await removeLeftovers();
    return new PrivateFolder(await mkdtemp(join(tmpdir(), `sluice-${use}-${process.pid}-`)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removed(this.path);
  }
}

async function removeLeftovers(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const pid = /^sluice-(?:session|copies)-(\d+)-/.exec(name)?.[1];
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
