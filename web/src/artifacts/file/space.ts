/**
 * The disk under a store folder.
 * @module
 */
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "../../errors/storage.js";
import type { StoreSpace } from "../store.js";
import { isAbsent } from "./plain.js";

/** Bytes that open writers of one store took and that are not on the disk yet. */
export class Unwritten {
  bytes = 0;
}

/** What the disk says, less what is on its way to it. A folder that is not there yet will be made in one that is. */
export async function spaceUnder(folder: string, unwritten: Unwritten): Promise<StoreSpace> {
  // Before the disk is asked: what arrives there meanwhile may count twice, never not at all.
  const coming = unwritten.bytes;
  const { bsize, bavail, blocks } = await nearest(folder);
  return { free_bytes: Math.max(0, bavail * bsize - coming), total_bytes: blocks * bsize };
}

async function nearest(folder: string): Promise<{ bsize: number; bavail: number; blocks: number }> {
  for (let at = folder; ; at = dirname(at)) {
    try {
      return await statfs(at);
    } catch (error) {
      if (isAbsent(error) && dirname(at) !== at) continue;
      // Some file systems of users and networks cannot tell.
      if (systemCode(error) === "ENOSYS" || systemCode(error) === "ENOTSUP") return { bsize: 0, bavail: 0, blocks: 0 };
      throw error;
    }
  }
}
