/**
 * Where artifacts are read from: a store, restricted to one scope.
 * @module
 */
import type {
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  StoredArtifact,
} from "../../artifacts/store.js";
import type { Sluice } from "../../core/types.js";
import type { DocumentFacts, SheetFacts } from "../../documents/document.js";
import { getByteReader } from "../../artifacts/byte-reader.js";
import { SluiceError } from "../../errors/error.js";
import type { RecordIndexes } from "./record-index.js";

/** Most bytes of one part of an artifact that is read as a resource. */
export const MAX_RESOURCE_PART: number = 4 * 1024 * 1024;

/** The part of a store that reading needs. All methods may throw E_STORE_…, and those that read E_EXPIRED. */
export interface ReadSource {
  /** Metadata of an artifact. Null if there is none in the scope. */
  stat(id: string): Promise<StoredArtifact | null>;
  /** A stream of a byte range. Null if there is no such artifact. */
  openReader(id: string, range: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
  /**
   * A writer of an artifact that is made from another one. It has that one's owner and namespace, and names it in its source. Where it
   * is left out, documents and archives cannot be read.
   */
  openWriter?(origin: ArtifactRef, info: ArtifactPatch): Promise<ArtifactWriter>;
  /** What was made of an artifact before, by its file name and its `form`. Null if there is none. */
  findDerived?(origin: ArtifactRef, filename: string, form: string): Promise<StoredArtifact | null>;
  /** Changes the record of an artifact. Where it is left out, what is made of equal bytes is made again each time. */
  update?(id: string, patch: ArtifactPatch): Promise<unknown>;
}

/** An artifact that is being read, with its limits. */
export interface Readable {
  readonly ref: StoredArtifact;
  /** The artifact that it was made of, if it is what that one is read as. */
  readonly origin?: StoredArtifact;
  /** Finds the types of files. */
  readonly sluice?: Pick<Sluice, "look" | "documents" | "tables"> | undefined;
  readonly source: ReadSource;
  /** Where the records of artifacts are that were read before. */
  readonly indexes?: RecordIndexes | undefined;
  /** Most bytes read for lines, rows and search. */
  readonly maxScanned: number;
  /** Whether the client shows images to its model. */
  readonly showsImages?: boolean | undefined;
  /** Name of the tool that reads it. */
  readonly tool: string;
  /** See `ArtifactReaderOptions`. */
  readonly onStored?: ((ref: ArtifactRef) => void) | undefined;
  /** Opens another artifact of the same scope, with the same limits. Throws E_NOT_FOUND, E_EXPIRED, E_STORE_…. */
  readonly open?: ((id: string) => Promise<Readable>) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Loads a part of this package when it is first needed. Throws E_DOCUMENT where nothing can be loaded then: in service workers. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    throw new SluiceError(
      "E_DOCUMENT",
      "The part of Sluice that does this could not be loaded, as in a service worker: read with lines, rows, bytes, pointer or search.",
      {},
      { cause },
    );
  }
}

/** The facts of the document that a text was made of. */
export function readFacts({ ref, origin }: Readable): DocumentFacts | undefined {
  if (origin === undefined) return undefined;
  return ref.source["document"] as DocumentFacts | undefined;
}

/** The sheet that the cells or values of a text are of. */
export function findSheet(from: Readable): SheetFacts | undefined {
  return readFacts(from)?.sheet;
}

/** How an answer names what was read. A file of an archive is named too, because it can be passed on. */
export function nameSubject({ ref, origin }: Readable): string {
  if (origin === undefined) return toUri(ref);
  const isFile = String(ref.source["form"]).startsWith("entry:");
  return isFile ? `${toUri(origin)} (read as ${toUri(ref)})` : toUri(origin);
}

/** How an answer names a range of bytes to read, `end` not included. */
export function nameBytes({ ref, origin }: Readable, start: number, end: number): string {
  return `bytes "${start}-${end - 1}"${origin === undefined ? "" : ` of ${toUri(ref)}`}`;
}

