/**
 * How much of each limit is taken.
 * @module
 */
import type { Limit, Measured } from "./limits.js";

/** An artifact as it is counted: two of the same content have the same `sha256`. */
export type Counted = Measured & { readonly sha256: string | null };

/** A limit with the group in which it is passed. */
export interface Passed {
  readonly limit: Limit;
  readonly group: string;
  /** Of both, to tell it from others by. */
  readonly name: string;
}

/** Sums over the artifacts that were added and not removed. */
export class Tally {
  readonly #limits: readonly Limit[];
  /** By limit: what it is set to, or was moved to. */
  readonly #most: number[];
  /** By limit, then by group. */
  readonly #sums: readonly Map<string, number>[];
  /** The groups that are past their limit, by limit. */
  readonly #over: readonly Set<string>[];
  /** How many artifacts share a content, for limits that count it once. */
  readonly #sharing = new Map<string, number>();

  constructor(limits: readonly Limit[]) {
    this.#limits = limits;
    this.#most = limits.map(({ most }) => most);
    this.#sums = limits.map(() => new Map<string, number>());
    this.#over = limits.map(() => new Set<string>());
  }

  add(artifact: Counted): void {
    const sharers = this.#share(artifact, 1);
    this.#count(artifact, 1, sharers === 1);
  }

  remove(artifact: Counted): void {
    const sharers = this.#share(artifact, -1);
    this.#count(artifact, -1, sharers === 0);
  }

  /** Bytes or artifacts that a limit counts in a group. */
  sum(limit: Limit, group: string): number {
    return this.#sums[this.#limits.indexOf(limit)]?.get(group) ?? 0;
  }

  /** Moves a limit that has one group only. */
  allow(limit: Limit, group: string, most: number): void {
    const at = this.#limits.indexOf(limit);
    this.#most[at] = most;
    this.#judge(at, group, this.sum(limit, group));
  }

  /** The narrowest limit that is passed, but for those with these names; null when all hold. */
  passed(except?: ReadonlySet<string>): Passed | null {
    for (const [at, limit] of this.#limits.entries()) {
      for (const group of this.#over[at] ?? []) {
        const name = `${limit.key} ${group}`;
        if (except?.has(name) !== true) return { limit, group, name };
      }
    }
    return null;
  }

  #share({ sha256 }: Counted, more: 1 | -1): number {
    if (sha256 === null) return more === 1 ? 1 : 0;
    const sharers = (this.#sharing.get(sha256) ?? 0) + more;
    if (sharers > 0) this.#sharing.set(sha256, sharers);
    else this.#sharing.delete(sha256);
    return sharers;
  }

  #count(artifact: Counted, sign: 1 | -1, isOnly: boolean): void {
    for (const [at, { counts, once, groupOf }] of this.#limits.entries()) {
      const group = groupOf(artifact);
      if (group === null || (once && !isOnly)) continue;
      const sums = this.#sums[at];
      const sum = (sums?.get(group) ?? 0) + sign * (counts === "bytes" ? artifact.size_bytes : 1);
      // Groups come and go with sessions: an empty one is forgotten.
      if (sum === 0) sums?.delete(group);
      else sums?.set(group, sum);
      this.#judge(at, group, sum);
    }
  }

  #judge(at: number, group: string, sum: number): void {
    if (sum > (this.#most[at] ?? Infinity)) this.#over[at]?.add(group);
    else this.#over[at]?.delete(group);
  }
}
