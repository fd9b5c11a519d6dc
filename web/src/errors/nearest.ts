/**
 * The word that was probably meant.
 * @module
 */

/**
 * The candidate nearest to `word`: one that begins with it, or else one within a third of its length in
 * edits (a swap of neighbours is one edit). Undefined when none is near.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const compared = word.slice(0, 64);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const begins = word.length > 1 && candidate.startsWith(word);
    // It takes an edit for each letter that one of them is longer by.
    if (!begins && Math.abs(compared.length - candidate.length) >= bestDistance) continue;
    const distance = begins ? 0.5 : edits(compared, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Edits between two words: insertion, removal, replacement, swap of neighbours. */
function edits(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, at(beforeLast, j - 2) + 1);
      }
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
