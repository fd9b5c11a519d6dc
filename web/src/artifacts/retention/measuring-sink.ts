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

  constructor(writer: ArtifactWriter, claim: Claim, keeper: Keeper) {
    this.#writer = writer;
    this.#claim = claim;
    this.#keeper = keeper;
    this.#check = keeper.boundOf(claim);
  }

  write(chunk: Uint8Array): Promise<void> {
    this.#size += chunk.byteLength;
    this.#check(this.#size);
    return this.#writer.write(chunk);
  }

  commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    return this.#keeper.admit({ ...this.#claim, size_bytes: this.#size }, () => this.#writer.close(patch));
  }

  discard(): Promise<void> {
    return this.#writer.abort();
  }
}
