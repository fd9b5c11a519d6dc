/**
 * Lines to one stream from several sides: no line is ever broken into by another.
 * @module
 */

import { joined } from "./bytes.js";

const NEWLINE = 0x0a;

/** Pieces of a line that are held one by one: each costs more than its bytes. */
const MAX_PIECES = 4096;

/** Writes whole lines, and lines that come in pieces. */
export class LineWriter {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  #turn: Promise<void> = Promise.resolve();

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** Writes a line when no other is being written. */
  async line(text: string | Uint8Array): Promise<void> {
    const lane = this.lane();
    await lane.forward(typeof text === "string" ? new TextEncoder().encode(text) : text);
    await lane.complete();
  }

  /**
   * A writer of lines in pieces. Up to `most` bytes of a line are collected before the first of them is written, so that
   * a shorter line that stalls keeps nobody waiting. From the first byte written until the line is complete, nobody else
   * writes.
   */
  lane(most = 0): Lane {
    return new Lane(() => this.#take(), this.#write, most);
  }

  /** Waits for everything before, and gives what lets go. */
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

/** One side that writes lines. */
export interface LineLane {
  /** Takes bytes that must not be written over; settles when more can be taken. */
  forward(bytes: Uint8Array): Promise<void>;
  /** Ends the line. Without a line it does nothing. */
  complete(): Promise<void>;
}

/** A side that writes to a stream among others. */
class Lane implements LineLane {
  readonly #take: () => Promise<() => void>;
  readonly #send: (bytes: Uint8Array) => Promise<void>;
  readonly #most: number;
  /** The last piece of a line is always held: its end is written with it. */
  #held: Uint8Array[] = [];
  #size = 0;
  #release: (() => void) | undefined;

  /** @param take waits until nobody else writes; gives what lets the next one write. */
  constructor(take: () => Promise<() => void>, send: (bytes: Uint8Array) => Promise<void>, most: number) {
    this.#take = take;
    this.#send = send;
    this.#most = most;
  }

  async forward(bytes: Uint8Array): Promise<void> {
    this.#held.push(bytes);
    this.#size += bytes.length;
    if (this.#held.length > MAX_PIECES) this.#held = [joined(this.#held)];
    if (this.#release === undefined && this.#size <= this.#most) return;
    this.#release ??= await this.#take();
    await this.#write(1);
  }

  async complete(): Promise<void> {
    if (this.#held.length === 0) return;
    this.#release ??= await this.#take();
    await this.#write(0);
  }

  /** Gives up the line: nothing is written of one that was not begun, and one that was is ended. */
  async drop(): Promise<void> {
    if (this.#release === undefined) this.#forget();
    else await this.complete();
  }

  /** Writes all but so many pieces; what is left when none is ends the line. */
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

/** A line with its end, in one piece: two writes cost the system twice as much. */
export function withNewline(bytes: Uint8Array): Uint8Array {
  const line = new Uint8Array(bytes.length + 1);
  line.set(bytes);
  line[bytes.length] = NEWLINE;
  return line;
}
