/**
 * Writes answers to Node's responses, at the pace of their clients.
 * @module
 */
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { getByteReader, type ByteReader } from "../../artifacts/byte-reader.js";

/** Bytes that a client has to take within the time limit. */
const PIECE = 64 * 1024;

/** The type of a body that says none. */
const DEFAULT_TYPE = "text/plain; charset=UTF-8";

/** How an answer is sent. */
interface WriterDeps {
  /** The time limit for each piece, in milliseconds. */
  readonly timeout: number;
  /** Awaited between the last piece and the end. Must not throw. */
  readonly beforeEnd: (() => Promise<void>) | undefined;
  /** Whether events end only with their client, and not with a result. */
  readonly isStream?: boolean;
}

/**
 * Writes one answer in pieces, each within a time limit, and reads the next piece of its body when the one before has been taken, into
 * the same memory where the body can do that. A failure breaks the connection: a part must not look like the whole.
 */
export class AnswerWriter {
  /** Whether the answer is an event stream that lasts until its client leaves. */
  readonly isLasting: boolean;
  readonly #response: Response;
  readonly #reader: ByteReader;
  readonly #outgoing: ServerResponse;
  readonly #timeout: number;
  readonly #beforeEnd: (() => Promise<void>) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Called when the piece on its way has been taken, or never will be. */
  #taken: (() => void) | undefined;
  #isOver = false;

  constructor(response: Response, outgoing: ServerResponse, { timeout, beforeEnd, isStream = true }: WriterDeps) {
    this.#response = response;
    this.#reader = getByteReader(response.body ?? new ReadableStream<Uint8Array>());
    this.#outgoing = outgoing;
    this.#timeout = timeout;
    this.#beforeEnd = beforeEnd;
    this.isLasting = isStream && response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  }

  /** Settles when all has been taken but the end, or the connection is gone. Never throws. */
  async send(): Promise<void> {
    const outgoing = this.#outgoing;
    outgoing.once("close", () => this.#leave());
    // A write behind the end of a connection fails, which "close" tells too.
    outgoing.on("error", () => undefined);
    if (outgoing.destroyed) return this.#leave();
    try {
      await this.#write();
    } catch {
      outgoing.destroy();
    }
  }

  /** Ends the body early. */
  end(): void {
    this.#isOver = true;
    this.#reader.cancel().catch(() => undefined);
  }

  async #write(): Promise<void> {
    const outgoing = this.#outgoing;
    const { early, pending, length } = await this.#begin();
    if (outgoing.destroyed) return;
    outgoing.writeHead(this.#response.status, this.#head(length));
    if (early.length === 0) outgoing.flushHeaders();
    for (const piece of early) await this.#give(piece);
    let next = pending ?? this.#next(true);
    for (let piece = await next; piece !== null; piece = await next) {
      await this.#give(piece);
      next = this.#next(true);
    }
    await this.#beforeEnd?.();
    this.#end();
  }

  #end(): void {
    if (this.#outgoing.destroyed) return;
    this.#limit();
    this.#outgoing.end();
  }

  /**
   * What of the body is there at once. The length of a body that does not say it, and is over by then, is known: its answer needs no
   * chunks.
   */
  async #begin(): Promise<Begun> {
    const early: Uint8Array[] = [];
    const most = this.#response.headers.has("content-length") ? 1 : 2;
    while (early.length < most) {
      const pending = this.#next(false);
      const piece = await Promise.race([pending, nextTurn()]);
      if (piece === undefined) return { early, pending };
      if (piece === null) {
        return { early, pending, ...(most > 1 && { length: early.reduce((sum, each) => sum + each.byteLength, 0) }) };
      }
      early.push(piece);
    }
    return { early };
  }

  /** The head, as name and value in turn: a name may come twice. */
  #head(length: number | undefined): string[] {
    const { headers } = this.#response;
    return [
      ...[...headers].flat(),
      ...(headers.has("content-type") ? [] : ["content-type", DEFAULT_TYPE]),
      ...(length === undefined ? [] : ["content-length", String(length)]),
    ];
  }

  /** The next piece of the body. Null at the end, and behind a failure. */
  async #next(reuse: boolean): Promise<Uint8Array | null> {
    try {
      const piece = await this.#reader.next(reuse);
      if (piece === null) this.#isOver = true;
      return this.#isOver ? null : piece;
    } catch {
      this.#isOver = true;
      this.#outgoing.destroy();
      return null;
    }
  }

  async #give(piece: Uint8Array): Promise<void> {
    const outgoing = this.#outgoing;
    for (const part of splitPiece(piece)) {
      if (outgoing.destroyed) return;
      await new Promise<void>((resolve) => {
        this.#limit();
        this.#taken = resolve;
        outgoing.write(part, () => resolve());
      });
      clearTimeout(this.#timer);
    }
  }

  #limit(): void {
    this.#timer = setTimeout(() => this.#outgoing.destroy(), this.#timeout);
  }

  #leave(): void {
    clearTimeout(this.#timer);
    this.#taken?.();
    if (!this.#isOver) this.end();
  }
}

function* splitPiece(piece: Uint8Array): Generator<Uint8Array, void, void> {
  if (piece.byteLength > PIECE)
    for (let at = 0; at < piece.byteLength; at += PIECE) yield piece.subarray(at, at + PIECE);
  else yield piece;
}

/** The beginning of a body. */
interface Begun {
  readonly early: readonly Uint8Array[];
  /** What comes behind them, if it has been asked for. */
  readonly pending?: Promise<Uint8Array | null>;
  /** The length of the whole body, if it had to be found out and was. */
  readonly length?: number;
}
