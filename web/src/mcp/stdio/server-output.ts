/**
 * The standard output of a server, read into the same memory again and again.
 *
 * Node gives each read of a child's pipe a buffer of its own, and collecting those costs as much as the reading. A socket can be told to
 * read into one, but only when it is made, so the pipe is made here: a connection, one end of which is handed to the server.
 * @module
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Bytes of one read: as much as the kernel holds of a connection. */
const MEMORY = 256 * 1024;

/** Other runtimes do not hand sockets to children, and few programs of Windows take one. */
const CAN_HAND_OVER = process.platform !== "win32" && !("Bun" in globalThis) && !("Deno" in globalThis);

/** The output, for one reader. A chunk is valid until the next one is asked for. */
export class ServerOutput implements AsyncIterable<Uint8Array> {
  /** The end for the server, for `stdio` of `spawn`. */
  readonly theirs: Socket;
  readonly #ours: Socket;
  readonly #reads: Reads;
  /** Resolves when all is read, or nothing more will be. */
  readonly ended: Promise<void>;

  private constructor(ours: Socket, theirs: Socket, reads: Reads) {
    this.#ours = ours;
    this.theirs = theirs;
    this.#reads = reads;
    this.ended = new Promise((resolve) => {
      ours.once("close", () => {
        reads.end();
        resolve();
      });
    });
  }

  /** Undefined where it cannot be made: a pipe does the same, slower. */
  static async open(): Promise<ServerOutput | undefined> {
    if (!CAN_HAND_OVER) return undefined;
    // No other user can enter this folder, and so connect.
    const folder = await mkdtemp(join(tmpdir(), "sluice-output-")).catch(() => undefined);
    if (folder === undefined) return undefined;
    const path = join(folder, "socket");
    const listener = createServer({ pauseOnConnect: true });
    let ours: Socket | undefined;
    try {
      listener.listen({ path, exclusive: true });
      await once(listener, "listening");
      const reads = new Reads();
      ours = connect({ path, onread: { buffer: reads.memory, callback: (size) => reads.take(size) } });
      // Its end tells all that there is to tell.
      ours.on("error", () => undefined);
      const closed = new AbortController();
      ours.once("close", () => closed.abort());
      // A process with too many open files accepts nothing, and closes what connects.
      const [theirs] = (await once(listener, "connection", closed)) as [Socket];
      return new ServerOutput(ours, theirs, reads);
    } catch {
      ours?.destroy();
      return undefined;
    } finally {
      listener.close();
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  /** Whether reading has begun. */
  get isRead(): boolean {
    return this.#reads.isBegun;
  }

  /** Closes our copy of the server's end: the server has it, or will never. */
  handedOver(): void {
    this.theirs.destroy();
  }

  /** Stops reading. */
  destroy(): void {
    this.#ours.destroy();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (let chunk = await this.#reads.next(); chunk !== undefined; chunk = await this.#reads.next()) {
        yield chunk;
        this.#ours.resume();
      }
    } finally {
      this.destroy();
    }
  }
}

/** Hands over what is read, one read at a time. */
class Reads {
  readonly memory = new Uint8Array(MEMORY);
  isBegun = false;
  #chunk: Uint8Array | undefined;
  #isOver = false;
  #wake: () => void = () => undefined;

  /** False, so that the socket reads nothing more before this is used up. */
  take(size: number): boolean {
    this.#chunk = this.memory.subarray(0, size);
    this.#wake();
    return false;
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The next read; undefined behind the last. */
  async next(): Promise<Uint8Array | undefined> {
    this.isBegun = true;
    if (this.#chunk === undefined && !this.#isOver) await new Promise<void>((resolve) => (this.#wake = resolve));
    const chunk = this.#chunk;
    this.#chunk = undefined;
    return chunk;
  }
}
