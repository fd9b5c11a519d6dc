/**
 * Lines to one stream from several sides: no line is ever broken into by another.
 * @module
 */

const NEWLINE = new Uint8Array([0x0a]);

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
    return {
      forward: async (bytes) => {
        release ??= await this.#take();
        try {
          await this.#write(bytes);
        } catch (error) {
          release();
          release = undefined;
          throw error;
        }
      },
      complete: async () => {
        if (release === undefined) return;
        try {
          await this.#write(NEWLINE);
        } finally {
          release();
          release = undefined;
        }
      },
    };
  }

  /** Waits for everything before, and gives what lets go. */
  async #take(): Promise<() => void> {
    let release = (): void => undefined;
    const before = this.#turn;
    this.#turn = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return release;
  }
}

/** One side that writes lines. */
export interface LineLane {
  forward(bytes: Uint8Array): Promise<void>;
  complete(): Promise<void>;
}
