/**
 * Bytes on their way to one of two stores.
 * @module
 */
import { patched, type Claim } from "../record.js";
import type { ArtifactPatch, ArtifactRef, ArtifactStore, ArtifactWriter } from "../store.js";
import type { Sink } from "../writer.js";
import { bytesOfDraft, closedAsDraft } from "./draft.js";
import { settled } from "./settled.js";

/** Two stores, and most bytes of what the first of them keeps. */
export interface Tiers {
  readonly near: ArtifactStore;
  readonly far: ArtifactStore;
  readonly limit: number;
}

/** Writes near until it is too much, then far. Holds nothing. */
export class TieredSink implements Sink {
  readonly #tiers: Tiers;
  readonly #claim: Claim;
  #writer: ArtifactWriter;
  #size = 0;
  #isFar = false;
  /** What has to go from the near store. */
  #draft: ArtifactRef | undefined;

  private constructor(tiers: Tiers, claim: Claim, writer: ArtifactWriter) {
    this.#tiers = tiers;
    this.#claim = claim;
    this.#writer = writer;
  }

  static async open(tiers: Tiers, claim: Claim): Promise<TieredSink> {
    return new TieredSink(tiers, claim, await tiers.near.openWriter(claim));
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#size += chunk.byteLength;
    if (!this.#isFar && this.#size > this.#tiers.limit) await this.#move();
    await this.#writer.write(chunk);
  }

  async commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    const { near, far } = this.#tiers;
    // Checked here, so that a patch that is none fails before anything is published.
    patched(this.#claim, patch);
    const ref = await this.#writer.close(patch);
    return this.#isFar ? settled(far, near, ref) : settled(near, far, ref);
  }

  async discard(): Promise<void> {
    await this.#writer.abort();
    await this.#dropDraft();
  }

  async #move(): Promise<void> {
    const { near, far } = this.#tiers;
    this.#draft = await closedAsDraft(this.#writer);
    this.#isFar = true;
    this.#writer = await far.openWriter(this.#claim);
    for await (const piece of bytesOfDraft(near, this.#draft)) await this.#writer.write(piece);
    await this.#dropDraft();
  }

  async #dropDraft(): Promise<void> {
    const draft = this.#draft;
    this.#draft = undefined;
    // What cannot be taken away now is shown to nobody, and leaves by the near store's retention.
    if (draft) await this.#tiers.near.delete(draft.id, draft.scope).catch(() => undefined);
  }
}
