/**
 * The artifacts that may be handed out: those of one scope that came from one server, or from those named beside it.
 * @module
 */
import type { ArtifactScope, ArtifactStore, ByteRange, StoredArtifact } from "../artifacts/store.js";
import type { ReadingSource } from "./reading/source.js";

/** A store narrowed to one scope and to namespaces: no id from elsewhere is found in it. */
export class ArtifactSource implements ReadingSource {
  readonly #store: ArtifactStore;
  readonly #scope: ArtifactScope;
  readonly #namespaces: readonly string[];

  constructor(store: ArtifactStore, scope: ArtifactScope, ...namespaces: readonly string[]) {
    this.#store = store;
    this.#scope = scope;
    this.#namespaces = namespaces;
  }

  async stat(id: string): Promise<StoredArtifact | null> {
    const ref = await this.#store.stat(id, this.#scope);
    return ref !== null && this.#namespaces.includes(ref.namespace) ? ref : null;
  }

  async openReader(id: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | null> {
    if ((await this.stat(id)) === null) return null;
    return this.#store.openReader(id, { scope: this.#scope, ...(range !== undefined && { range }) });
  }
}
