/**
 * What an artifact store is: blobs by content, refs by scope.
 * @module
 */

/** Whose an artifact is. A missing or null field matches only null. */
export interface ArtifactScope {
  /** The organisation. */
  readonly tenant_id?: string | null;
  /** The person, or whoever stands for one. */
  readonly user_id?: string | null;
  /** One conversation. */
  readonly session_id?: string | null;
  /** One run within a session. */
  readonly trace_id?: string | null;
}

/** A compact reference to a stored artifact. Safe to show to a model, without `scope`. */
export interface ArtifactRef {
  /** `{namespace}_{first 12 hex of SHA-256}`, longer where two contents in one scope would share it. */
  readonly id: string;
  /** What the bytes are; null where nobody said. */
  readonly mime_type: string | null;
  /** Of the stored bytes. */
  readonly size_bytes: number;
  /** What a person would call it; null where it has no name. */
  readonly filename: string | null;
  /** Lower-case hex of the SHA-256 of the stored bytes. */
  readonly sha256: string;
  /** Whose it is: for the host, never for a model. */
  readonly scope: ArtifactScope;
  /** The prefix of its id: as a rule the server it came from. */
  readonly namespace: string;
  /** Where it came from: `tool`, `warning`, `references` (inside a stored text), … */
  readonly source: Readonly<Record<string, unknown>>;
}

/** A ref as a store holds it, with the times that retention goes by, in milliseconds since 1970. */
export interface StoredArtifact extends ArtifactRef {
  /** When it was stored last; storing the same again counts. */
  readonly stored_at: number;
  /** When it was stored or read last. */
  readonly used_at: number;
}

/** What is said of an artifact when it is stored; all of it may be left out. */
export interface ArtifactInfo {
  /** What the bytes are; null or left out: unknown. */
  readonly mime_type?: string | null;
  /** What a person would call it. */
  readonly filename?: string | null;
  /** Letters, digits, `-`, `_`, `.`; at most 64 characters; `artifact` when left out. */
  readonly namespace?: string;
  /** Whose the artifact is; left out, that of nobody. */
  readonly scope?: ArtifactScope;
  /** Where it came from: any JSON values. */
  readonly source?: Readonly<Record<string, unknown>>;
}

/** What may change about a stored artifact. */
export type ArtifactPatch = Pick<ArtifactInfo, "mime_type" | "filename" | "source">;

/** Which artifacts of a list are wanted; left out: all. */
export interface ArtifactFilter {
  /** Those that have just this file name. */
  readonly filename?: string;
}

/** A half-open range of bytes; `end` left out means to the last byte. */
export interface ByteRange {
  /** The first byte, from 0. */
  readonly start: number;
  /** The byte behind the last one. */
  readonly end?: number;
}

/**
 * Bytes on their way in. Nothing is visible before `close`; disposing without it leaves nothing behind.
 * The caller may reuse the buffer given to `write` as soon as the promise it returned has settled.
 */
export interface ArtifactWriter extends AsyncDisposable {
  /** Takes bytes, in chunks of any size. Settles when the store can take more. */
  write(chunk: Uint8Array): Promise<void>;
  /** Publishes the artifact. What is given here wins over what `openWriter` was given. */
  close(info?: ArtifactPatch): Promise<ArtifactRef>;
  /** Throws away what was written. Idempotent. */
  abort(): Promise<void>;
}

/**
 * A place for bytes and large texts. Blobs and refs are separate things: one blob per
 * content, one ref per scope and id, so identical content from two scopes is stored once and neither can
 * see, change or delete the other's. `scope` selects refs by equality of all four fields.
 */
export interface ArtifactStore {
  /**
   * Stores bytes. The same content in the same scope and namespace has the same id: storing it again gives that ref,
   * changed by what `info` says, and counts as storing.
   */
  putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef>;
  /** Stores a text as UTF-8; `text/plain` unless the info says what it is. */
  putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef>;
  /** All bytes, or null when there is no such artifact in the scope. Counts as reading. */
  get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null>;
  /** Deletes an artifact; false when there is none in the scope. */
  delete(id: string, scope?: ArtifactScope): Promise<boolean>;
  /** Whether there is such an artifact in the scope. Does not count as reading, nor do `stat`, `update` and `list`. */
  exists(id: string, scope?: ArtifactScope): Promise<boolean>;
  /** What is said of an artifact; null when there is none in the scope. */
  stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null>;
  /** Changes what is said of an artifact; null when there is none. */
  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null>;
  /**
   * What one scope holds, in the order of being stored first; what all do when `scope` is left out. `only` leaves others out: of one
   * scope and name without looking at what else there is. A store that does not know `only` gives the others too, so whoever asks
   * looks at each.
   */
  list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact>;
  /** Stores bytes that arrive in pieces. */
  openWriter(info?: ArtifactInfo): Promise<ArtifactWriter>;
  /**
   * A stream of the bytes, or of a range of them as far as there are bytes, or null when there is no such artifact.
   * Counts as reading, and outlives the artifact.
   */
  openReader(
    id: string,
    options?: { readonly scope?: ArtifactScope; readonly range?: ByteRange },
  ): Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Deletes an artifact that `stat` or `list` gave, if its `used_at` is still the same; else false. Retention deletes by
   * this, so that nothing goes which somebody used while it looked.
   */
  evict(seen: StoredArtifact): Promise<boolean>;
  /**
   * Runs work that only one at a time may do, over all processes that share the store; null when another is at it.
   * Left out by stores that nobody shares.
   */
  exclusively?<T>(work: () => Promise<T>): Promise<T | null>;
  /**
   * What is free where the bytes lie, and how much there is in all: for `retention.min_free_disk`. What open writers
   * took counts as used, wherever it is by now. Left out by stores that have no disk; 0 bytes in all say the same.
   */
  space?(): Promise<StoreSpace>;
}

/** The disk under a store. */
export interface StoreSpace {
  /** Bytes that may still be written. */
  readonly free_bytes: number;
  /** Bytes that there are, free or not. */
  readonly total_bytes: number;
}

/** Milliseconds since 1970; `Date.now` where none is given. */
export type Clock = () => number;
