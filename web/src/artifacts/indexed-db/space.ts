/**
 * The room that a browser gives a site.
 * @module
 */
import type { StoreSpace } from "../store.js";

/** Bytes that open writers of one store took and that the browser does not count yet. */
export class Unwritten {
  bytes = 0;
}

/**
 * What the browser says, less what is on its way to it; nothing where it does not say. Browsers round, and some say more
 * than they will give: what counts in the end is E_STORE_FULL.
 */
export async function siteSpace(unwritten: Unwritten): Promise<StoreSpace> {
  const storage = (globalThis.navigator as Partial<Navigator> | undefined)?.storage as
    | Partial<StorageManager>
    | undefined;
  if (!storage?.estimate) return { free_bytes: 0, total_bytes: 0 };
  // Before the browser is asked: what arrives there meanwhile may count twice, never not at all.
  const coming = unwritten.bytes;
  const { usage = 0, quota = 0 } = await storage.estimate();
  return { free_bytes: Math.max(0, quota - usage - coming), total_bytes: quota };
}
