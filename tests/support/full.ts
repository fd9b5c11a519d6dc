/**
 * What `npm test` does briefly and `npm run test:full` at length. A test that only the full run does is counted as skipped
 * elsewhere: `test.runIf(isFull)`.
 * @module
 */

/** Whether this test runs at full length: in `npm run test:full`, or in a stale suite where `CI` is set. */
export const isFull = typeof process !== "undefined" && process.env["SLUICE_TESTS"] === "full";

/**
 * The one of two amounts that this run takes: repetitions, runs of a property, bytes, seconds.
 * @param brief enough to notice a fault that is always there
 * @param full what finds a rare one
 */
export function amount(brief: number, full: number): number {
  return isFull ? full : brief;
}
