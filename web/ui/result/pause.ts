/**
 * Long work in parts, between which the page answers.
 * @module
 */

/** Texts longer than this are worked on in parts. */
export const LARGE = 500_000;

/** Lets the page draw and answer before more is done. */
export function pause(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve));
}
