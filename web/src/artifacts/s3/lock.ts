/**
 * Work that only one at a time may do, over all machines that share a bucket.
 * @module
 */
import type { Bucket, Versioned } from "./bucket.js";
import { LOCK, newName } from "./layout.js";

/** Milliseconds that a lock is held without being renewed, and how often it is. */
const LEASE = 5 * 60_000;
const RENEWAL = 60_000;
/** A lock's object has fewer bytes. */
const MAX_LOCK = 4096;

/** Does work unless somebody else is at it. Of one who died the lock lapses after five minutes. */
export async function exclusively<T>(bucket: Bucket, work: () => Promise<T>): Promise<T | null> {
  const seen = await bucket.read(LOCK, MAX_LOCK);
  if (seen !== null && untilIn(seen) > Date.now()) return null;
  const holder = newName();
  let etag = await bucket.writeIf(LOCK, lease(holder, LEASE), seen === null ? { none: true } : { etag: seen.etag });
  if (etag === null) return null;
  let renewing = Promise.resolve();
  const renew = async (milliseconds: number): Promise<void> => {
    if (etag !== null) etag = await bucket.writeIf(LOCK, lease(holder, milliseconds), { etag }).catch(() => null);
  };
  const timer = setInterval(() => {
    renewing = renewing.then(() => renew(LEASE));
  }, RENEWAL);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewing;
    // Not deleted: who comes next might have it by then.
    await renew(0);
  }
}

function lease(holder: string, milliseconds: number): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ holder, until: Date.now() + milliseconds }));
}

/** When a lock lapses. One that nobody can read holds nobody off. */
function untilIn({ bytes }: Versioned): number {
  try {
    const { until } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly until?: unknown };
    return typeof until === "number" ? until : 0;
  } catch {
    return 0;
  }
}
