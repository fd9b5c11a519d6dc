/**
 * The objects of one bucket under one prefix: read, written conditionally, listed and deleted.
 * @module
 */
import type { GetObjectCommandOutput } from "@aws-sdk/client-s3";
import type { Span } from "../bytes.js";
import { toDamagedError } from "../hash.js";
import {
  isLost,
  isMissing,
  isUnknownToIt,
  isWordlesslyMissing,
  late,
  s3Error,
  toTakenAwayError,
  type S3Connection,
  type Sending,
  type Speaker,
} from "./connection.js";

/** A whole object and its version. */
export interface Versioned {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/** The condition of a write: there is no object yet, or it still has that version. */
type Condition = { readonly none: true } | { readonly etag: string };

/** An object in a list. */
interface Entry {
  readonly key: string;
  /** When it was written, in milliseconds since 1970. For an upload in parts, when it began. */
  readonly modified: number;
}

/** Objects in one page of a list. */
const PAGE = 1000;

/** The bucket of a store. Keys are without the prefix. */
export class Bucket {
  readonly connection: S3Connection;
  readonly #bucket: string;
  readonly #stem: string;
  /** Whether the service wants versions without quotes, like Ceph. Undefined until that is known. */
  #isBare: boolean | undefined;

  constructor(connection: S3Connection, bucket: string, stem: string) {
    this.connection = connection;
    this.#bucket = bucket;
    this.#stem = stem;
  }

  /** The parameters that name an object in a command. */
  at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#stem}${key}` };
  }

