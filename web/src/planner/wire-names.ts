/**
 * Tools' names as models' APIs take them: letters, digits, `_` and `-`, at most 64.
 * @module
 */

const MOST = 64;
const DIGITS = 6;

/**
 * A name for each name, and none twice. It depends on all of the names, so that the same catalog gives the same names in every process;
 * one that would be another's, or is too long, ends in a few digits of its own.
 */
export function wireNames(names: readonly string[]): ReadonlyMap<string, string> {
  const plain = new Map(names.map((name) => [name, name.replaceAll(/[^\w-]/g, "_")]));
  const count = new Map<string, number>();
  for (const wire of plain.values()) count.set(wire, (count.get(wire) ?? 0) + 1);
  const taken = new Set<string>();
  const made = new Map<string, string>();
  for (const [name, wire] of plain) {
    const isOwn = wire.length <= MOST && (wire === name || count.get(wire) === 1);
    made.set(name, distinct(isOwn ? wire : marked(wire, name), taken));
  }
  return made;
}

function marked(wire: string, name: string): string {
  return `${wire.slice(0, MOST - DIGITS - 1)}_${digitsOf(name)}`;
}

function distinct(wire: string, taken: Set<string>): string {
  let own = wire;
  for (let number = 2; taken.has(own); number += 1) own = `${wire.slice(0, MOST - 8)}_${number}`;
  taken.add(own);
  return own;
}

/** FNV-1a: names are told apart by it, nothing is kept secret. */
function digitsOf(name: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0").slice(0, DIGITS);
}
