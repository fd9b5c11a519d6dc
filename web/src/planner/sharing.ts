/**
 * How the results of one step share what the model sees of them.
 * @module
 */

/** The core clamps to no less (`kMinObservationChars`). */
const LEAST = 256;

/**
 * The most that each may have, so that together they have no more than there is: who needs less than an equal share leaves the rest to the
 * others. Nobody gets less than 256, of which more than `total` may come where there are hundreds.
 */
export function shared(needs: readonly number[], total: number): readonly number[] {
  let left = total;
  let waiting = needs.length;
  const shares = needs.map(() => 0);
  const bySize = needs.map((need, at) => ({ need, at })).sort((a, b) => a.need - b.need);
  for (const { need, at } of bySize) {
    const share = Math.max(LEAST, Math.floor(left / waiting));
    shares[at] = Math.min(need, share);
    left -= shares[at];
    waiting -= 1;
  }
  return shares;
}
