/**
 * A store that counts how often it is listed.
 * @module
 */
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactScope, StoredArtifact } from "../../../web/src/artifacts/store.js";

export class ListingStore extends MemoryArtifactStore {
  listings = 0;

  override list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
    this.listings += 1;
    return super.list(scope);
  }

  /** How often it is listed for some work. */
  async listingsOf(work: () => Promise<unknown>): Promise<number> {
    const before = this.listings;
    await work();
    return this.listings - before;
  }
}
