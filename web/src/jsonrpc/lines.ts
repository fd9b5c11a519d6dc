/**
 * Newline-delimited messages: reads lines in pieces without holding them, and writes lines from several sources to one
 * stream.
 * @module
 */
import { joinBytes } from "../artifacts/bytes.js";
import { indexOfByte } from "#byte-search";

const NEWLINE = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** A part of one line, without its newline. */
interface LinePiece {
  readonly bytes: Uint8Array;
  /** Whether the line ends here. */
  readonly last: boolean;
}

/** Splits chunks at `\n`. An unterminated last line ends with the stream; a final newline starts no further line. */
export async function* linePieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LinePiece> {
  let open = false;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = indexOfByte(chunk, NEWLINE); at >= 0; at = indexOfByte(chunk, NEWLINE, from)) {
      yield { bytes: chunk.subarray(from, at), last: true };
      from = at + 1;
      open = false;
    }
    if (from < chunk.length) {
      yield { bytes: chunk.subarray(from), last: false };
      open = true;
    }
  }
  if (open) yield { bytes: new Uint8Array(0), last: true };
}

/** Whether the bytes are all JSON white space. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === NEWLINE);
}

/** Pieces of a line that are buffered separately. Each has overhead, so more are joined. */
const MAX_PIECES = 4096;

/** Writes lines from several sources to one stream. Lines never interleave. */
export class LineWriter {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  #turn: Promise<void> = Promise.resolve();

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** Writes a line once no other is being written. */
  async line(text: string | Uint8Array): Promise<void> {
    const sink = this.sink();
    await sink.forward(typeof text === "string" ? new TextEncoder().encode(text) : text);
    await sink.complete();
  }

  /**
   * Returns a sink for lines that arrive in pieces. It buffers up to `most` bytes of a line before it locks the stream,
   * so a short line that stalls does not block other lines. From the first byte written until the line is complete, the stream is
   * locked.
   */
  sink(most = 0): SharedLineSink {
    return new SharedLineSink(() => this.#take(), this.#write, most);
  }

  /** Waits for its turn and returns a function that ends it. */
  async #take(): Promise<() => void> {
    const before = this.#turn;
    let release: (() => void) | undefined;
    this.#turn = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return release as unknown as () => void;
  }
}

/** Writes lines in pieces. */
export interface LineSink {
  /** Writes bytes, which the caller must not reuse. Resolves when more can be written. */
  forward(bytes: Uint8Array): Promise<void>;
  /** Ends the line. Does nothing if there is none. */
  complete(): Promise<void>;
}

/** A sink that shares its stream with others. */
class SharedLineSink implements LineSink {
  readonly #take: () => Promise<() => void>;
  readonly #send: (bytes: Uint8Array) => Promise<void>;
  readonly #most: number;
  /** Always holds the last piece of a line: its newline is written with it. */
  #held: Uint8Array[] = [];
  #size = 0;
  #release: (() => void) | undefined;

  /** @param take waits for the stream and returns a function that releases it. */
  constructor(take: () => Promise<() => void>, send: (bytes: Uint8Array) => Promise<void>, most: number) {
    this.#take = take;
    this.#send = send;
    this.#most = most;
  }

  async forward(bytes: Uint8Array): Promise<void> {
    this.#held.push(bytes);
    this.#size += bytes.length;
    if (this.#held.length > MAX_PIECES) this.#held = [joinBytes(this.#held)];
    if (this.#release === undefined && this.#size <= this.#most) return;
    this.#release ??= await this.#take();
    await this.#write(1);
  }

  async complete(): Promise<void> {
    if (this.#held.length === 0) return;
    this.#release ??= await this.#take();
    await this.#write(0);
  }

  /** Abandons the line: writes nothing of an unwritten line, and ends one that was begun. */
  async drop(): Promise<void> {
    if (this.#release === undefined) this.#forget();
    else await this.complete();
  }

  /** Writes all but `left` pieces. With `left` 0 it ends the line. */
  async #write(left: 0 | 1): Promise<void> {
    try {
      while (this.#held.length > left) {
        const bytes = this.#held.shift() as Uint8Array;
        await this.#send(left === 0 && this.#held.length === 0 ? withNewline(bytes) : bytes);
      }
    } catch (error) {
      this.#forget();
      throw error;
    }
    if (left === 0) this.#forget();
  }

  #forget(): void {
    this.#held = [];
    this.#size = 0;
    this.#release?.();
    this.#release = undefined;
  }
}

/** Appends a newline in one array, since a second write costs a second system call. */
export function withNewline(bytes: Uint8Array): Uint8Array {
  const line = new Uint8Array(bytes.length + 1);
  line.set(bytes);
  line[bytes.length] = NEWLINE;
  return line;
}

/** Replaces line breaks by spaces, which JSON treats alike. With `ended`, appends a newline. */
export function oneLine(message: Uint8Array, ended = false): Uint8Array {
  const hasEnds = indexOfByte(message, NEWLINE) >= 0 || indexOfByte(message, CR) >= 0;
  if (!hasEnds && !ended) return message;
  const line = new Uint8Array(message.length + (ended ? 1 : 0));
  line.set(message);
  if (hasEnds) for (const [at, byte] of message.entries()) if (byte === NEWLINE || byte === CR) line[at] = SPACE;
  if (ended) line[message.length] = NEWLINE;
  return line;
}
