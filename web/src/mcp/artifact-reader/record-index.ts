/**
 * Where the lines, rows and pages of artifacts begin, so that the one at the end of a long artifact is not looked for from its beginning
 * again. Every read of them tells what it passes.
 * @module
 */

/** Fewest bytes between two places. */
const STEP = 64 * 1024;

/** Most places of one index: where there are more, every second one is forgotten. Those of 1 GiB fit. */
const MAX_PLACES = 16_384;

/** Most indexes that are held: 256 KiB each at most. */
const MAX_INDEXES = 16;

/** Where a record begins. */
export interface RecordStart {
  /** Offset of its first byte in the artifact. */
  readonly offset: number;
  /** Records before it. */
  readonly before: number;
}

/** What is known of the records of an artifact. */
interface RecordCount {
  readonly total: number;
  /** Whether a quote is never closed. */
  readonly isUnclosed: boolean;
}

/** Places of the records of one artifact, read in one way. All are true of its bytes, whichever read found them and however it ended. */
export class RecordIndex {
  /** Known once a read came to the end. */
  count: RecordCount | undefined;
  #places: RecordStart[] = [];
  #step = STEP;

  /** The first record. Undefined before one was seen. */
  get first(): RecordStart | undefined {
    return this.#places[0];
  }

  /** Takes the start of a record, unless it is near one that is known. */
  add(start: RecordStart): void {
    const last = this.#places.at(-1);
    if (last === undefined ? start.before > 0 : start.offset < last.offset + this.#step) return;
    this.#places.push(start);
    if (this.#places.length <= MAX_PLACES) return;
    this.#places = this.#places.filter((_, at) => at % 2 === 0);
    this.#step *= 2;
  }

  /** The last place at the record with this number or before it, from 1. Undefined where none is known. */
  find(number: number): RecordStart | undefined {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#places[middle] as RecordStart).before < number) low = middle + 1;
      else high = middle;
    }
    return this.#places[low - 1];
  }
}

/** The indexes of the artifacts that were read last. */
export class RecordIndexes {
  readonly #indexes = new Map<string, RecordIndex>();

  /** The index with a key, which names an artifact, the hash of its bytes, and how it is read. A new one where there is none. */
  open(key: string): RecordIndex {
    const index = this.#indexes.get(key) ?? new RecordIndex();
    this.#indexes.delete(key);
    this.#indexes.set(key, index);
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size > MAX_INDEXES && oldest !== undefined) this.#indexes.delete(oldest);
    return index;
  }
}
