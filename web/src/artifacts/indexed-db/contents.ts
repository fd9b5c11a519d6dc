/**
 * Contents in chunks: written, read whole or as a stream, and deleted once nothing names or uses them.
 *
 * Web Locks tell which contents are in use over all tabs and workers of a site. The browser releases the locks of a tab when it ends,
 * for whatever reason. Without Web Locks, as on pages that are not a secure context, locks hold within one page or worker, and the age
 * of a content tells whether others may be using it.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { toSpan, type Span, toStream } from "../bytes.js";
import { type Hashing, toDamagedError, verifyStream } from "../hash.js";
import { isArtifactId, type Stamps } from "../reference.js";
import { LocalLocks, type LockSource } from "./local-locks.js";
import { scopeKey } from "../scope.js";
import type { ArtifactScope, ByteRange } from "../store.js";
import type { Unwritten } from "../writer.js";
import {
  CHUNK,
  getChunkRange,
  toContendedError,
  nextStamp,
  toTakenAwayError,
  type BlobRow,
  type Connection,
  type Reading,
  type RefRow,
  type Writing,
} from "./database.js";

/** Milliseconds that a content without a name is kept if no locks tell whether it is in use. */
const LEFT_ALONE = 3_600_000;

/** The chunks of one store. */
export class Contents {
  readonly #connection: Connection;
  readonly #locks: Locks;

  constructor(connection: Connection, locks: Locks) {
    this.#connection = connection;
    this.#locks = locks;
  }

  /** Marks a content as in use. It stays until the lease is released, even if it is deleted. */
  hold(content: string): Promise<Lease> {
    return this.#locks.hold(content);
  }

  /** Creates a content of several chunks, which the caller holds. */
  async begin(content: string): Promise<void> {
    await this.#connection.write(["contents"], (transaction) => touch(transaction, content));
  }

  /**
   * Writes the next chunk. The caller may reuse the bytes once this has settled.
   *
   * @throws SluiceError E_STORE_FULL; E_STORE_WRITE if the store was emptied meanwhile.
   */
  async append(content: string, index: number, bytes: Uint8Array): Promise<void> {
    await this.#connection.write(["contents", "chunks"], async (transaction) => {
      await mustBeThere(transaction, content);
      await touch(transaction, content);
      await transaction.objectStore("chunks").put(exact(bytes), [content, index]);
    });
  }

  /** One chunk. Null if it is gone. */
  chunk(content: string, index: number): Promise<Uint8Array | null> {
    return this.#connection.read(["chunks"], async (transaction) => {
      return (await transaction.objectStore("chunks").get([content, index])) ?? null;
    });
  }

  /** A span of a content, read in one transaction. Null if a part is missing. */
  span(content: string, { start, end }: Span): Promise<Uint8Array | null> {
    return this.#connection.read(["chunks"], async (transaction) => {
      const bytes = new Uint8Array(end - start);
      for (let index = Math.floor(start / CHUNK); index * CHUNK < end; index++) {
        const chunk = await transaction.objectStore("chunks").get([content, index]);
        const part = chunk && cutChunk(chunk, index, { start, end });
        if (!part) return null;
        bytes.set(part, Math.max(index * CHUNK - start, 0));
      }
      return bytes;
    });
  }

  /** Deletes a content, unless a blob names it or it is in use. Its last user deletes it then. */
  async clear(content: string): Promise<void> {
    await this.#locks.alone(content, () =>
      this.#connection.write(["blobs", "contents", "chunks"], async (transaction) => {
        if (await isNamed(transaction, content)) return;
        await transaction.objectStore("chunks").delete(getChunkRange(content));
        await transaction.objectStore("contents").delete(content);
      }),
    );
  }

  /** Deletes what tabs that were closed while they wrote or read left behind. */
  async sweep(): Promise<void> {
    for (const content of await this.#listUnnamed()) await this.clear(content);
  }

  #listUnnamed(): Promise<readonly string[]> {
    return this.#connection.read(["blobs", "contents"], async (transaction) => {
      const unnamed: string[] = [];
      const rows = await transaction.objectStore("contents").getAll();
      for (const { content, touched } of rows) {
        const mayBeInUse = !this.#locks.shared && Math.abs(Date.now() - touched) < LEFT_ALONE;
        if (!mayBeInUse && !(await isNamed(transaction, content))) unnamed.push(content);
      }
      return unnamed;
    });
  }
}

