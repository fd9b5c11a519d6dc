/**
 * The interface of artifact stores: blobs by content, refs by scope.
 * @module
 */

/** The owner of an artifact. A missing or null field matches only null. */
export interface ArtifactScope {
  /** The organisation. */
  readonly tenant_id?: string | null;
  /** The person, or an account that acts for one. */
  readonly user_id?: string | null;
  /** One conversation. */
  readonly session_id?: string | null;
  /** One run within a session. */
  readonly trace_id?: string | null;
}

/** A compact reference to a stored artifact. Safe to show to a model, without `scope`. */
export interface ArtifactRef {
  /**
   * `{namespace}_{first 12 hex of SHA-256}`, longer where two contents in one scope would share it. In a host's own store of five
   * methods, the id that it gave.
   */
  readonly id: string;
  /** The media type of the bytes. Null if unknown. */
  readonly mime_type: string | null;
  /** The number of stored bytes. */
  readonly size_bytes: number;
  /** The file name. Null if it has none. */
  readonly filename: string | null;
  /** Lower-case hex of the SHA-256 of the stored bytes. */
  readonly sha256: string;
  /** The owner. For the host, never for a model. */
  readonly scope: ArtifactScope;
  /** The prefix of its id, usually the server that it came from. */
  readonly namespace: string;
  /** Where it came from: what Sluice writes, and any other JSON values that a host gives. */
  readonly source: {
    /** The tool whose result it was part of. */
    readonly tool?: string;
    /** What it is, for a person: `PNG image, 20 × 20, 3.9 KB`. */
    readonly description?: string;
    /** Why it was not stored. */
    readonly warning?: string;
    /** Whether nothing was stored. Its id then begins with `truncated_`. */
    readonly truncated?: boolean;
    /** The size in bytes of what was not stored. */
    readonly original_size?: number;
    /** What a tool of the host's own said of it, see `ToolArtifacts`. */
    readonly meta?: Readonly<Record<string, unknown>>;
    readonly [name: string]: unknown;
  };
}

/** A ref with the times that retention needs, in milliseconds since 1970. */
export interface StoredArtifact extends ArtifactRef {
  /** When it was last stored. Storing the same content again counts. */
  readonly stored_at: number;
  /** When it was last stored or read. */
  readonly used_at: number;
}

/** The record of an artifact that is stored. Every field is optional. */
export interface ArtifactInfo {
  /** The media type of the bytes. Defaults to null: unknown. */
  readonly mime_type?: string | null;
  /** The file name. */
  readonly filename?: string | null;
  /** The prefix of the id: at most 64 letters, digits, `-`, `_` and `.`. Defaults to `artifact`. */
  readonly namespace?: string;
  /** The owner. Defaults to no owner. */
  readonly scope?: ArtifactScope;
  /** Where it came from: any JSON values. */
  readonly source?: ArtifactRef["source"];
}

/** The fields of a stored artifact that may change. */
export type ArtifactPatch = Pick<ArtifactInfo, "mime_type" | "filename" | "source">;

/** A filter for lists. Without one, all artifacts are listed. */
export interface ArtifactFilter {
  /** Only artifacts with exactly this file name. */
  readonly filename?: string;
}

/** A half-open range of bytes. `end` defaults to the end of the artifact. */
export interface ByteRange {
  /** The first byte, from 0. */
  readonly start: number;
  /** The byte after the last one. */
  readonly end?: number;
}

/**
 * Writes one artifact in pieces. Nothing is visible before `close`; disposing without it leaves nothing behind.
 * The caller may reuse the buffer given to `write` as soon as the promise it returned has settled.
 */
export interface ArtifactWriter extends AsyncDisposable {
  /** Takes the next bytes, in chunks of any size. Settles once the store can take more. */
  write(chunk: Uint8Array): Promise<void>;
  /** Publishes the artifact. `info` overrides what `openWriter` was given. */
  close(info?: ArtifactPatch): Promise<ArtifactRef>;
  /** Discards what was written. Idempotent. */
  abort(): Promise<void>;
}

/**
 * Stores bytes and large texts. Blobs and refs are separate: one blob per content, one ref per scope and id. Identical content from
 * two scopes is stored once, and neither scope can see, change or delete the other's ref. `scope` selects refs by equality of all
 * four fields.
 */
export interface ArtifactStore {
  /**
   * Stores bytes. The same content in the same scope and namespace has the same id: storing it again updates that ref by `info`,
   * and counts as storing.
   */
  putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef>;
  /** Stores a text as UTF-8. Its type defaults to `text/plain`. */
  putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef>;
  /** All bytes, or null if the scope has no such artifact. Counts as reading. */
  get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null>;
  /** Deletes an artifact. False if the scope has none. */
  delete(id: string, scope?: ArtifactScope): Promise<boolean>;
  /** Whether the scope has such an artifact. Does not count as reading, nor do `stat`, `update` and `list`. */
  exists(id: string, scope?: ArtifactScope): Promise<boolean>;
  /** The record of an artifact. Null if the scope has none. */
  stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null>;
  /** Changes the record of an artifact. Null if the scope has none. */
  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null>;
  /**
   * The artifacts of one scope, or of all if `scope` is left out, in the order in which they were first stored. `only` filters them:
   * one name in one scope is found without reading the others. A store may ignore `only`, so callers check each artifact.
   */
  list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact>;
  /** Opens a writer for bytes that arrive in pieces. */
  openWriter(info?: ArtifactInfo): Promise<ArtifactWriter>;
  /**
   * A stream of the bytes, or of the part of a range that exists. Null if the scope has no such artifact. Counts as reading, and
   * outlives the artifact.
   */
  openReader(
    id: string,
    options?: { readonly scope?: ArtifactScope; readonly range?: ByteRange },
  ): Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Deletes an artifact that `stat` or `list` gave, if its `used_at` has not changed; otherwise false. Retention deletes this way, so
   * that nothing goes that was used in the meantime.
   */
  evict(seen: StoredArtifact): Promise<boolean>;
  /**
   * Runs work that only one process at a time may do, among all that share the store. Null if another one is doing it. Stores that
   * are not shared leave it out.
   */
  exclusively?<T>(work: () => Promise<T>): Promise<T | null>;
  /**
   * The free and total space of the disk, for `retention.min_free_disk`. Bytes that open writers took count as used. Stores without a
   * disk leave it out, or give a total of 0 bytes.
   */
  space?(): Promise<StoreSpace>;
}

/** The disk under a store. */
export interface StoreSpace {
  /** Free bytes. */
  readonly free_bytes: number;
  /** All bytes, free or not. */
  readonly total_bytes: number;
}

/** Gives milliseconds since 1970. Defaults to `Date.now`. */
export type Clock = () => number;