function toUri({ id }: StoredArtifact): string {
  return `artifact://${id}`;
}

/** Finds an artifact. Throws E_NOT_FOUND, E_EXPIRED, E_STORE_…. */
export async function findArtifact(source: ReadSource, id: string): Promise<StoredArtifact> {
  const ref = await source.stat(id);
  if (ref === null) throw notFound(id);
  return ref;
}

/** E_NOT_FOUND, with a remedy. */
function notFound(id: string): SluiceError {
  return new SluiceError(
    "E_NOT_FOUND",
    `There is no artifact ${id} here: check the URI, or call the tool that made it.`,
  );
}

/** Bytes read without a pause. A fast source would otherwise block the event loop to its end. */
const PAUSE_BYTES = 4 * 1024 * 1024;

/**
 * Passes a range to `take`, chunk by chunk, until that returns false. A promise is waited for before the next chunk. Always
 * releases the source. Chunks belong to the source, so `take` must copy what it keeps.
 */
export async function pour(
  { ref, source, signal }: Readable,
  { start, end }: Required<ByteRange>,
  take: (chunk: Uint8Array) => boolean | Promise<boolean>,
): Promise<void> {
  if (start >= end) return;
  signal?.throwIfAborted();
  const stream = await source.openReader(ref.id, { start, end });
  if (stream === null) throw notFound(ref.id);
  const reader = getByteReader(stream);
  let pauseAt = PAUSE_BYTES;
  try {
    for (let left = end - start; left > 0;) {
      const next = await reader.next(true);
      signal?.throwIfAborted();
      if (next === null) return;
      const chunk = next.subarray(0, left);
      left -= chunk.length;
      const goesOn = take(chunk);
      if (!(typeof goesOn === "boolean" ? goesOn : await goesOn)) return;
      pauseAt -= chunk.length;
      if (pauseAt > 0) continue;
      pauseAt = PAUSE_BYTES;
      await pause();
      signal?.throwIfAborted();
    }
  } finally {
    // Errors while closing are irrelevant by now.
    await reader.cancel().catch(() => undefined);
  }
}

/** Lets everything else run. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

/** Reads a bounded range into one array. */
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

/** A store restricted to one scope and to namespaces; undefined stands for all. It finds no other artifacts. */
export class ArtifactSource implements ReadSource {
  readonly #store: ArtifactStore;
  readonly #scope: ArtifactScope;
  readonly #namespaces: readonly (string | undefined)[];

  constructor(store: ArtifactStore, scope: ArtifactScope, ...namespaces: readonly (string | undefined)[]) {
    this.#store = store;
    this.#scope = scope;
    this.#namespaces = namespaces;
  }

  async stat(id: string): Promise<StoredArtifact | null> {
    const ref = await this.#store.stat(id, this.#scope);
    const isFound = ref !== null && this.#namespaces.some((name) => name === undefined || name === ref.namespace);
    return isFound ? ref : null;
  }

  async openReader(id: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | null> {
    if ((await this.stat(id)) === null) return null;
    return this.#store.openReader(id, { scope: this.#scope, ...(range !== undefined && { range }) });
  }

  openWriter(origin: ArtifactRef, { source, ...info }: ArtifactPatch): Promise<ArtifactWriter> {
    const { id, namespace } = origin;
    return this.#store.openWriter({ ...info, namespace, scope: this.#scope, source: { ...source, derived_from: id } });
  }

  async findDerived(origin: ArtifactRef, filename: string, form: string): Promise<StoredArtifact | null> {
    for await (const ref of this.#store.list(this.#scope, { filename })) {
      const { source, namespace } = ref;
      if (ref.filename !== filename || namespace !== origin.namespace) continue;
      if (source["derived_from"] === origin.id && source["form"] === form) return ref;
    }
    return null;
  }

  async update(id: string, patch: ArtifactPatch): Promise<ArtifactRef | null> {
    return (await this.stat(id)) === null ? null : this.#store.update(id, patch, this.#scope);
  }
}