/** The part of a chunk within a span of its content. Null if the chunk is too short. */
function cutChunk(chunk: Uint8Array, index: number, { start, end }: Span): Uint8Array | null {
  const [from, to] = [Math.max(start - index * CHUNK, 0), Math.min(end - index * CHUNK, CHUNK)];
  return chunk.byteLength >= to ? chunk.subarray(from, to) : null;
}

/** Throws E_STORE_WRITE if a content was deleted while it was written. */
export async function mustBeThere(transaction: Writing, content: string): Promise<void> {
  if ((await transaction.objectStore("contents").getKey(content)) === undefined) throw toTakenAwayError("write");
}

/** The bytes in a buffer of their size: storing a view would store its whole buffer. */
export function exact(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}

async function touch(transaction: Writing, content: string): Promise<void> {
  await transaction.objectStore("contents").put({ content, touched: Date.now() });
}

async function isNamed(transaction: Reading | Writing, content: string): Promise<boolean> {
  // The two kinds of transactions have no signature in common.
  const blobs = (transaction as Reading).objectStore("blobs");
  return (await blobs.index("content").getKey(content)) !== undefined;
}

/**
 * Reads a span chunk by chunk, on demand. The lease keeps the content and is released at the end, on failure and on cancel. If the
 * artifact was deleted by then, its bytes are deleted too.
 */
function streamChunks(contents: Contents, content: string, span: Span, lease: Lease): ReadableStream<Uint8Array> {
  let at = span.start;
  const finish = async (): Promise<void> => {
    await lease.release();
    // If that fails, it is deleted when the store is opened the next time.
    await contents.clear(content).catch(() => undefined);
  };
  const next = async (): Promise<Uint8Array> => {
    const index = Math.floor(at / CHUNK);
    const chunk = await contents.chunk(content, index);
    const piece = chunk && cutChunk(chunk, index, { start: at, end: span.end });
    if (!piece) throw toTakenAwayError("read");
    at += piece.byteLength;
    return piece;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        try {
          if (at < span.end) controller.enqueue(await next());
        } catch (error) {
          await finish();
          throw error;
        }
        if (at < span.end) return;
        await finish();
        controller.close();
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );
}

/** A thing in use. */
export interface Lease {
  /** Ends the use. Settles when others see that. Idempotent. Never rejects. */
  release(): Promise<void>;
}

const local = new LocalLocks();

/** Locks of one store. */
export class Locks {
  readonly #source: LockSource;
  readonly #prefix: string;
  /** Whether the locks hold over all tabs and workers. */
  readonly shared: boolean;

  constructor(store: string, source: LockSource | null = webLocks()) {
    this.#source = source ?? local;
    this.#prefix = `sluice/${store}/`;
    this.shared = source !== null;
  }

  /** Marks a thing as in use until the lease is released. Any number of users may share it. */
  hold(name: string): Promise<Lease> {
    return new Promise((resolve, reject) => {
      const holdLock = (): Promise<void> =>
        new Promise((end) => {
          const release = async (): Promise<void> => {
            end();
            await released.catch(() => undefined);
          };
          resolve({ release });
        });
      const released = this.#source.request(this.#prefix + name, { mode: "shared" }, holdLock);
      released.catch(reject);
    });
  }

  /** Runs work if a thing is not in use. Null if it is. */
  async alone<T>(name: string, work: () => Promise<T>): Promise<T | null> {
    const run = async (lock: unknown): Promise<T | null> => (lock === null ? null : work());
    return this.#source.request(this.#prefix + name, { ifAvailable: true }, run);
  }
}

function webLocks(): LockSource | null {
  return (globalThis.navigator as Partial<Navigator> | undefined)?.locks ?? null;
}

/** Attempts to read bytes that are deleted and stored again meanwhile. */
const ATTEMPTS = 8;
/** Most bytes of one array in every browser. */
const MAX_WHOLE = 2 * 1024 ** 3;

/** The parts of a store in a database. */
export interface StoreDeps {
  readonly connection: Connection;
  readonly contents: Contents;
  readonly stamps: Stamps;
  readonly hashing: Hashing;
  readonly unwritten: Unwritten;
}

/**
 * All bytes of an artifact, checked by their hash. Null if there is none.
 *
 * @throws SluiceError E_STORE_CORRUPT if they are not those that were stored; E_TOO_LARGE above 2 GiB.
 */
