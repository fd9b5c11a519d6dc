/**
 * Where artifacts are read from: a store, already narrowed to one scope.
 * @module
 */
import type { ArtifactScope, ArtifactStore, ByteRange, StoredArtifact } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";

/** What reading back needs of a store. Both may throw E_EXPIRED and E_STORE_…. */
export interface ReadingSource {
  /** What is said of an artifact; null when there is none in the scope. */
  stat(id: string): Promise<StoredArtifact | null>;
  /** A stream of its bytes, or of a range of them; null when there is none. */
  openReader(id: string, range: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
}

/** An artifact that is being read, and how much of it may be. */
export interface Readable {
  readonly ref: StoredArtifact;
  readonly source: ReadingSource;
  /** Most bytes that are read for lines, rows and search. */
  readonly maxScanned: number;
  /** The tool that reads it. */
  readonly tool: string;
  readonly signal: AbortSignal | undefined;
}

/** Finds an artifact. Throws E_NOT_FOUND, E_EXPIRED, E_STORE_…. */
export async function found(source: ReadingSource, id: string): Promise<StoredArtifact> {
  const ref = await source.stat(id);
  if (ref === null) throw missing(id);
  return ref;
}

/** E_NOT_FOUND, in words that help. */
function missing(id: string): SluiceError {
  return new SluiceError(
    "E_NOT_FOUND",
    `There is no artifact ${id} here: check the URI, or call the tool again that gave it.`,
  );
}

/** So many bytes are read without a pause: a source at hand would keep everything else waiting until its end. */
const PAUSE_BYTES = 4 * 1024 * 1024;

/**
 * Hands a range to `take`, piece by piece, until that says false. The source is let go in every case. Pieces belong to
 * the source: what is to be kept of one must be copied.
 */
export async function pour(
  { ref, source, signal }: Readable,
  { start, end }: Required<ByteRange>,
  take: (chunk: Uint8Array) => boolean,
): Promise<void> {
  if (start >= end) return;
  signal?.throwIfAborted();
  const stream = await source.openReader(ref.id, { start, end });
  if (stream === null) throw missing(ref.id);
  const reader = stream.getReader();
  let pauseAt = PAUSE_BYTES;
  try {
    for (let left = end - start; left > 0;) {
      const next = await reader.read();
      signal?.throwIfAborted();
      if (next.done) return;
      const chunk = next.value.subarray(0, left);
      left -= chunk.length;
      if (!take(chunk)) return;
      pauseAt -= chunk.length;
      if (pauseAt > 0) continue;
      pauseAt = PAUSE_BYTES;
      await pause();
      signal?.throwIfAborted();
    }
  } finally {
    // A source that failed, or fails at being let go, has nothing more to say.
    await reader.cancel().catch(() => undefined);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

/** A range as one piece, for ranges that were bounded before. */
export async function readSpan(from: Readable, span: Required<ByteRange>): Promise<Uint8Array> {
  const bytes = new Uint8Array(span.end - span.start);
  let filled = 0;
  await pour(from, span, (chunk) => {
    bytes.set(chunk, filled);
    filled += chunk.length;
    return true;
  });
  return bytes.subarray(0, filled);
}

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
