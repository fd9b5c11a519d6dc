/**
 * What a browser has to fetch.
 * @module
 */
import { BUDGETS, coreSize, kilo } from "../size.mjs";

/** Bytes of module and glue, gzipped. */
export function size() {
  const gzipped = coreSize();
  return {
    seen: `${kilo(gzipped)} gzipped`,
    bar: `< ${kilo(BUDGETS.core)}`,
    met: gzipped < BUDGETS.core,
    gzipped,
  };
}
