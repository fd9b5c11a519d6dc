/**
 * Bytes of which the beginning is held, so that more than one reading of it may be tried.
 * @module
 */
import { joined } from "../../../transports/bytes.js";

/** Bytes that come; the first of them may be had as often as one likes, until what follows is asked for. */
export class HeldBytes implements AsyncDisposable {
  readonly #rest: AsyncIterator<Uint8Array>;
  #head: Uint8Array = new Uint8Array(0);
  #isWhole = false;
  #isSpent = false;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#rest = bytes[Symbol.asyncIterator]();
  }

  /** Reads until `limit` bytes or the end are there, and gives what is held. */
  async hold(limit: number): Promise<Uint8Array> {
    const pieces = [this.#head];
    let size = this.#head.length;
    while (!this.#isWhole && size < limit) {
      const { done = false, value } = await this.#rest.next();
      if (done) {
        this.#isWhole = true;
      } else {
        // A piece may be a view of memory that is used again.
        pieces.push(value.slice());
        size += value.length;
      }
    }
    this.#head = joined(pieces.filter(({ length }) => length > 0));
    return this.#head;
  }

  /** Whether all there is is held. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Whether what follows the beginning was asked for, which comes only once. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** All bytes. May be called again as long as it is not spent. */
  async *all(): AsyncGenerator<Uint8Array> {
    if (this.#head.length > 0) yield this.#head;
    if (this.#isWhole) return;
    this.#isSpent = true;
    for (;;) {
      const { done = false, value } = await this.#rest.next();
      if (done) return;
      yield value;
    }
  }

  /** Lets go of where the bytes come from. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rest.return?.();
  }
}
