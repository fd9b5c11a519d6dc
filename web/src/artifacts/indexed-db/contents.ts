/**
 * Chunks that belong together: written, read and cleared away.
 * @module
 */
import type { Span } from "../bytes.js";
import type { Connection } from "./connection.js";
import { takenAway } from "./failures.js";
import type { Lease, Locks } from "./locks.js";
import { CHUNK, chunksOf, type Reading, type Writing } from "./schema.js";

/** Milliseconds that a content is left alone which nobody names, where locks do not tell whether it is in use. */
const LEFT_ALONE = 3_600_000;

const NAME_BYTES = 16;

/** A name for a content that is about to come. */
export function newContent(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NAME_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The chunks of one store. */
export class Contents {
  readonly #connection: Connection;
  readonly #locks: Locks;

  constructor(connection: Connection, locks: Locks) {
    this.#connection = connection;
    this.#locks = locks;
  }

  /** Says that a content is being written or read; it stays until the lease is released, whoever deletes it. */
  hold(content: string): Promise<Lease> {
    return this.#locks.hold(content);
  }

  /** Makes room for a content of several chunks, which the caller holds. */
  async begin(content: string): Promise<void> {
    await this.#connection.write(["contents"], (transaction) => touch(transaction, content));
  }

  /**
   * Writes one more chunk. The bytes may be used again once this has settled.
   *
   * @throws SluiceError E_STORE_FULL; E_STORE_WRITE when somebody emptied the store meanwhile.
   */
  async append(content: string, index: number, bytes: Uint8Array): Promise<void> {
    await this.#connection.write(["contents", "chunks"], async (transaction) => {
      await mustBeThere(transaction, content);
      await touch(transaction, content);
      await transaction.objectStore("chunks").put(exact(bytes), [content, index]);
    });
  }

  /** One chunk; null when it is not there any more. */
  chunk(content: string, index: number): Promise<Uint8Array | null> {
    return this.#connection.read(["chunks"], async (transaction) => {
      return (await transaction.objectStore("chunks").get([content, index])) ?? null;
    });
  }

  /** A span of a content, as it was at one moment; null when it is not all there. */
  span(content: string, { start, end }: Span): Promise<Uint8Array | null> {
    return this.#connection.read(["chunks"], async (transaction) => {
      const bytes = new Uint8Array(end - start);
      for (let index = Math.floor(start / CHUNK); index * CHUNK < end; index++) {
        const chunk = await transaction.objectStore("chunks").get([content, index]);
        const part = chunk && partOf(chunk, index, { start, end });
        if (!part) return null;
        bytes.set(part, Math.max(index * CHUNK - start, 0));
      }
      return bytes;
    });
  }

  /** Clears a content away unless a blob names it or somebody holds it: then whoever does so last clears it away. */
  async clear(content: string): Promise<void> {
    await this.#locks.alone(content, () =>
      this.#connection.write(["blobs", "contents", "chunks"], async (transaction) => {
        if (await isNamed(transaction, content)) return;
        await transaction.objectStore("chunks").delete(chunksOf(content));
        await transaction.objectStore("contents").delete(content);
      }),
    );
  }

  /** Clears away what tabs left behind that were closed while they wrote or read. */
  async sweep(): Promise<void> {
    for (const content of await this.#unnamed()) await this.clear(content);
  }

  #unnamed(): Promise<readonly string[]> {
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

/** What of a chunk lies in a span of its content; null when the chunk is too short for that. */
export function partOf(chunk: Uint8Array, index: number, { start, end }: Span): Uint8Array | null {
  const [from, to] = [Math.max(start - index * CHUNK, 0), Math.min(end - index * CHUNK, CHUNK)];
  return chunk.byteLength >= to ? chunk.subarray(from, to) : null;
}

/** Throws E_STORE_WRITE when a content that is being written was cleared away. */
export async function mustBeThere(transaction: Writing, content: string): Promise<void> {
  if ((await transaction.objectStore("contents").getKey(content)) === undefined) throw takenAway("write");
}

/** The bytes alone: a clone of a view has all that is behind it. */
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
