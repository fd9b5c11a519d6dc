/**
 * Lines to one stream from several sides: no line is ever broken into by another.
 * @module
 */

const NEWLINE = 0x0a;

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

  /** A writer of lines in pieces. From the first piece of a line until it is complete, nobody else writes. */
  lane(): LineLane {
    let release: (() => void) | undefined;
    let held: Uint8Array | undefined;
    const write = async (bytes: Uint8Array): Promise<void> => {
      try {
        await this.#write(bytes);
      } catch (error) {
        release?.();
        release = undefined;
        held = undefined;
        throw error;
      }
    };
    return {
      forward: async (bytes) => {
        release ??= await this.#take();
        const before = held;
        held = bytes;
        if (before !== undefined) await write(before);
      },
      complete: async () => {
        if (release === undefined || held === undefined) return;
        await write(withNewline(held));
        release();
        release = undefined;
        held = undefined;
      },
    };
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
  forward(bytes: Uint8Array): Promise<void>;
  complete(): Promise<void>;
}

/** A line with its end, in one piece: two writes cost the system twice as much. */
export function withNewline(bytes: Uint8Array): Uint8Array {
  const line = new Uint8Array(bytes.length + 1);
  line.set(bytes);
  line[bytes.length] = NEWLINE;
  return line;
}
