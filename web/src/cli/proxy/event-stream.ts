/**
 * Messages on their way to one HTTP client, as a stream of events or one body, written no faster than the client reads.
 * @module
 */

const encoder = new TextEncoder();
const DATA = encoder.encode("event: message\ndata: ");
const END = encoder.encode("\n\n");
const COMMENT = encoder.encode(":\n\n");

/** How often, in milliseconds, a silent stream shows that it is alive: what stands between closes silent connections. */
const PULSE = 20_000;

/** Takes one message in pieces, which is one line. */
export interface MessagePieces {
  /** Settles when more can be taken. */
  write(bytes: Uint8Array): Promise<void>;
  /** The message is complete. */
  end(): void;
  /** It will not be complete: nor will the stream. */
  fail(): void;
}

/** A stream that is written to. What comes after its end is lost. */
export class EventStream {
  readonly #body: PacedBody;
  readonly #pulse: NodeJS.Timeout;
  /** Settles when the message that is sent in pieces is over. */
  #pieces: Promise<void> | undefined;
  #settle: (() => void) | undefined;

  /**
   * `onGone` is called when the client goes before the stream has ended. One that takes nothing for `patience`
   * milliseconds has gone: others wait behind it.
   */
  constructor(onGone: () => void, patience?: number) {
    this.#body = new PacedBody(() => {
      clearInterval(this.#pulse);
      this.#over();
      onGone();
    }, patience);
    this.#pulse = setInterval(() => this.#beat(), PULSE).unref();
  }

  /** Sends a message, which is one line; settles when more can be taken. */
  async send(message: Uint8Array): Promise<void> {
    while (this.#pieces !== undefined) await this.#pieces;
    if (!this.#body.isOpen) return;
    const event = new Uint8Array(DATA.length + message.length + END.length);
    event.set(DATA);
    event.set(message, DATA.length);
    event.set(END, DATA.length + message.length);
    await this.#body.write(event);
  }

  /** Begins a message whose end has not come; others wait until it is over. */
  async begin(): Promise<MessagePieces> {
    while (this.#pieces !== undefined) await this.#pieces;
    this.#pieces = new Promise((resolve) => {
      this.#settle = resolve;
    });
    await this.#body.write(DATA);
    return {
      write: (bytes) => this.#body.write(bytes),
      end: () => {
        void this.#body.write(END);
        this.#over();
      },
      fail: () => {
        clearInterval(this.#pulse);
        this.#body.fail();
        this.#over();
      },
    };
  }

  /** Nothing more comes. */
  end(): void {
    clearInterval(this.#pulse);
    // Half of an event that is over would be taken for the whole.
    if (this.#pieces === undefined) this.#body.end();
    else this.#body.fail();
    this.#over();
  }

  /** The response that this is the body of. */
  response(headers: Record<string, string>): Response {
    return new Response(this.#body.stream, {
      status: 200,
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform", ...headers },
    });
  }

  #over(): void {
    this.#pieces = undefined;
    this.#settle?.();
  }

  #beat(): void {
    if (!this.#body.isFull && this.#pieces === undefined) void this.#body.write(COMMENT);
  }
}

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
