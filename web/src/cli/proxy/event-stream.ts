/**
 * Messages on their way to one HTTP client, as a stream of events.
 * @module
 */

const encoder = new TextEncoder();
const DATA = encoder.encode("event: message\ndata: ");
const END = encoder.encode("\n\n");
const COMMENT = encoder.encode(":\n\n");

/** Bytes that wait for a client before its server has to. */
const MAX_WAITING = 1024 * 1024;

/** How often, in milliseconds, a silent stream shows that it is alive: what stands between closes silent connections. */
const PULSE = 20_000;

/** A stream that is written to. What comes after its end is lost. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wake: (() => void)[] = [];
  readonly #pulse: NodeJS.Timeout;
  readonly #onGone: () => void;
  readonly #patience: number | undefined;

  /**
   * `onGone` is called when the client goes before the stream has ended. One that takes nothing for `patience`
   * milliseconds has gone: others wait behind it.
   */
  constructor(onGone: () => void, patience?: number) {
    this.#onGone = onGone;
    this.#patience = patience;
    this.body = new ReadableStream<Uint8Array>(
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
    this.#pulse = setInterval(() => this.#beat(), PULSE).unref();
  }

  get isOpen(): boolean {
    return this.#controller !== undefined;
  }

  /** Sends a message, which is one line; settles when more can be taken. */
  async send(message: Uint8Array): Promise<void> {
    const controller = this.#controller;
    if (controller === undefined) return;
    const event = new Uint8Array(DATA.length + message.length + END.length);
    event.set(DATA);
    event.set(message, DATA.length);
    event.set(END, DATA.length + message.length);
    controller.enqueue(event);
    if (this.#isFull) await this.#room();
  }

  end(): void {
    this.#controller?.close();
    this.#close();
  }

  /** The response that this is the body of. */
  response(headers: Record<string, string>): Response {
    return new Response(this.body, {
      status: 200,
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform", ...headers },
    });
  }

  get #isFull(): boolean {
    return (this.#controller?.desiredSize ?? 1) <= 0;
  }

  async #room(): Promise<void> {
    const patience = this.#patience;
    const timer = patience === undefined ? undefined : setTimeout(() => this.#giveUp(), patience);
    await new Promise<void>((resolve) => void this.#wake.push(resolve));
    clearTimeout(timer);
  }

  #giveUp(): void {
    this.#controller?.error(new Error("the client does not read"));
    this.#close();
    this.#onGone();
  }

  #beat(): void {
    if (!this.#isFull) this.#controller?.enqueue(COMMENT);
  }

  #close(): void {
    this.#controller = undefined;
    clearInterval(this.#pulse);
    this.#resume();
  }

  #resume(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
