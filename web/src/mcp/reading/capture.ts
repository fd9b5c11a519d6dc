/**
 * A stretch of bytes that pass by in chunks, up to a length.
 * @module
 */

/** Keeps copies: chunks may be written over by whoever gave them. */
export class Capture {
  readonly #most: number;
  #pieces: Uint8Array[] = [];
  #kept = 0;
  #next = 0;
  #isCut = false;

  /** `most` is in bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether there was more than is kept. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Starts afresh, at a place counted like those of `take`. */
  begin(at: number): void {
    this.#pieces = [];
    this.#kept = 0;
    this.#next = at;
    this.#isCut = false;
  }

  /** Takes what was not taken yet, up to `until`; the chunk's first byte stands at `base`. */
  take(chunk: Uint8Array, base: number, until: number): void {
    const from = this.#next - base;
    const to = until - base;
    if (to <= from) return;
    this.#next = until;
    const piece = chunk.slice(from, Math.min(to, from + this.#most - this.#kept));
    this.#kept += piece.length;
    if (piece.length < to - from) this.#isCut = true;
    if (piece.length > 0) this.#pieces.push(piece);
  }

  /** What was kept, as UTF-8; a character that is not whole because of the cut is left out. */
  text(): string {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const text = this.#pieces.map((piece) => decoder.decode(piece, { stream: true })).join("");
    return this.#isCut ? text : text + decoder.decode();
  }
}
