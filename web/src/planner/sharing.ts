/**
 * How the results of one step share what the model sees of them.
 * @module
 */

/** Characters: the core clamps to no less (`kMinObservationChars`). */
export const LEAST_SHARE = 256;

/**
 * The most that each may have, so that together they have no more than there is: who needs less than an equal share leaves the rest to the
 * others. Nobody gets less than 256 who needs it: more than `total` comes only where `total` is below 256 for each.
 */
export function shared(needs: readonly number[], total: number): readonly number[] {
  const most = levelOf(needs, total);
  return needs.map((need) => Math.min(need, most));
}

/** One level for all: while needs become smaller it only rises, so that what was cut to it stays within it. */
function levelOf(needs: readonly number[], total: number): number {
  let left = total;
  for (const [at, need] of needs.toSorted((a, b) => a - b).entries()) {
    const level = Math.max(LEAST_SHARE, Math.floor(left / (needs.length - at)));
    if (need > level) return level;
    left -= need;
  }
  return Infinity;
}
