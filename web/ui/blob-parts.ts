/**
 * Bytes on their way into a Blob.
 * @module
 */

/** Bytes after which pieces are handed to a Blob, which need not stay in memory. */
const BATCH = 16 * 1024 ** 2;

/** Pieces that become one Blob. */
export class BlobParts {
  readonly #batches: Blob[] = [];
  #batch: Uint8Array<ArrayBuffer>[] = [];
  #held = 0;

  /** Takes the next piece. */
  add(piece: Uint8Array): void {
    this.#batch.push(piece as Uint8Array<ArrayBuffer>);
    this.#held += piece.byteLength;
    if (this.#held < BATCH) return;
    this.#batches.push(new Blob(this.#batch));
    this.#batch = [];
    this.#held = 0;
  }

  /** All pieces so far, with a media type. */
  blob(type: string): Blob {
    return new Blob([...this.#batches, ...this.#batch], { type });
  }
}
