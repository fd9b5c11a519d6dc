/**
 * The first bytes of a stream, and their text by lines.
 * @module
 */

/** Bytes per line. A multi-byte character belongs to the line it starts in. */
const LINE = 120;
/** Bytes that are held. */
export const MAX_HELD = 32 * 1024 * 1024;

/** Bytes as they are read. */
export class RawBytes {
  readonly #chunks: Uint8Array[] = [];
  readonly #starts: number[] = [];
  #size = 0;
  #more = false;

  /** How many are held. */
  get size(): number {
    return this.#size;
  }

  /** Whether the stream had more than may be held. */
  get more(): boolean {
    return this.#more;
  }

  /** How many lines there are so far. */
  get lines(): number {
    return Math.ceil(this.#size / LINE);
  }

  /** Reads a stream up to the limit and then cancels it. Calls `heard` after each chunk. */
  async read(
    stream: ReadableStream<Uint8Array>,
    heard: () => void,
    signal: AbortSignal,
    most = MAX_HELD,
  ): Promise<void> {
    const reader = stream.getReader();
    const stop = (): void => void reader.cancel().catch(() => undefined);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || signal.aborted) return;
        const room = most - this.#size;
        this.#more = value.length > room;
        this.#add(value.subarray(0, room));
        heard();
        if (this.#more) return stop();
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** The text of a line from 0, with control pictures for control characters. */
  line(number: number): string {
    const begin = this.#boundary(number * LINE);
    const end = this.#boundary(Math.min((number + 1) * LINE, this.#size));
    return new TextDecoder().decode(this.#slice(begin, end)).replace(/[\0-\x1f\x7f]/g, picture);
  }

  #add(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk.slice());
    this.#starts.push(this.#size);
    this.#size += chunk.length;
  }

  // The first place from `at` on that is not in the middle of a character.
  #boundary(at: number): number {
    let place = at;
    while (place > 0 && place < this.#size && place < at + 3 && ((this.#byte(place) ?? 0) & 0xc0) === 0x80) place += 1;
    return place;
  }

  #byte(at: number): number | undefined {
    const index = this.#readChunk(at);
    return this.#chunks[index]?.[at - (this.#starts[index] ?? 0)];
  }

  #slice(begin: number, end: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(end - begin);
    let at = begin;
    for (let index = this.#readChunk(begin); at < end; index += 1) {
      const chunk = this.#chunks.at(index);
      if (chunk === undefined) break;
      const start = this.#starts[index] ?? 0;
      const part = chunk.subarray(at - start, end - start);
      bytes.set(part, at - begin);
      at += part.length;
    }
    return bytes;
  }

  #readChunk(at: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function picture(control: string): string {
  const unit = control.charCodeAt(0);
  return unit === 0x7f ? "\u2421" : String.fromCharCode(0x2400 + unit);
}
