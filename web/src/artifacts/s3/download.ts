/**
 * The bytes of an object on their way here.
 * @module
 */
import type { GetObjectCommandOutput } from "@aws-sdk/client-s3";
import type { Span } from "../bytes.js";
import { damaged } from "../verify.js";
import type { Bucket } from "./bucket.js";
import { late, s3Error, takenAway } from "./failures.js";

type Body = NonNullable<GetObjectCommandOutput["Body"]>;

/**
 * Reads a span once. A connection that breaks is followed by another from where it broke; one that gives next to nothing is
 * given up: time counts only while somebody waits for bytes, so a slow reader is no slow service.
 */
export class Download {
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #span: Span;
  readonly #resumes: boolean;
  #reader: ReadableStreamDefaultReader<Uint8Array>;
  #at: number;
  #waited = 0;
  #attempt = 1;

  /** `body` is the answer to a request for the span. */
  constructor(
    bucket: Bucket,
    key: string,
    span: Span,
    body: Body,
    { resumes = true }: { readonly resumes?: boolean } = {},
  ) {
    this.#bucket = bucket;
    this.#key = key;
    this.#span = span;
    this.#resumes = resumes;
    this.#at = span.start;
    this.#reader = readerOf(body);
  }

  /** Whether all of it was read. */
  get isOver(): boolean {
    return this.#at === this.#span.end;
  }

  /**
   * The next piece, which may be empty. To be called until it is over.
   *
   * @throws SluiceError E_STORE_READ; E_STORE_CORRUPT when the service has fewer bytes than it should, or more.
   */
  async next(): Promise<Uint8Array> {
    const { done, value } = await this.#read();
    if (done) throw damaged();
    this.#at += value.byteLength;
    if (this.#at > this.#span.end) throw damaged();
    return value;
  }

  /** All of it, in memory. */
  async whole(): Promise<Uint8Array> {
    const { start, end } = this.#span;
    const bytes = new Uint8Array(end - start);
    try {
      while (!this.isOver) {
        const at = this.#at - start;
        bytes.set(await this.next(), at);
      }
      return bytes;
    } finally {
      await this.close();
    }
  }

  /** The same as a stream, read as fast as it is asked for. `onFailure` is told before it fails. */
  stream(onFailure: (error: unknown) => Promise<void> = () => Promise.resolve()): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const piece = await this.#piece();
            if (piece !== null) controller.enqueue(piece);
          } catch (error) {
            await Promise.allSettled([this.close(), onFailure(error)]);
            throw error;
          }
          if (!this.isOver) return;
          await this.close();
          controller.close();
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Ends it; the connection is given back, or broken off. */
  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined);
  }

  async #piece(): Promise<Uint8Array | null> {
    while (!this.isOver) {
      const piece = await this.next();
      if (piece.byteLength > 0) return piece;
    }
    return null;
  }

  async #read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    for (;;) {
      const began = performance.now();
      try {
        return await this.#inTime(this.#reader.read());
      } catch (error) {
        const failure = s3Error(error, "read");
        const isLate = failure === error;
        if (isLate || !this.#resumes || this.#attempt === this.#bucket.connection.limits.attempts) throw failure;
      } finally {
        this.#waited += performance.now() - began;
      }
      await this.#resume();
    }
  }

  /** What was read so far has earned time. */
  async #inTime<T>(reading: Promise<T>): Promise<T> {
    const { connection } = this.#bucket;
    const left = connection.limits.timeout + connection.patience(this.#at - this.#span.start) - this.#waited;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const overdue = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(late("read")), Math.max(left, 0));
    });
    try {
      return await Promise.race([reading, overdue]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #resume(): Promise<void> {
    this.#attempt += 1;
    await this.close();
    const span = { start: this.#at, end: this.#span.end };
    const answer = await this.#bucket.get(this.#key, span);
    if (answer === null) throw takenAway();
    this.#reader = readerOf(bodyOf(answer, span));
  }
}

/** The body of an answer that has to be about that span. Throws SluiceError E_STORE_CORRUPT when it is about another. */
export function bodyOf({ Body, ContentRange }: GetObjectCommandOutput, { start, end }: Span): Body {
  if (Body !== undefined && ContentRange?.startsWith(`bytes ${start}-${end - 1}/`) === true) return Body;
  dropped(Body);
  throw damaged();
}

/** Lets go of the connection that a body comes by, which nobody reads. */
export function dropped(body: Body | undefined): void {
  if (body !== undefined) void readerOf(body).cancel().catch(ignored);
}

function readerOf(body: Body): ReadableStreamDefaultReader<Uint8Array> {
  return (body.transformToWebStream() as ReadableStream<Uint8Array>).getReader();
}

function ignored(): void {
  // Nobody wanted to hear of it.
}
