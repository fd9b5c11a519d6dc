/**
 * The time from nothing to the first answer.
 * @module
 */
import { apart, median } from "./measure.mjs";

/** Milliseconds, at most. */
const LIMIT = 50;

/** Loading the library, compiling the core and one transform, each round in a process of its own. */
export async function firstUse(rounds) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) times.push((await apart("first-use-child.mjs")).time);
  const time = median(times);
  return { seen: `${time.toFixed(0)} ms`, bar: `< ${LIMIT} ms`, met: time < LIMIT, times };
}
