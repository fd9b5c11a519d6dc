/**
 * How a call is named among all of a turn: ids are unique in their step alone.
 * @module
 */

/** The step has no space in it, so no two calls share a name. */
export function callKey(step: number, call: string): string {
  return `${step} ${call}`;
}
