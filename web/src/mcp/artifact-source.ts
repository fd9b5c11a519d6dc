/**
 * The artifacts that a door may hand out: those of its scope that came from its server.
 * @module
 */
import type { ArtifactScope, ArtifactStore, ByteRange, StoredArtifact } from "../artifacts/store.js";
import type { ReadingSource } from "./reading/source.js";

/** A store narrowed to one scope and one namespace: no id from elsewhere is found in it. */
export class ArtifactSource implements ReadingSource {
  readonly #store: ArtifactStore;
  readonly #scope: ArtifactScope;
  readonly #namespace: string;

  constructor(store: ArtifactStore, scope: ArtifactScope, namespace: string) {
    this.#store = store;
    this.#scope = scope;
    this.#namespace = namespace;
  }

  async stat(id: string): Promise<StoredArtifact | null> {
    const ref = await this.#store.stat(id, this.#scope);
    return ref?.namespace === this.#namespace ? ref : null;
  }

  async openReader(id: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | null> {
    if ((await this.stat(id)) === null) return null;
    return this.#store.openReader(id, { scope: this.#scope, ...(range !== undefined && { range }) });
  }
}
