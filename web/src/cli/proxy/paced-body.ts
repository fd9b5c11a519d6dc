/**
 * The body of a response, written no faster than its client reads.
 * @module
 */

/** Bytes that wait for a client before whoever writes has to. */
const MAX_WAITING = 1024 * 1024;

/** A body that is written to. What comes after its end is lost. */
export class PacedBody {
  /** What the client reads. */
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wake: (() => void)[] = [];
  readonly #onGone: () => void;
  readonly #patience: number | undefined;

  /**
   * `onGone` is called when the client goes before the body has ended. One that takes nothing for `patience`
   * milliseconds has gone: others wait behind it.
   */
  constructor(onGone: () => void, patience?: number) {
    this.#onGone = onGone;
    this.#patience = patience;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#resume(),
        cancel: () => {
          this.#close();
          this.#onGone();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING }),
    );
  }

  /** Whether it has not ended. */
  get isOpen(): boolean {
    return this.#controller !== undefined;
  }

  /** Whether whoever writes has to wait. */
  get isFull(): boolean {
    return (this.#controller?.desiredSize ?? 1) <= 0;
  }

  /** Takes bytes at once, which must not be written over; settles when more can be taken. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#controller?.enqueue(bytes);
    if (this.isFull) await this.#room();
  }

  /** It is complete. */
  end(): void {
    this.#controller?.close();
    this.#close();
  }

  /** It will not be complete: the client's connection breaks off, so that it does not take a part for the whole. */
  fail(): void {
    this.#controller?.error(new Error("the response breaks off"));
    this.#close();
  }

  async #room(): Promise<void> {
    const patience = this.#patience;
    const timer = patience === undefined ? undefined : setTimeout(() => this.#giveUp(), patience);
    await new Promise<void>((resolve) => void this.#wake.push(resolve));
    clearTimeout(timer);
  }

  #giveUp(): void {
    this.fail();
    this.#onGone();
  }

  #close(): void {
    this.#controller = undefined;
    this.#resume();
  }

  #resume(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
