/**
 * A store in a folder, for Node.
 * @module
 */
import { statfs, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { guardStorage, storageError, systemCode } from "../../errors/storage.js";
import { streamFrom, type ByteReader } from "../byte-reader.js";
import { toSpan, type Span, checkBytes, encodeText } from "../bytes.js";
import { checkOptionNames, checkObject } from "../../errors/arguments.js";
import { sha256 } from "../hash-node.js";
import { type Hashing, toDamagedError, verifyStream } from "../hash.js";
import { toClaim, infoOfText, checkFilter, isWanted, Stamps } from "../reference.js";
import { scopeKey } from "../scope.js";
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
  StoreSpace,
} from "../store.js";
import { SinkWriter, writeWhole, type Unwritten } from "../writer.js";
import { checkFolder, type CheckOptions, type CheckReport } from "./check.js";
import { BLOB, Folder, withdraw } from "./folder.js";
import { refsNamed, renameRef, withoutName } from "./names.js";
import { folderPath, isAbsent, openPlain, orNull } from "./plain-file.js";
import { evictRef, listRefs, noteUsed, readRef, removeRef, statRef, type Recorded } from "./refs.js";
import { Spool, type SpoolDeps } from "./spool.js";
import { exclusively, purge, sweep, sweepTemporaries, type SweepReport } from "./sweep.js";
import { SWEEP_AFTER } from "./temporaries.js";

/** Options of a {@link FileArtifactStore}. */
export interface FileStoreOptions {
  /**
   * Whether a put or close waits until bytes and refs are on the disk. Defaults to false: a ref has all its bytes even if the process
   * is killed. If the machine loses power, the last artifacts may be missing or damaged, and `get` reports that. With true, storing is
   * as slow as the disk.
   */
  readonly durable?: boolean;
  /** The hash that names contents. Defaults to SHA-256. All users of a folder must use the same. */
  readonly hashing?: Hashing;
  /**
   * Milliseconds after which an unfinished write counts as left behind if its process cannot be asked: it ran on another machine or
   * before a restart, or the folder takes no sockets. Must be longer than any write takes. Defaults to a day.
   */
  readonly sweepAfter?: number;
  /** The clock that dates artifacts. */
  readonly clock?: Clock;
}

/** Milliseconds between two searches for files of processes that died. */
const TIDY_EVERY = 100;

// In pieces, so that hashing a piece overlaps with writing the one before it.
const PUT_PIECE = 1024 * 1024;

function* splitPieces(data: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < data.byteLength; at += PUT_PIECE) yield data.subarray(at, at + PUT_PIECE);
}

/**
 * Stores artifacts as plain files in a folder. Any number of processes may share the folder, and any of them may be killed at any
 * time. Folders have mode 0700, files 0600. The first put makes the folder; before that, reads find nothing.
 *
 * Every method throws SluiceError: E_STORE_FULL, E_STORE_DENIED, E_STORE_CORRUPT, else E_STORE_READ or E_STORE_WRITE;
 * E_INVALID_ARGUMENT for wrong arguments.
 *
 * @example
 * const store = new FileArtifactStore("./artifacts");
 * await using writer = await store.openWriter({ filename: "report.pdf" });
 * for await (const chunk of source) await writer.write(chunk);
 * const ref = await writer.close();
 */
export class FileArtifactStore implements ArtifactStore {
  readonly #folder: Folder;
  readonly #spooling: SpoolDeps;
  readonly #sweepAfter: number;
  readonly #stamps: Stamps;
  /** The last removal of what died processes left, and when it began on the monotonic clock. */
  #tidied: Promise<unknown> | undefined;
  #tidiedAt = 0;

