/**
 * Random numbers and words that are the same in every run.
 * @module
 */

/** Words of the sentences. */
export const WORDS =
  "account balance carries delivery estimate figure growth handles invoice journal keeps ledger margin notice offer payment quarter review supply terms under value weekly yield".split(
    " ",
  );

/** Numbers from 0 to below 1, the same ones for the same seed (mulberry32). */
export function numbers(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const whole = (below) => Math.floor(next() * below);
  const one = (list) => list[whole(list.length)];
  const words = (count) => Array.from({ length: count }, () => one(WORDS)).join(" ");
  const sentence = (count) => {
    const text = words(count);
    return `${text[0].toUpperCase()}${text.slice(1)}.`;
  };
  return { next, whole, one, words, sentence };
}
