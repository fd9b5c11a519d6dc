/**
 * Stamps that order what happens in all tabs.
 * @module
 */
import type { Stamps } from "../stamps.js";
import type { Writing } from "./schema.js";

const LAST = "last";

/** Microseconds that another tab's stamp may lie ahead. By more its clock is wrong, which must not become everyone's. */
const AHEAD = 1_000_000;

/**
 * A stamp that nobody else gets: tabs read the same clock, in whole milliseconds. To be called in a transaction over
 * `clock`.
 */
export async function stamped(transaction: Writing, stamps: Stamps): Promise<number> {
  const clock = transaction.objectStore("clock");
  const last = await clock.get(LAST);
  const own = stamps.next();
  const stamp = last !== undefined && last >= own && last - own < AHEAD ? last + 1 : own;
  stamps.after(stamp);
  await clock.put(stamp, LAST);
  return stamp;
}
