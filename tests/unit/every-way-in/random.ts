/**
 * Numbers that look random and are the same for the same seed.
 * @module
 */

/** Draws for one case. */
export class Random {
  #state: number;

  constructor(...seeds: readonly number[]) {
    this.#state = 0x9e3779b9;
    for (const seed of seeds) this.#state = mixed(this.#state ^ mixed(seed | 0));
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixing = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixing = (mixing + Math.imul(mixing ^ (mixing >>> 7), 61 | mixing)) ^ mixing;
    return ((mixing ^ (mixing >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)] as T;
  }

  /** The list in another order. */
  shuffled<T>(list: readonly T[]): T[] {
    const rest = [...list];
    for (let at = rest.length - 1; at > 0; at -= 1) {
      const other = this.int(0, at);
      [rest[at], rest[other]] = [rest[other] as T, rest[at] as T];
    }
    return rest;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(Math.ceil(length / 4) * 4);
    for (let at = 0; at < length; at += 4) bytes.writeUInt32LE(Math.floor(this.next() * 2 ** 32), at);
    return bytes.subarray(0, length);
  }

  hex(length: number): string {
    return this.bytes(Math.ceil(length / 2))
      .toString("hex")
      .slice(0, length);
  }
}

function mixed(value: number): number {
  let mixing = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixing = Math.imul(mixing ^ (mixing >>> 13), 0xc2b2ae35);
  return mixing ^ (mixing >>> 16);
}
