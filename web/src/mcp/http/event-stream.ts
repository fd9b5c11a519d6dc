/**
 * Sends messages to one HTTP client as an event stream or a single body, no faster than it reads, and keeps a history
 * to resume from (MCP 2025-11-25, Streamable HTTP, Resumability and Redelivery).
 * @module
 */
import { randomInt } from "node:crypto";
import { encodeEvent, EVENT_END, type EventFields, keepAlive, RETRY_MS, writeFields } from "../../http/event-stream.js";
import { ReplayBuffer } from "../../http/replay-buffer.js";
import { errorMessage, RpcCode } from "../../jsonrpc/rpc.js";
import { MAX_MESSAGE } from "../../jsonrpc/limits.js";

const encoder = new TextEncoder();
const END = encoder.encode(EVENT_END);

const TOO_LARGE = "The answer is too large to resend after the connection was lost: ask for less at a time.";

/** Writes one message in pieces. It must be one line. */
export interface MessagePieces {
  /** Resolves when more can be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the message. `id` is the answered request's, as JSON text, if it answers one. */
  end(id?: string): void;
  /** Abandons the message, and with it this connection. */
  fail(): void;
}

interface EventStreamDeps {
  /** Called when the client disconnects before the stream has ended. */
  readonly onGone: () => void;
  /** Called when a client reconnects. */
  readonly onBack?: () => void;
  /** Milliseconds after which a client that reads nothing is disconnected. Others wait behind it. */
  readonly idleTimeout?: number | undefined;
  /** Keeps events so that a client can resume. Without it the stream ends with its connection. */
  readonly sent?: EventHistory | undefined;
  /** Whether it begins with an event without data, which tells the client how to resume (since 2025-11-25). */
  readonly primes?: boolean;
}

/** A request to resume a stream. */
interface Resumption {
  readonly headers: Record<string, string>;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  readonly primes: boolean;
}

/** An event stream over one connection after the other. Writes after its end are lost. */
export class EventStream {
  readonly #deps: EventStreamDeps;
  readonly #number: number;
  /** Number of the latest event. */
  #latest = 0;
  #isOver = false;
  #body: PacedBody | undefined;
  /** Resolves when the message being sent in pieces is over. */
  #pieces: Promise<void> | undefined;
  #settle: (() => void) | undefined;

  constructor(deps: EventStreamDeps) {
    this.#deps = deps;
    this.#number = deps.sent?.open(this) ?? 0;
    this.#connect(deps.primes === true, 0);
  }

  /** Whether a client is connected. */
  get isConnected(): boolean {
    return this.#body !== undefined;
  }

