/**
 * An answer on its way to a client that may be slow, or gone.
 * @module
 */
import type { ServerResponse } from "node:http";

/** Bytes that a client has to take in time. */
const PIECE = 64 * 1024;

/** How it is sent. */
export interface PacedTerms {
  /** Milliseconds for each piece. */
  readonly patience: number;
  /** What is waited for between the last piece and the end; must not throw. */
  readonly beforeEnd: (() => Promise<void>) | undefined;
}

/**
 * The body of an answer in pieces, each of which has to be taken in time. What fails breaks the connection: a part must not look
 * like the whole.
 */
export class PacedAnswer {
  /** To be sent in place of the one that was given. */
  readonly response: Response;
  /** Whether it is one that lasts as long as somebody listens. */
  readonly isLasting: boolean;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #outgoing: ServerResponse;
  readonly #patience: number;
  readonly #beforeEnd: (() => Promise<void>) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #rest: Uint8Array | undefined;
  #isOver = false;
  #isGone = false;

  /** To be made where the answer is about to be sent. */
  constructor(response: Response, outgoing: ServerResponse, { patience, beforeEnd }: PacedTerms) {
    this.#reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
    this.#outgoing = outgoing;
    this.#patience = patience;
    this.#beforeEnd = beforeEnd;
    this.isLasting = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    outgoing.once("close", () => {
      this.#isGone = true;
      this.#leave();
    });
    const body = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: (reason) => this.#cancel(reason) },
      { highWaterMark: 0 },
    );
    this.response = new Response(body, response);
  }

  /** Has it end early, as if there were no more. */
  end(): void {
    this.#isOver = true;
    this.#reader.cancel().catch(() => undefined);
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#leave();
    const piece = await this.#next();
    if (piece === undefined) await this.#beforeEnd?.();
    if (!this.#isGone) this.#timer = setTimeout(() => this.#outgoing.destroy(), this.#patience);
    if (piece === undefined) controller.close();
    else controller.enqueue(piece);
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      const whole = this.#rest ?? (await this.#read());
      if (whole === undefined) return undefined;
      this.#rest = whole.byteLength > PIECE ? whole.subarray(PIECE) : undefined;
      return this.#rest === undefined ? whole : whole.subarray(0, PIECE);
    } catch {
      this.#outgoing.destroy();
      return undefined;
    }
  }

  async #read(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#reader.read();
    return done || this.#isOver ? undefined : value;
  }

  async #cancel(reason: unknown): Promise<void> {
    this.#leave();
    await this.#reader.cancel(reason);
  }

  #leave(): void {
    clearTimeout(this.#timer);
  }
}
