/**
 * Bytes on their way into a store with limits.
 * @module
 */
import type { Claim } from "../record.js";
import type { ArtifactPatch, ArtifactRef, ArtifactWriter } from "../store.js";
import type { Sink } from "../writer.js";
import type { Bound, Keeper } from "./keeper.js";

/** Counts what goes to the writer underneath; the first byte that passes a limit ends it. */
export class MeasuringSink implements Sink {
  readonly #writer: ArtifactWriter;
  readonly #claim: Claim;
  readonly #keeper: Keeper;
  readonly #check: Bound;
  #size = 0;
  /** Bytes that the writer has, if it has to throw them away. */
  #written = 0;

  constructor(writer: ArtifactWriter, claim: Claim, keeper: Keeper) {
    this.#writer = writer;
    this.#claim = claim;
    this.#keeper = keeper;
    this.#check = keeper.boundOf(claim);
  }

  write(chunk: Uint8Array): Promise<void> {
    const bytes = chunk.byteLength;
    this.#size += bytes;
    this.#check(this.#size);
    const write = (): Promise<void> => {
      this.#written += bytes;
      return this.#writer.write(chunk);
    };
    return this.#keeper.write({ bytes, write, discard: () => this.discard() });
  }

  commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    return this.#keeper.admit({ ...this.#claim, size_bytes: this.#size }, () => this.#writer.close(patch));
  }

  discard(): Promise<void> {
    const written = this.#written;
    this.#written = 0;
    return this.#keeper.discard(written, () => this.#writer.abort());
  }
}
