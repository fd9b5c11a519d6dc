/**
 * Work that others may come before.
 * @module
 */
import type { StorageAct } from "../../errors/storage.js";
import { contended } from "./failures.js";

/** Says that somebody else came first. */
export const AGAIN: unique symbol = Symbol("again");

const ATTEMPTS = 32;
/** Milliseconds of a pause, at most. */
const LONGEST = 200;

/**
 * Does it over and over until nobody comes before, after pauses that grow and are never the same.
 *
 * @throws SluiceError E_STORE_READ or E_STORE_WRITE when it is always others.
 */
export async function again<T>(act: StorageAct, work: (attempt: number) => Promise<T | typeof AGAIN>): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const outcome = await work(attempt);
    if (outcome !== AGAIN) return outcome;
    await pause(Math.random() * Math.min(LONGEST, 5 * 2 ** attempt));
  }
  throw contended(act);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
