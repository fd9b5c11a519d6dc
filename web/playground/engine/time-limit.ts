/**
 * How long servers may be silent, for the engine and for the page.
 * @module
 */

/** Seconds, as long as nobody asks for more. */
export const TIMEOUT = 30;

/** Seconds that a source can be given at most. */
const LONGEST = 300;

/** Twice as many seconds, as far as a source can be given them. */
export function longer(timeout: number): number {
  return Math.min(timeout * 2, LONGEST);
}
