/**
 * When a ref was stored and used last: the modification times of its `ref.json` and of its folder, so that noting
 * them is one call and needs no file of its own.
 * @module
 */
import { lstat, lutimes } from "node:fs/promises";
import { join } from "node:path";
import { REF } from "./layout.js";
import { isAbsent } from "./plain.js";

/** Stamps, see `Stamps`. */
export interface Times {
  readonly stored: number;
  readonly used: number;
}

/** The times of a ref's folder; throws the system's ENOENT when there is none. */
export async function timesOf(refFolder: string): Promise<Times> {
  const [folder, file] = await Promise.all([modified(refFolder), modified(join(refFolder, REF))]);
  return { stored: file, used: folder };
}

/** When a file or folder was written last. */
export function modified(path: string): Promise<number> {
  return lstat(path, { bigint: true }).then(({ mtimeNs }) => Number(mtimeNs / 1000n));
}

/** Notes that an artifact was stored: before it is published, or again. False when it is not there. */
export async function noteStored(refFolder: string, stamp: number): Promise<boolean> {
  return (await stamped(join(refFolder, REF), stamp)) && stamped(refFolder, stamp);
}

/** Notes that an artifact was read, where the disk lets us. */
export async function noteUsed(refFolder: string, stamp: number): Promise<void> {
  await stamped(refFolder, stamp).catch(() => undefined);
}

/** Sets when a file was written last. */
export async function stamped(path: string, stamp: number): Promise<boolean> {
  // A quarter of a microsecond more, for seconds in a double are up to half of that off, and Node may cut or round.
  const seconds = (stamp + 0.25) / 1_000_000;
  try {
    await lutimes(path, seconds, seconds);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
