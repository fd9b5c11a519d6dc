/**
 * Work beside or within an attempt.
 * @module
 */
import type { Attempt } from "./attempt.js";

/** What is done within another attempt has that one's time limit. */
export const UNLIMITED: Omit<Attempt, "number" | "signal"> = {
  progressed: () => undefined,
  unhurried: (work) => work(),
};

/** Does what the attempt does not fail with: a link that cannot be read costs the result nothing. */
export async function aside<T>(attempt: Omit<Attempt, "number">, work: () => Promise<T>): Promise<T> {
  const outcome = await attempt.unhurried(() => Promise.allSettled([work()]));
  const [settled] = outcome;
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}
