/**
 * What a stream gives, in as few pieces as possible (Node).
 * @module
 */
import type { Readable } from "node:stream";

/** Bytes that are held before the stream is told to wait. */
const MOST = 1024 * 1024;

/**
 * All that has come since the last piece was taken, as one piece. A pipe gives 64 KiB at a time, and may have given several
 * by the time they are asked for: to pass them on one by one costs more than to put them together. Errors of the stream
 * are thrown; who stops before its end destroys it.
 */
export async function* gathered(stream: Readable): AsyncGenerator<Uint8Array> {
  const gathering = new Gathering(stream);
  try {
    for (let piece = await gathering.next(); piece !== undefined; piece = await gathering.next()) yield piece;
  } finally {
    stream.destroy();
  }
}

class Gathering {
  readonly #stream: Readable;
  #pieces: Buffer[] = [];
  #size = 0;
  #end: { readonly error: Error | undefined } | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: Readable) {
    this.#stream = stream;
    stream.on("data", (piece: Buffer) => this.#add(piece));
    stream.once("error", (error: Error) => this.#finish(error));
    for (const event of ["end", "close"]) stream.once(event, () => this.#finish(undefined));
  }

  /** Undefined behind the last one. */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#size === 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#size > 0) return this.#take();
    if (this.#end?.error !== undefined) throw this.#end.error;
    return undefined;
  }

  #take(): Uint8Array {
    const [first] = this.#pieces;
    const piece = first?.length === this.#size ? first : Buffer.concat(this.#pieces, this.#size);
    this.#pieces = [];
    this.#size = 0;
    if (this.#stream.isPaused()) this.#stream.resume();
    return piece;
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size >= MOST) this.#stream.pause();
    this.#wake?.();
  }

  #finish(error: Error | undefined): void {
    this.#end ??= { error };
    this.#wake?.();
  }
}