  /** Whether the stream has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Sends a message, which must be one line. Resolves when more can be sent. `ids` are those of the answered requests,
   * as JSON text.
   */
  async send(message: Uint8Array, ids: readonly string[] = []): Promise<void> {
    while (this.#pieces !== undefined) await this.#pieces;
    if (this.#isOver) return;
    this.#latest += 1;
    const event = this.#event(this.#latest, message);
    if (message.length <= MAX_MESSAGE) this.#keep(event);
    else for (const id of ids) this.#keep(this.#event(this.#latest, tooLarge(id)));
    await this.#body?.write(event);
  }

  /** Begins a message in pieces. Others wait until it is over. It is not kept. */
  async begin(): Promise<MessagePieces> {
    while (this.#pieces !== undefined) await this.#pieces;
    this.#pieces = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#latest += 1;
    const body = this.#body;
    await body?.write(encoder.encode(`${writeFields(this.#fields(this.#latest))}data: `));
    return {
      write: async (bytes) => body?.write(bytes),
      end: (id) => {
        void body?.write(END);
        if (id !== undefined) this.#endInstead(body, id);
        this.#finishPieces();
      },
      fail: () => {
        body?.fail();
        if (this.#deps.sent !== undefined) this.#onBodyGone(body);
        this.#finishPieces();
      },
    };
  }

  /** Ends the stream. */
  end(): void {
    this.#isOver = true;
    const body = this.#body;
    this.#body = undefined;
    // A client would take half an event for a whole one.
    if (this.#pieces === undefined) body?.end();
    else body?.fail();
    this.#finishPieces();
    this.#deps.sent?.ended(this);
  }

  /** Ends the stream for good: it cannot be resumed. */
  giveUp(): void {
    this.end();
    this.#deps.sent?.forget(this);
  }

  /** The response with this stream as its body, until the signal aborts. */
  response(headers: Record<string, string>, signal?: AbortSignal): Response {
    const body = this.#body;
    if (body === undefined) return new Response(null, { status: 204, headers });
    const endStream = (): void => {
      if (body !== this.#body) return;
      body.fail();
      this.#onBodyGone(body);
    };
    signal?.addEventListener("abort", endStream, { once: true });
    if (signal?.aborted === true) endStream();
    return new Response(keepAlive(body.stream), {
      status: 200,
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform", ...headers },
    });
  }

  /**
   * Resumes after an event over a new connection. 204 if nothing is left to send; undefined if the events are no longer
   * kept.
   */
  resume(after: number, { headers, signal, primes }: Resumption): Response | undefined {
    const missed = this.#deps.sent?.after(this, after) ?? [];
    if (after > this.#latest || (this.#isOver && missed.length === 0 && after < this.#latest)) return undefined;
    // A client reconnects to an empty stream for ever, but not after this status (HTML Standard §9.2).
    if (this.#isOver && missed.length === 0) return new Response(null, { status: 204, headers });
    const before = this.#body;
    const body = this.#connect(primes, after);
    before?.fail();
    for (const event of missed) void body.write(event);
    const response = this.response(headers, signal);
    if (this.#isOver) this.end();
    else if (this.isConnected) this.#deps.onBack?.();
    return response;
  }

  #connect(primes: boolean, after: number): PacedBody {
    const body = new PacedBody(() => this.#onBodyGone(body), this.#deps.idleTimeout);
    this.#body = body;
    if (primes && this.#deps.sent !== undefined) {
      void body.write(encodeEvent({ id: `${this.#number}-${after}`, retry: RETRY_MS }, ""));
    }
    return body;
  }

  #onBodyGone(body: PacedBody | undefined): void {
    if (body === undefined || body !== this.#body) return;
    this.#body = undefined;
    // A client that can resume gets everything sent meanwhile, in order.
    if (this.#deps.sent === undefined) {
      this.#isOver = true;
      this.#finishPieces();
    }
    this.#deps.onGone();
  }

  #fields(number: number): EventFields {
    return { name: "message", id: this.#deps.sent && `${this.#number}-${number}` };
  }

  #event(number: number, message: Uint8Array): Uint8Array {
    return encodeEvent(this.#fields(number), message);
  }

  #keep(event: Uint8Array): void {
    this.#deps.sent?.keep(this, this.#latest, event);
  }

  /** Tells a client that lost the connection that the message will not come. */
  #endInstead(began: PacedBody | undefined, id: string): void {
    if (this.#deps.sent === undefined) return;
    const event = this.#event(this.#latest, tooLarge(id));
    this.#keep(event);
    if (this.#body !== began) void this.#body?.write(event);
  }

  #finishPieces(): void {
    this.#pieces = undefined;
    this.#settle?.();
  }
}

function tooLarge(id: string): Uint8Array {
  return encoder.encode(errorMessage(id, RpcCode.serverError, TOO_LARGE));
}

/** Bytes that wait for a client before writers have to wait. */
const MAX_WAITING = 1024 * 1024;

/** A response body that is written to. Writes after its end are lost. */
export class PacedBody {
  /** What the client reads. */
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wake: (() => void)[] = [];
  readonly #onGone: () => void;
  readonly #idleTimeout: number | undefined;

  /**
   * `onGone` is called if the client disconnects before the body has ended. A client that reads nothing for
   * `idleTimeout` milliseconds is disconnected.
   */
  constructor(onGone: () => void, idleTimeout?: number) {
    this.#onGone = onGone;
    this.#idleTimeout = idleTimeout;
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

  /** Whether writers have to wait. */
  get #isFull(): boolean {
    return (this.#controller?.desiredSize ?? 1) <= 0;
  }

  /** Writes bytes, which the caller must not reuse. Resolves when more can be written. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#controller?.enqueue(bytes);
    if (this.#isFull) await this.#room();
  }

  /** Ends the body. */
  end(): void {
    this.#controller?.close();
    this.#close();
  }

  /** Breaks the connection, so that the client does not take a part for the whole. */
  fail(): void {
    this.#controller?.error(new Error("the response ended early"));
    this.#close();
  }

  async #room(): Promise<void> {
    const idleTimeout = this.#idleTimeout;
    const timer = idleTimeout === undefined ? undefined : setTimeout(() => this.#giveUp(), idleTimeout);
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

/** Milliseconds that an event, and the stream of a disconnected client, is kept. */
export const KEPT_FOR: number = 5 * 60 * 1000;

/** Most events kept for one session. */
const MAX_KEPT = 1000;

/** Most bytes of them. The largest message fits. */
const MAX_KEPT_BYTES: number = MAX_MESSAGE + 64 * 1024;

interface KeptEvent {
  readonly stream: EventStream;
  readonly number: number;
  readonly event: Uint8Array;
  readonly bytes: number;
  /** Milliseconds of a monotonic clock. */
  readonly at: number;
}

/** Events sent in one session, kept to resume streams. */
export class EventHistory {
  readonly #streams = new Map<number, EventStream>();
  readonly #kept = new ReplayBuffer<KeptEvent>({
    maxEvents: MAX_KEPT,
    maxBytes: MAX_KEPT_BYTES,
    onDrop: ({ stream }) => {
      if (stream.isOver) this.ended(stream);
    },
  });
  /** The latest stream's number. */
  #count: number;
  #timer: NodeJS.Timeout | undefined;

  /** Numbers go on from `before`. It is random, so that no session takes another's event for its own. */
  constructor(before: number = randomInt(2 ** 32)) {
    this.#count = before;
  }

  /** Assigns a number to a stream. */
  open(stream: EventStream): number {
    this.#count += 1;
    this.#streams.set(this.#count, stream);
    return this.#count;
  }

  /** The stream of an event, and the event's number there. */
  find(lastEventId: string): { readonly stream: EventStream; readonly after: number } | undefined {
    const [, number, after] = /^(\d{1,10})-(\d{1,10})$/.exec(lastEventId) ?? [];
    const stream = this.#streams.get(Number(number));
    return stream === undefined ? undefined : { stream, after: Number(after) };
  }

  /** Keeps an event. The caller must not reuse the bytes. */
  keep(stream: EventStream, number: number, event: Uint8Array): void {
    this.#kept.append({ stream, number, event, bytes: event.length, at: performance.now() });
    this.#timer ??= setTimeout(() => this.#expire(), KEPT_FOR).unref();
  }

  /** The kept events of a stream after an event. */
  after(stream: EventStream, number: number): readonly Uint8Array[] {
    return [...this.#kept].flatMap((each) => (each.stream === stream && each.number > number ? [each.event] : []));
  }

  /** Marks a stream as ended. It is known as long as one of its events is kept. */
  ended(stream: EventStream): void {
    for (const each of this.#kept) if (each.stream === stream) return;
    this.forget(stream);
  }

  /** Forgets a stream that is not resumed. */
  forget(stream: EventStream): void {
    for (const [number, each] of this.#streams) if (each === stream) this.#streams.delete(number);
    this.#kept.remove((each) => each.stream === stream);
  }

  /** Forgets everything. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#streams.clear();
    this.#kept.remove(() => true);
  }

  #expire(): void {
    this.#timer = undefined;
    const before = performance.now() - KEPT_FOR;
    while ((this.#oldest?.at ?? Infinity) <= before) this.#kept.drop();
    if (this.#oldest !== undefined) this.#timer = setTimeout(() => this.#expire(), this.#oldest.at - before).unref();
  }

  get #oldest(): KeptEvent | undefined {
    return this.#kept.at(this.#kept.start);
  }
}
