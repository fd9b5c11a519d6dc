/**
 * The files that were probably meant (user storage §3).
 * @module
 */
import { nearest } from "../errors/nearest.js";

/** Names that are told. */
const MAX_TOLD = 3;
/** Names that are compared: each costs the square of its length. */
const MAX_COMPARED = 2000;

/** Names near to one that there is not, the nearest first; case counts for nothing. */
export function nearestNames(name: string, names: readonly string[]): readonly string[] {
  const byKey = new Map(names.slice(0, MAX_COMPARED).map((each) => [each.toLowerCase(), each]));
  const told: string[] = [];
  while (told.length < MAX_TOLD) {
    const key = nearest(name.toLowerCase(), byKey.keys());
    if (key === undefined) break;
    told.push(byKey.get(key) as string);
    byKey.delete(key);
  }
  return told;
}