export async function readWhole(
  store: StoreDeps,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<Uint8Array | null> {
  let missing: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const blob = await useArtifact(store, id, scope);
    if (!blob) return null;
    if (blob.size > MAX_WHOLE) {
      throw new SluiceError("E_TOO_LARGE", "The artifact is larger than 2 GiB: read it through openReader.");
    }
    const bytes = await checkBlob(store, blob, missing === blob.content);
    if (bytes) return bytes;
    missing = blob.content;
  }
  throw toContendedError("read");
}

/** A stream of a span of an artifact. Null if there is none. The hash is checked only if the span is the whole. */
export async function readSpan(
  store: StoreDeps,
  id: string,
  scope: ArtifactScope | undefined,
  range: ByteRange | undefined,
): Promise<ReadableStream<Uint8Array> | null> {
  const { connection, contents, hashing } = store;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const seen = await find(connection, id, scope);
    if (!seen) return null;
    const { start, end } = toSpan(range, seen.size);
    if (seen.size <= CHUNK) {
      const bytes = await readWhole(store, id, scope);
      return bytes && toStream(bytes.subarray(start, end));
    }
    const lease = await contents.hold(seen.content);
    const blob = await useArtifact(store, id, scope).catch(async (error: unknown) => {
      await lease.release();
      throw error;
    });
    if (blob?.content === seen.content) {
      const stream = streamChunks(contents, seen.content, { start, end }, lease);
      if (end - start < blob.size) return stream;
      const expected = { sha256: blob.sha256, size_bytes: blob.size };
      return verifyStream(stream, expected, hashing, () => withdraw(connection, blob));
    }
    await lease.release();
    await contents.clear(seen.content);
  }
  throw toContendedError("read");
}

/** The bytes of a blob. Null if they are gone; with `again`, that throws E_STORE_CORRUPT. */
async function checkBlob(
  { connection, contents, hashing }: StoreDeps,
  blob: BlobRow,
  again: boolean,
): Promise<Uint8Array | null> {
  try {
    const bytes = await contents.span(blob.content, { start: 0, end: blob.size });
    if (!bytes && !again) return null;
    if (!bytes || (await hashing.whole(bytes)) !== blob.sha256) throw toDamagedError();
    return bytes;
  } catch (error) {
    if (error instanceof SluiceError && error.code === "E_STORE_CORRUPT") await withdraw(connection, blob);
    throw error;
  }
}

/** Marks bytes as damaged, so that the next put writes them again. */
async function withdraw(connection: Connection, { sha256, content }: BlobRow): Promise<void> {
  const withdrawn = connection.write(["blobs"], async (transaction) => {
    const blobs = transaction.objectStore("blobs");
    const blob = await blobs.get(sha256);
    if (blob?.content === content) await blobs.put({ ...blob, damaged: true });
  });
  await withdrawn.catch(() => undefined);
}

/** Finds the bytes of an artifact. Records the use, if there is room for that. */
async function useArtifact(
  { connection, stamps }: StoreDeps,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<BlobRow | null> {
  const key = scopeKey(scope);
  if (!isArtifactId(id)) return null;
  try {
    return await connection.write(["refs", "blobs", "clock"], async (transaction) => {
      const found = await lookUp(transaction, key, id);
      if (!found) return null;
      await transaction.objectStore("refs").put({ ...found.row, used: await nextStamp(transaction, stamps) });
      return found.blob;
    });
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== "E_STORE_FULL") throw error;
    return find(connection, id, scope);
  }
}

async function find(connection: Connection, id: string, scope: ArtifactScope | undefined): Promise<BlobRow | null> {
  const key = scopeKey(scope);
  if (!isArtifactId(id)) return null;
  return connection.read(["refs", "blobs"], async (transaction) => {
    return (await lookUp(transaction, key, id))?.blob ?? null;
  });
}

async function lookUp(
  transaction: Reading | Writing,
  key: string,
  id: string,
): Promise<{ readonly row: RefRow; readonly blob: BlobRow } | null> {
  // The two kinds of transactions have no signature in common.
  const reading = transaction as Reading;
  const row = await reading.objectStore("refs").get([key, id]);
  if (!row) return null;
  const blob = await reading.objectStore("blobs").get(row.sha256);
  if (!blob) throw toDamagedError();
  return { row, blob };
}