  /** Throws SluiceError E_INVALID_ARGUMENT if `directory` is not a string. */
  constructor(directory: string, options: FileStoreOptions = {}) {
    checkOptionNames(options, "a FileArtifactStore", ["clock", "durable", "hashing", "sweepAfter"]);
    this.#folder = new Folder(folderPath(directory), options.durable ?? false);
    this.#sweepAfter = options.sweepAfter ?? SWEEP_AFTER;
    this.#stamps = new Stamps(options.clock);
    this.#spooling = {
      hashing: options.hashing ?? sha256,
      now: () => this.#stamps.next(),
      unwritten: { bytes: 0 },
      spare: [],
    };
  }

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    checkBytes(data, "data");
    return writeWhole(await this.openWriter(info), splitPieces(data));
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.putBytes(encodeText(text), infoOfText(info));
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const claim = toClaim(info);
    await this.#tidy();
    return new SinkWriter(new Spool(this.#folder, claim, this.#spooling));
  }

  get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return guardStorage("read", async () => {
      const opened = await this.#open(id, scope);
      return opened && readWhole(this.#folder, opened, this.#spooling.hashing);
    });
  }

  openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    return guardStorage("read", async () => {
      toSpan(checkObject(options, "options").range, 0);
      const opened = await this.#open(id, options.scope);
      return (
        opened && readSpan(this.#folder, opened, toSpan(options.range, opened.ref.size_bytes), this.#spooling.hashing)
      );
    });
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    return (await this.stat(id, scope)) !== null;
  }

  stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return guardStorage("read", async () => {
      const key = scopeKey(scope);
      return (await this.#folder.present()) ? statRef(this.#folder, key, id) : null;
    });
  }

  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return guardStorage("write", async () => {
      const key = scopeKey(scope);
      return (await this.#folder.present()) ? renameRef(this.#folder, key, id, patch) : null;
    });
  }

  delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    return guardStorage("write", async () => {
      const key = scopeKey(scope);
      if (!(await this.#folder.present())) return false;
      return withoutName(this.#folder, key, id, (recorded) => removeRef(this.#folder, key, id, recorded));
    });
  }

  /** See `ArtifactStore.list`. Leaves out refs that cannot be read; `stat` reports what is wrong with one. */
  async *list(scope?: ArtifactScope, only: ArtifactFilter = {}): AsyncIterable<StoredArtifact> {
    const key = scope === undefined ? undefined : scopeKey(scope);
    const { filename } = checkFilter(only);
    yield* await guardStorage("read", async () => {
      if (!(await this.#folder.present())) return [];
      if (key !== undefined && filename !== undefined) return refsNamed(this.#folder, key, filename);
      return (await listRefs(this.#folder, key)).filter((ref) => isWanted(ref, only));
    });
  }

  evict(seen: StoredArtifact): Promise<boolean> {
    return guardStorage("write", async () => {
      const { id, scope } = checkObject(seen, "seen");
      if (!(await this.#folder.present())) return false;
      return withoutName(this.#folder, scopeKey(scope), id, () => evictRef(this.#folder, seen));
    });
  }

  /** See `ArtifactStore.exclusively`. Uses a lock file in the folder. The lock of a process that died does not count. */
  async exclusively<T>(work: () => Promise<T>): Promise<T | null> {
    return exclusively(this.#folder, work);
  }

  /** See `ArtifactStore.space`. The space that the file system gives an unprivileged user. */
  space(): Promise<StoreSpace> {
    return guardStorage("read", () => spaceUnder(this.#folder.at.root, this.#spooling.unwritten));
  }

  /** Whether the folder is a store. The first put makes it one. */
  isThere(): Promise<boolean> {
    return guardStorage("read", () => this.#folder.present());
  }

  /**
   * Removes what crashes left behind: blobs without a ref, and unfinished writes of processes that ended. See `sweepAfter` for
   * processes that cannot be asked.
   */
  gc(): Promise<SweepReport> {
    return guardStorage("write", async () => {
      if (await this.#folder.present()) return sweep(this.#folder, this.#sweepAfter);
      return { blobs: 0, bytes: 0, temporaries: 0 };
    });
  }

  /**
   * Reads everything that is stored and says what is damaged. Other processes may use the store meanwhile.
   *
   * @throws SluiceError E_NOT_FOUND if the folder is not marked as a store.
   */
  check(options: CheckOptions = {}): Promise<CheckReport> {
    const { hashing } = this.#spooling;
    return guardStorage("read", () =>
      checkFolder({ ...options, folder: this.#folder, hashing, sweepAfter: this.#sweepAfter }),
    );
  }

  /**
   * Removes everything, and the folder itself if nothing else is in it.
   *
   * @throws SluiceError E_NOT_FOUND if the folder is not marked as a store.
   */
  purge(): Promise<void> {
    return guardStorage("write", () => purge(this.#folder));
  }

  /** Removes what writers that died left behind, at most ten times a second. */
  #tidy(): Promise<unknown> {
    const now = performance.now();
    if (this.#tidied === undefined || now - this.#tidiedAt >= TIDY_EVERY) {
      this.#tidiedAt = now;
      this.#tidied = sweepTemporaries(this.#folder, this.#sweepAfter).catch(() => undefined);
    }
    return this.#tidied;
  }

  async #open(id: string, scope: ArtifactScope | undefined): Promise<OpenArtifact | null> {
    const key = scopeKey(scope);
    const opened = (await this.#folder.present()) ? await openArtifact(this.#folder, key, id) : null;
    if (opened) await noteUsed(this.#folder.at.refFolder(key, id), this.#stamps.next());
    return opened;
  }
}

/** Bytes that are read at once, and of what turns out to be read at length: fewer calls take a third of the time. */
const PIECE = 256 * 1024;
const LONG_PIECE = 1024 * 1024;
// Buffers of Node 20 end at 4 GiB.
const MAX_WHOLE = 4 * 1024 ** 3;

/** An artifact whose bytes are open. */
export interface OpenArtifact {
  readonly ref: ArtifactRef;
  readonly file: FileHandle;
}

/**
 * Opens an artifact. Null if there is none. The open file stays readable if the artifact is deleted.
 *
 * @throws SluiceError E_STORE_CORRUPT if the content is missing or has another size than its ref says.
 */
export async function openArtifact(folder: Folder, key: string, id: string): Promise<OpenArtifact | null> {
  let seen: Recorded | null = null;
  for (;;) {
    const recorded = await readRef(folder, key, id);
    if (!recorded) return null;
    const { ref } = recorded;
    const opened = await orNull(openPlain(join(folder.at.refFolder(key, id), BLOB)));
    if (opened?.size === ref.size_bytes) return { ref, file: opened.file };
    await opened?.file.close();
    // It may have been deleted and stored again in between, so only the second failure counts.
    if (seen?.created === recorded.created) {
      if (opened) await withdraw(folder, ref.sha256);
      throw toDamagedError();
    }
    seen = recorded;
  }
}

/**
 * Reads an open artifact whole, checks its hash and closes it.
 *
 * @throws SluiceError E_STORE_CORRUPT if the bytes are not those that were stored; E_TOO_LARGE above 4 GiB.
 */
async function readWhole(folder: Folder, { ref, file }: OpenArtifact, hashing: Hashing): Promise<Uint8Array> {
  try {
    if (ref.size_bytes > MAX_WHOLE) {
      throw new SluiceError("E_TOO_LARGE", "The artifact is larger than 4 GiB: read it through openReader.");
    }
    const bytes = new Uint8Array(ref.size_bytes);
    await fill(file, bytes, 0);
    if ((await hashing.whole(bytes)) === ref.sha256) return bytes;
    await withdraw(folder, ref.sha256);
    throw toDamagedError();
  } finally {
    await file.close();
  }
}

/** Streams a span of an open artifact. The hash is checked only if the span is the whole. */
export async function readSpan(
  folder: Folder,
  { ref, file }: OpenArtifact,
  span: Span,
  hashing: Hashing,
): Promise<ReadableStream<Uint8Array>> {
  const stream = streamFrom(new FileSpan(file, span));
  if (span.end - span.start < ref.size_bytes) return stream;
  return verifyStream(stream, ref, hashing, () => withdraw(folder, ref.sha256));
}

/** Reads a span of an open file when it is asked to, and closes the file at the end, on failure or on cancel. */
class FileSpan implements ByteReader {
  readonly #file: FileHandle;
  readonly #end: number;
  readonly #longFrom: number;
  #at: number;
  #buffer: Uint8Array | undefined;
  #isOpen = true;
  #isCancelled = false;

  constructor(file: FileHandle, { start, end }: Span) {
    this.#file = file;
    this.#at = start;
    this.#longFrom = start + LONG_PIECE;
    this.#end = end;
  }

  async next(reuse: boolean): Promise<Uint8Array | null> {
    if (!this.#isOpen) return null;
    try {
      const size = Math.min(reuse && this.#at >= this.#longFrom ? LONG_PIECE : PIECE, this.#end - this.#at);
      if (!reuse || this.#buffer === undefined || this.#buffer.byteLength < size) this.#buffer = new Uint8Array(size);
      const piece = this.#buffer.subarray(0, size);
      await fill(this.#file, piece, this.#at);
      this.#at += size;
      if (this.#at === this.#end) await this.#close();
      return size === 0 || this.#isCancelled ? null : piece;
    } catch (error) {
      // The file was closed under a read that came short.
      if (this.#isCancelled) return null;
      await this.#close().catch(() => undefined);
      throw storageError(error, "read");
    }
  }

  cancel(): Promise<void> {
    this.#isCancelled = true;
    return this.#close();
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }
}

async function fill(file: FileHandle, into: Uint8Array, from: number): Promise<void> {
  for (let at = 0; at < into.byteLength;) {
    const { bytesRead } = await file.read(into, at, into.byteLength - at, from + at);
    if (bytesRead === 0) throw toDamagedError();
    at += bytesRead;
  }
}

/** The space of the disk, less the bytes on their way to it. For a missing folder, that of the nearest folder above it. */
async function spaceUnder(folder: string, unwritten: Unwritten): Promise<StoreSpace> {
  // Read before the disk is asked: bytes that arrive meanwhile may count twice, but always count.
  const coming = unwritten.bytes;
  const { bsize, bavail, blocks } = await nearest(folder);
  return { free_bytes: Math.max(0, bavail * bsize - coming), total_bytes: blocks * bsize };
}

async function nearest(folder: string): Promise<{ bsize: number; bavail: number; blocks: number }> {
  for (let at = folder; ; at = dirname(at)) {
    try {
      return await statfs(at);
    } catch (error) {
      if (isAbsent(error) && dirname(at) !== at) continue;
      // Some user-space and network file systems do not report it.
      if (systemCode(error) === "ENOSYS" || systemCode(error) === "ENOTSUP") return { bsize: 0, bavail: 0, blocks: 0 };
      throw error;
    }
  }
}
