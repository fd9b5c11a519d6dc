/**
 * A store as one user, session or trace may see it.
 * @module
 */
import { isBytes } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import { guarded } from "../errors/storage.js";
import { chunksOf, objectOf, type Uploaded } from "./bytes.js";
import { asStore } from "./discover.js";
import { isArtifactId } from "./ids.js";
import { fullScope, sameScope, type FullScope } from "./scope.js";
import { openedWriter, writtenWhole } from "./writer.js";
import type {
  ArtifactFilter,
  ArtifactInfo,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ByteRange,
  StoredArtifact,
} from "./store.js";
import { isWanted } from "./filter.js";

/** What is said of an upload: everything but whose it is. */
export type UploadInfo = Omit<ArtifactInfo, "scope">;

/**
 * Puts into one scope and reads from it, whatever ids it is given: what a tool, a user or a request gets in place of
 * the store. Scope is also checked here, so that it holds over a store that only records it.
 *
 * What is in another scope is not found, in the same words as what is nowhere.
 *
 * @example
 * const artifacts = new ScopedArtifacts(store, { tenant_id: "acme", user_id: "ada", session_id: "s1" });
 * const ref = await artifacts.upload(bytes, { filename: "report.pdf" });
 * const same = await artifacts.download(ref.id);
 */
export class ScopedArtifacts {
  readonly #store: ArtifactStore;
  readonly #scope: FullScope;

  /** Throws E_INVALID_ARGUMENT when the store or the scope is none. */
  constructor(store: ArtifactStore, scope: ArtifactScope) {
    this.#store = asStore(store);
    this.#scope = fullScope(scope);
  }

  /** Stores bytes, a text or a stream. Nothing is left of one that fails. Throws E_STORE_…, and what a stream throws. */
  async upload(data: Uploaded, info: UploadInfo = {}): Promise<ArtifactRef> {
    const said = { ...objectOf(info, "info"), scope: this.#scope };
    if (typeof data === "string") return guarded("write", () => this.#store.putText(data, said));
    if (isBytes(data)) return guarded("write", () => this.#store.putBytes(data, said));
    // What is none is refused before anything is opened for it.
    const chunks = chunksOf(data);
    return writtenWhole(await openedWriter(this.#store, said), chunks);
  }

  /** All bytes, or a range of them. Throws E_NOT_FOUND, E_EXPIRED, E_STORE_CORRUPT. */
  async download(id: string, options: { readonly range?: ByteRange } = {}): Promise<Uint8Array> {
    if (objectOf(options, "options").range !== undefined) {
      return new Uint8Array(await new Response(await this.open(id, options)).arrayBuffer());
    }
    await this.stat(id);
    return found(await guarded("read", () => this.#store.get(id, this.#scope)), id);
  }

  /** The same as a stream. */
  async open(id: string, options: { readonly range?: ByteRange } = {}): Promise<ReadableStream<Uint8Array>> {
    await this.stat(id);
    return found(await guarded("read", () => this.#store.openReader(id, { ...options, scope: this.#scope })), id);
  }

  /** What is said of an artifact. Throws E_NOT_FOUND and E_EXPIRED. */
  async stat(id: string): Promise<StoredArtifact> {
    const artifact = found(await guarded("read", () => this.#store.stat(id, this.#scope)), id);
    return found(sameScope(artifact.scope, this.#scope) ? artifact : null, id);
  }

  /** What the scope holds, or what of it is wanted, oldest first. */
  async *list(only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    for await (const artifact of this.#store.list(this.#scope, only)) {
      if (sameScope(artifact.scope, this.#scope) && isWanted(artifact, only)) yield artifact;
    }
  }

  /** Whether there was anything to delete. */
  async delete(id: string): Promise<boolean> {
    const artifact = await guarded("read", () => this.#store.stat(id, this.#scope));
    if (artifact === null || !sameScope(artifact.scope, this.#scope)) return false;
    return guarded("write", () => this.#store.delete(id, this.#scope));
  }
}

function found<T>(value: T | null, id: string): T {
  if (value !== null) return value;
  const named = isArtifactId(id) ? `artifact ${id}` : "artifact of that id";
  throw new SluiceError("E_NOT_FOUND", `There is no ${named} here: check the id, or call the tool again that gave it.`);
}
