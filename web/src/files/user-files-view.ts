/**
 * A view of a store in which a user's own files are found besides the artifacts of a call.
 * @module
 */
import type {
  ArtifactFilter,
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  Clock,
  StoredArtifact,
} from "../artifacts/store.js";
import { checkObject } from "../errors/arguments.js";
import { isArtifactId } from "../artifacts/reference.js";
import { fullScope } from "../artifacts/scope.js";
import { isExpired, isFile, isFileId } from "./user-file.js";

/** Where a user's files are: the store, and the scope they are kept in. */
export interface FilesPlace {
  readonly store: ArtifactStore;
  readonly scope: ArtifactScope;
}

/**
 * Reads of file ids go to the files of the user whom the scope names; everything else goes to the store. A file appears in
 * the source's namespace, since the user lets that source's tools have it.
 */
export class UserFilesView implements ArtifactStore {
  readonly #store: ArtifactStore;
  readonly #namespace: string;
  readonly #placeOf: (scope: ArtifactScope) => FilesPlace | undefined;
  readonly #now: Clock;

  constructor(
    store: ArtifactStore,
    namespace: string,
    placeOf: (scope: ArtifactScope) => FilesPlace | undefined,
    now: Clock,
  ) {
    this.#store = store;
    this.#namespace = namespace;
    this.#placeOf = placeOf;
    this.#now = now;
  }

  putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#store.putBytes(data, info);
  }

  putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#store.putText(text, info);
  }

  openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    return this.#store.openWriter(info);
  }

  delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#store.delete(id, scope);
  }

  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return this.#store.update(id, patch, scope);
  }

  list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    return this.#store.list(scope, only);
  }

  evict(seen: StoredArtifact): Promise<boolean> {
    return this.#store.evict(seen);
  }

  async get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    const place = await this.#fileAt(id, scope);
    if (place === undefined) return this.#store.get(id, scope);
    return (await this.#fileIn(place, id)) && place.store.get(id, place.scope);
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    const place = await this.#fileAt(id, scope);
    return place === undefined ? this.#store.exists(id, scope) : (await this.#fileIn(place, id)) !== null;
  }

  async stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    const place = await this.#fileAt(id, scope);
    if (place === undefined) return this.#store.stat(id, scope);
    const file = await this.#fileIn(place, id);
    // `ScopedArtifacts` compares both with what was requested.
    return file && { ...file, namespace: this.#namespace, scope: fullScope(scope) };
  }

  async openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    const place = await this.#fileAt(id, checkObject(options, "options").scope);
    if (place === undefined) return this.#store.openReader(id, options);
    return (await this.#fileIn(place, id)) && place.store.openReader(id, { ...options, scope: place.scope });
  }

  /** Null for an expired draft, also if it has not been deleted yet. */
  async #fileIn({ store, scope }: FilesPlace, id: string): Promise<StoredArtifact | null> {
    const file = await store.stat(id, scope);
    return file === null || isExpired(file, this.#now()) ? null : file;
  }

  async #fileAt(id: string, scope: ArtifactScope | undefined): Promise<FilesPlace | undefined> {
    if (isArtifactId(id) && !isFileId(id)) return undefined;
    const place = this.#placeOf(fullScope(scope));
    if (place === undefined || isFileId(id)) return place;
    // A host's own store gives files ids of its own.
    const file = await place.store.stat(id, place.scope).catch(() => null);
    return file !== null && isFile(file) ? place : undefined;
  }
}
