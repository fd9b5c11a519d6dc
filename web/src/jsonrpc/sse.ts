/**
 * Rewrites the messages in an event stream (HTML Standard, "Server-sent events") without holding them.
 * @module
 */
import { joinBytes } from "../artifacts/bytes.js";
import { BYTE_ORDER_MARK } from "./bytes.js";
import type { MessageReader, MessageSink } from "./message-reader.js";
import { isBlank } from "./lines.js";
import type { ByteSink } from "./message-rewriter.js";
import { indexOfByte } from "#byte-search";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;

/** Bytes that tell whether a line is a data line. */
const HEAD = 6;

const encoder = new TextEncoder();
const DATA = encoder.encode("data");
const DATA_FIELD = encoder.encode("data: ");
const NEWLINE = encoder.encode("\n");

/** Opens a reader for one event's data. What is not a message is forwarded unchanged. */
export type OpenIncoming = (
  sink: Pick<MessageSink, "forward" | "complete" | "nonProtocol">,
) => Pick<MessageReader, "write" | "end" | typeof Symbol.asyncDispose>;

/** Takes the bytes of an event stream. Other fields are forwarded at once, data when its event is complete. */
export class EventStreamGate implements AsyncDisposable {
  readonly #open: OpenIncoming;
  readonly #sink: ByteSink;
  readonly #onEventEnd: () => void;
  /** The start of the current line, while it may still be a data line. */
  #head: Uint8Array | undefined = new Uint8Array(0);
  #isData = false;
  #skipsLineFeed = false;
  /** The part of a byte order mark that has not come yet. */
  #markLeft = [...BYTE_ORDER_MARK];
  #event: ReturnType<OpenIncoming> | undefined;
  /** Whether the event's data is all white space so far. */
  #isEmpty = true;
  /** Whether a data line is begun in the output. */
  #writing = false;

  /** @param onEventEnd called when the sink has got the last byte of an event. */
  constructor(open: OpenIncoming, sink: ByteSink, onEventEnd: () => void = () => undefined) {
    this.#open = open;
    this.#sink = sink;
    this.#onEventEnd = onEventEnd;
  }

  /** Takes bytes, which the caller must not reuse. */
  async write(chunk: Uint8Array): Promise<void> {
    const mark = this.#mark(chunk);
    if (mark > 0) return this.write(chunk.subarray(mark));
    let from = this.#skipsLineFeed && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) this.#skipsLineFeed = false;
    for (const { at, next } of this.#lineEnds(chunk, from)) {
      await this.#piece(chunk.subarray(from, at));
      await this.#endLine();
      from = next;
    }
    if (from < chunk.length) await this.#piece(chunk.subarray(from));
  }

  /** Ends the stream. An incomplete event is discarded. */
  async end(): Promise<void> {
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#event?.[Symbol.asyncDispose]();
    this.#event = undefined;
  }

  /** Counts the bytes of a leading byte order mark that the chunk begins with. */
  #mark(chunk: Uint8Array): number {
    let bytes = 0;
    while (this.#markLeft.length > 0 && bytes < chunk.length) {
      if (chunk[bytes] !== this.#markLeft[0]) {
        this.#markLeft = [];
        return bytes;
      }
      this.#markLeft.shift();
      bytes += 1;
    }
    return bytes;
  }

  /** Where lines end and the next ones begin: after LF, CR or both. */
  *#lineEnds(chunk: Uint8Array, from: number): Generator<{ readonly at: number; readonly next: number }> {
    let lf = indexOfByte(chunk, LF, from);
    let cr = indexOfByte(chunk, CR, from);
    while (lf >= 0 || cr >= 0) {
      const at = lf < 0 ? cr : cr < 0 ? lf : Math.min(lf, cr);
      const next = at === cr && lf === cr + 1 ? at + 2 : at + 1;
      if (at === cr && next === chunk.length && next === at + 1) this.#skipsLineFeed = true;
      yield { at, next };
      if (lf >= 0 && lf < next) lf = indexOfByte(chunk, LF, next);
      if (cr >= 0 && cr < next) cr = indexOfByte(chunk, CR, next);
    }
  }

  async #piece(bytes: Uint8Array): Promise<void> {
    if (this.#head === undefined) return this.#take(bytes);
    this.#head = this.#head.length === 0 ? bytes : joinBytes([this.#head, bytes]);
    if (this.#head.length >= HEAD) await this.#decide();
  }

  /** Handles a line whose field name is known. */
  async #decide(): Promise<void> {
    const head = this.#head as Uint8Array;
    this.#head = undefined;
    this.#isData = DATA.every((byte, at) => head[at] === byte) && (head.length === DATA.length || head[4] === COLON);
    if (!this.#isData) return this.#take(head);
    // Data lines are joined by newlines, which are white space in JSON.
    if (this.#event !== undefined) await this.#event.write(NEWLINE);
    this.#event ??= this.#open({
      forward: (out) => this.#forward(out),
      complete: () => this.#complete(),
      nonProtocol: (out) => this.#forward(out),
    });
    const value = head.subarray(head[5] === SPACE ? 6 : 5);
    if (value.length > 0) await this.#take(value);
  }

  async #take(bytes: Uint8Array): Promise<void> {
    if (!this.#isData) return this.#sink(bytes);
    this.#isEmpty &&= isBlank(bytes);
    await this.#event?.write(bytes);
  }

  async #endLine(): Promise<void> {
    const isEmpty = this.#head?.length === 0;
    if (this.#head !== undefined && !isEmpty) await this.#decide();
    if (isEmpty) await this.#dispatch();
    if (!this.#isData) await this.#sink(NEWLINE);
    if (isEmpty) this.#onEventEnd();
    this.#head = new Uint8Array(0);
    this.#isData = false;
  }

  /** Ends the event at a blank line. */
  async #dispatch(): Promise<void> {
    const event = this.#event;
    this.#event = undefined;
    await event?.end();
    // An event without data is not dispatched; one with empty data is, and carries the id to resume from.
    if (event !== undefined && this.#isEmpty) await this.#forward(new Uint8Array(0));
    this.#isEmpty = true;
    await this.#complete();
  }

  async #forward(bytes: Uint8Array): Promise<void> {
    if (!this.#writing) await this.#sink(DATA_FIELD);
    this.#writing = true;
    let from = 0;
    for (let at = indexOfByte(bytes, LF); at >= 0; at = indexOfByte(bytes, LF, from)) {
      await this.#sink(bytes.subarray(from, at + 1));
      await this.#sink(DATA_FIELD);
      from = at + 1;
    }
    if (from < bytes.length) await this.#sink(bytes.subarray(from));
  }

  async #complete(): Promise<void> {
    if (this.#writing) await this.#sink(NEWLINE);
    this.#writing = false;
  }
}