  /** An object of at most `most` bytes. Null if there is none. Throws E_STORE_CORRUPT if it has more. */
  async read(key: string, most: number): Promise<Versioned | null> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.get(key);
      if (answer === null) return null;
      const { Body, ContentLength = 0, ETag = "" } = answer;
      if (ContentLength > most || Body === undefined) {
        dropBody(Body);
        throw toDamagedError();
      }
      const download = new Download(this, key, { start: 0, end: ContentLength }, Body, { resumes: false });
      try {
        return { bytes: await download.whole(), etag: ETag };
      } catch (error) {
        if (attempt === this.connection.limits.attempts) throw error;
      }
    }
  }

  /** Begins to read an object or a span of it. Null if there is none. */
  async get(key: string, span?: Span): Promise<GetObjectCommandOutput | null> {
    const range = span && { Range: `bytes=${span.start}-${span.end - 1}` };
    try {
      return await this.connection.send(0, ({ sdk, client }, how) =>
        client.send(new sdk.GetObjectCommand({ ...this.at(key), ...range }), how),
      );
    } catch (error) {
      if (isMissing(error)) return null;
      throw s3Error(error, "read");
    }
  }

  /** The size of an object in bytes. Null if there is none. */
  async size(key: string): Promise<number | null> {
    const head = await this.#head(key);
    return head === null ? null : (head.ContentLength ?? 0);
  }

  /** Writes an object under a key that no other process writes. */
  async write(key: string, bytes: Uint8Array): Promise<void> {
    const put = (speaker: Speaker, how: Sending): Promise<string> => this.#put(speaker, how, key, bytes, {});
    await this.connection.coded("write", bytes.byteLength, put);
  }

  /** Writes an object if the condition holds, and gives its version. Null if the condition does not hold. */
  async writeIf(key: string, bytes: Uint8Array, condition: Condition): Promise<string | null> {
    if ("none" in condition) return this.#wrote(key, bytes, { IfNoneMatch: "*" });
    const { etag } = condition;
    const isBare = this.#isBare ?? false;
    const wrote = await this.#wrote(key, bytes, { IfMatch: isBare ? bare(etag) : etag });
    if (wrote !== null) this.#isBare = isBare;
    if (wrote !== null || this.#isBare !== undefined || (await this.#head(key))?.ETag !== etag) return wrote;
    // The version is right and the service refuses: some compare the quotes too.
    const wroteBare = await this.#wrote(key, bytes, { IfMatch: bare(etag) });
    if (wroteBare !== null) this.#isBare = true;
    return wroteBare;
  }

  /** Deletes an object if there is one. With `etag` only that version, if the service supports the condition. */
  async remove(key: string, etag?: string): Promise<void> {
    if (etag !== undefined) {
      try {
        await this.#delete(key, { IfMatch: this.#isBare === true ? bare(etag) : etag });
        return;
      } catch (error) {
        if (isMissing(error)) return;
        const isRefused = isLost(error) && (await this.#head(key))?.ETag === etag;
        if (isLost(error) && !isRefused) return;
        if (!isLost(error) && !isUnknownToIt(error)) throw s3Error(error, "write");
      }
    }
    await this.#delete(key, {}).catch((error: unknown) => {
      if (!isMissing(error)) throw s3Error(error, "write");
    });
  }

  /** The objects whose keys begin with a prefix, in the order of their keys. */
  async *list(prefix: string): AsyncGenerator<Entry, void, void> {
    let ContinuationToken: string | undefined;
    do {
      const after = ContinuationToken === undefined ? {} : { ContinuationToken };
      const said = { Bucket: this.#bucket, Prefix: `${this.#stem}${prefix}`, MaxKeys: PAGE, ...after };
      const page = await this.connection.coded("read", 0, ({ sdk, client }, how) =>
        client.send(new sdk.ListObjectsV2Command(said), how),
      );
      for (const { Key, LastModified } of page.Contents ?? []) {
        if (Key?.startsWith(this.#stem) !== true) continue;
        yield { key: Key.slice(this.#stem.length), modified: LastModified?.getTime() ?? 0 };
      }
      ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (ContinuationToken !== undefined);
  }

  /** Uploads in parts that are unfinished or abandoned. */
  async *uploads(): AsyncGenerator<Entry & { readonly upload: string }, void, void> {
    let markers = {};
    for (let isMore = true; isMore;) {
      const said = { Bucket: this.#bucket, Prefix: this.#stem, ...markers };
      const page = await this.connection.coded("read", 0, ({ sdk, client }, how) =>
        client.send(new sdk.ListMultipartUploadsCommand(said), how),
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Key?.startsWith(this.#stem) !== true || UploadId === undefined) continue;
        yield { key: Key.slice(this.#stem.length), upload: UploadId, modified: Initiated?.getTime() ?? 0 };
      }
      isMore = page.IsTruncated === true && page.NextKeyMarker !== undefined;
      markers = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  async #wrote(
    key: string,
    bytes: Uint8Array,
    condition: { readonly IfMatch: string } | { readonly IfNoneMatch: string },
  ): Promise<string | null> {
    try {
      return await this.connection.send(bytes.byteLength, (speaker, how) =>
        this.#put(speaker, how, key, bytes, condition),
      );
    } catch (error) {
      if (isLost(error)) return null;
      throw s3Error(error, "write");
    }
  }

  async #put(
    { sdk, client }: Speaker,
    how: Sending,
    key: string,
    Body: Uint8Array,
    condition: object,
  ): Promise<string> {
    // Never its real type: a bucket that is public by mistake must not serve pages.
    const said = { ...this.at(key), Body, ContentType: "application/octet-stream", ...condition };
    const { ETag = "" } = await client.send(new sdk.PutObjectCommand(said), how);
    return ETag;
  }

  async #delete(key: string, condition: object): Promise<void> {
    await this.connection.send(0, ({ sdk, client }, how) =>
      client.send(new sdk.DeleteObjectCommand({ ...this.at(key), ...condition }), how),
    );
  }

  async #head(key: string): Promise<{ readonly ETag?: string; readonly ContentLength?: number } | null> {
    try {
      const { ETag, ContentLength } = await this.connection.send(0, ({ sdk, client }, how) =>
        client.send(new sdk.HeadObjectCommand(this.at(key)), how),
      );
      return { ...(ETag !== undefined && { ETag }), ...(ContentLength !== undefined && { ContentLength }) };
    } catch (error) {
      if (isWordlesslyMissing(error)) return null;
      throw s3Error(error, "read");
    }
  }
}

function bare(etag: string): string {
  return etag.replaceAll('"', "");
}

type Body = NonNullable<GetObjectCommandOutput["Body"]>;

/**
 * Reads a span once. After a broken connection, a new one continues where it broke. A connection that is too slow is given up; time
 * counts only while the reader waits for bytes, so a slow reader does not count as a slow service.
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

  /** `body` is the body of the response to a request for the span. */
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
    this.#reader = getReader(body);
  }

  /** Whether all of it was read. */
  get isOver(): boolean {
    return this.#at === this.#span.end;
  }

  /**
   * The next piece, which may be empty. Call it until the span is read.
   *
   * @throws SluiceError E_STORE_READ; E_STORE_CORRUPT if the object has fewer or more bytes than it should.
   */
  async next(): Promise<Uint8Array> {
    const { done, value } = await this.#read();
    if (done) throw toDamagedError();
    this.#at += value.byteLength;
    if (this.#at > this.#span.end) throw toDamagedError();
    return value;
  }

  /** The whole span, in memory. */
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

  /** The same as a stream, read on demand. Calls `onFailure` before the stream fails. */
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

  /** Ends reading. The connection is reused, or closed if bytes are left. */
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

  /** Waits until a deadline, which moves with the bytes that were read so far. */
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
    if (answer === null) throw toTakenAwayError();
    this.#reader = getReader(toBody(answer, span));
  }
}

/** The body of a response for a span. Throws E_STORE_CORRUPT if the response has another span. */
export function toBody({ Body, ContentRange }: GetObjectCommandOutput, { start, end }: Span): Body {
  if (Body !== undefined && ContentRange?.startsWith(`bytes ${start}-${end - 1}/`) === true) return Body;
  dropBody(Body);
  throw toDamagedError();
}

/** Releases the connection of a body that is not read. */
function dropBody(body: Body | undefined): void {
  if (body !== undefined) void getReader(body).cancel().catch(ignoreError);
}

function getReader(body: Body): ReadableStreamDefaultReader<Uint8Array> {
  return (body.transformToWebStream() as ReadableStream<Uint8Array>).getReader();
}

function ignoreError(): void {
  // The body was not wanted, so its errors do not matter.
}
