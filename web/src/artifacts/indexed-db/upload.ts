/**
 * Writes the bytes of an artifact into the database.
 * @module
 */
import type { SluiceError } from "../../errors/error.js";
import type { StreamHash } from "../hash.js";
import { randomHex, applyPatch, type Claim } from "../reference.js";
import type { ArtifactPatch, ArtifactRef } from "../store.js";
import { PieceBuffer, type ByteSink } from "../writer.js";
import type { Lease, StoreDeps } from "./contents.js";
import { browserError, CHUNK } from "./database.js";
import { publish } from "./refs.js";

const NAME_BYTES = 16;

/**
 * Hashes and writes in constant memory. One chunk is filled while the one before it is written. Content that fits into one chunk is
 * written when it is published, so discarding it costs nothing.
 */
export class Upload implements ByteSink {
  readonly #store: StoreDeps;
  readonly #claim: Claim;
  readonly #hash: StreamHash;
  readonly #content = randomHex(NAME_BYTES);
  readonly #buffer = new PieceBuffer(CHUNK);
  #size = 0;
  /** The part of them that is written. */
  #landed = 0;
  #chunks = 0;
  /** Held from the first chunk on, so that no other tab deletes the chunks as left behind. */
  #lease: Lease | undefined;
  /** Settles when the chunk before is written. Never rejects, see `#failure`. */
  #flying: Promise<void> | undefined;
  #failure: SluiceError | undefined;

  constructor(store: StoreDeps, claim: Claim, hash: StreamHash) {
    this.#store = store;
    this.#claim = claim;
    this.#hash = hash;
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
    this.#size += chunk.byteLength;
    this.#store.unwritten.bytes += chunk.byteLength;
    return this.#buffer.write(chunk, (full) => this.#send(full));
  }

  async commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    const claim = applyPatch(this.#claim, patch);
    const { connection, contents, stamps } = this.#store;
    const bytes = this.#lease ? undefined : this.#buffer.bytes;
    if (this.#lease) {
      await this.#send(this.#buffer.bytes);
      await this.#waitForArrival();
    }
    const written = { sha256: this.#hash.digest(), size: this.#size, content: this.#content, bytes };
    const { ref, loose } = await publish(connection, claim, written, stamps);
    await this.#free();
    // If that fails, it is deleted when the store is opened the next time.
    for (const content of loose) await contents.clear(content).catch(() => undefined);
    return ref;
  }

  async discard(): Promise<void> {
    await this.#flying;
    const isBegun = this.#lease !== undefined;
    await this.#free();
    if (isBegun) await this.#store.contents.clear(this.#content).catch(() => undefined);
  }

  async #free(): Promise<void> {
    this.#land(this.#size - this.#landed);
    this.#buffer.clear();
    await this.#lease?.release();
    this.#lease = undefined;
  }

  /** Writes a chunk once the one before it is written. */
  async #send(bytes: Uint8Array): Promise<void> {
    if (!this.#lease) {
      this.#lease = await this.#store.contents.hold(this.#content);
      await this.#store.contents.begin(this.#content);
    }
    await this.#waitForArrival();
    this.#flying = this.#append(this.#chunks++, bytes);
  }

  async #append(index: number, bytes: Uint8Array): Promise<void> {
    try {
      await this.#store.contents.append(this.#content, index, bytes);
      this.#land(bytes.byteLength);
    } catch (error) {
      this.#failure = browserError(error, "write");
    }
  }

  async #waitForArrival(): Promise<void> {
    await this.#flying;
    this.#flying = undefined;
    if (this.#failure) throw this.#failure;
  }

  /** Stops counting bytes: they are written by now, or discarded. */
  #land(bytes: number): void {
    this.#landed += bytes;
    this.#store.unwritten.bytes -= bytes;
  }
}
