/**
 * One file for each content: refs hold hard links to it.
 * @module
 */
import { link, lstat, rename, unlink } from "node:fs/promises";
import { systemCode } from "../../errors/storage.js";
import { isAbsent, orNull } from "./plain.js";
import type { Folder, Temporary } from "./folder.js";

const ATTEMPTS = 8;

type Linked = "linked" | "taken" | "absent" | "impossible";

/** Takes the bytes of a content that is stored already, or gives false. */
export async function adopt(folder: Folder, temporary: Temporary, sha256: string, size: number): Promise<boolean> {
  if (!(await folder.check(folder.at.blobFolder(sha256)))) return false;
  if ((await linked(folder.at.blob(sha256), temporary.blob)) !== "linked") return false;
  // A crash of the machine can leave a shorter file under the right name.
  if (await isSound(temporary.blob, size)) return true;
  await unlink(temporary.blob);
  return false;
}

/**
 * Offers a written blob to all refs, or swaps it for the one that is offered already.
 *
 * Where the file system has no hard links, or has reached its limit for one file, the ref keeps a copy of
 * its own: more room taken, nothing else lost.
 */
export async function share(folder: Folder, temporary: Temporary, sha256: string, size: number): Promise<void> {
  const shared = folder.at.blob(sha256);
  await folder.make(folder.at.blobFolder(sha256));
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const offered = await linked(temporary.blob, shared);
    if (offered !== "taken") return;
    const twin = `${temporary.blob}.twin`;
    const adopted = await linked(shared, twin);
    if (adopted === "absent") continue; // its last ref went meanwhile
    if (adopted === "linked" && (await isSound(twin, size))) return rename(twin, temporary.blob);
    await orNull(unlink(twin));
    return replace(temporary.blob, twin, shared);
  }
}

/** Takes a blob away when no ref and no writer holds it: the bytes that this freed, or null. */
export async function release(folder: Folder, sha256: string): Promise<number | null> {
  const stat = await orNull(lstat(folder.at.blob(sha256)));
  if (stat?.isFile() !== true || stat.nlink > 1) return null;
  // A writer may link to it between the two calls: the file lives on in its ref, only not shared.
  return orNull(unlink(folder.at.blob(sha256)).then(() => stat.size));
}

/** Stops offering a blob that turned out to be damaged, so that the next put writes it afresh. */
export async function withdraw(folder: Folder, sha256: string): Promise<void> {
  await orNull(unlink(folder.at.blob(sha256)));
}

async function isSound(path: string, size: number): Promise<boolean> {
  const stat = await lstat(path);
  return stat.isFile() && stat.size === size;
}

async function replace(sound: string, twin: string, shared: string): Promise<void> {
  if ((await linked(sound, twin)) === "linked") await rename(twin, shared);
}

async function linked(from: string, to: string): Promise<Linked> {
  try {
    await link(from, to);
    return "linked";
  } catch (error) {
    if (isAbsent(error)) return "absent";
    switch (systemCode(error)) {
      case "EEXIST":
        return "taken";
      case "EPERM":
      case "EMLINK":
      case "ENOTSUP":
      case "EOPNOTSUPP":
      case "ENOSYS":
      case "EXDEV":
        return "impossible";
      default:
        throw error;
    }
  }
}
