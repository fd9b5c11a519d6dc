/**
 * Writes bytes into a file store and publishes them as an artifact.
 * @module
 */
import { lstat, open, rename, writeFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import { toDamagedError, serialHash, type Hashing, type ParallelHash } from "../hash.js";
import { idsFor, applyPatch, toRef, compareClaim, type Claim } from "../reference.js";
import { scopeKey } from "../scope.js";
import { IdTaken, type Carried } from "../record-store.js";
import type { ArtifactPatch, ArtifactRef } from "../store.js";
import type { ByteSink, Unwritten } from "../writer.js";
import { adopt, BLOB, share, type Folder, type Temporary } from "./folder.js";
import { FILE_MODE, isAbsent, isTaken, NEW_FILE, orNull } from "./plain-file.js";
import { dropName, noteName, renameRef } from "./names.js";
import { noteStored, readRef, writeRecordText, type Recorded } from "./refs.js";

/** Up to this size an artifact stays in memory until it is complete, so that discarding it costs no file. */
const SMALL = 64 * 1024;
/** Bytes of one write to the disk. */
const BUFFER = 1024 * 1024;
/** Buffers of a writer: one is filled, one is written, one is hashed, and with another none of them waits. */
const BUFFERS = 4;

const NONE = new Uint8Array(0);

/** What the writers of a store share. */
export interface SpoolDeps {
  readonly hashing: Hashing;
  readonly now: () => number;
  readonly unwritten: Unwritten;
  /** Buffers for the next writer, as many as one needs: memory that is new each time costs more than what is written to it. */
  readonly spare: Uint8Array[];
}

/**
 * Hashes and writes in constant memory. The producer, the disk and the thread that hashes work side by side:
 *
 * ```
 * write() ─copy─▶ [ filling ] ─when full─▶ [ written ] ─one at a time─▶ [ hashed ] ─▶ filled again
 *                                               └─▶ tmp/…/blob
 * ```
 */
export class Spool implements ByteSink {
  readonly #folder: Folder;
  readonly #claim: Claim;
  readonly #carried: Carried | undefined;
  readonly #hashing: Hashing;
  readonly #now: () => number;
  readonly #unwritten: Unwritten;
  readonly #spare: Uint8Array[];
  #filling: Uint8Array = NONE;
  #filled = 0;
  /** The buffers on their way, oldest first. Each resolves to its memory when that is free again. None rejects, see `#failure`. */
  readonly #pending: Promise<Uint8Array>[] = [];
  /** Settles when the newest of them is written. */
  #written: Promise<void> = Promise.resolve();
  #failure: SluiceError | undefined;
  #size = 0;
  /** The part of them that is on the disk. */
  #onDisk = 0;
  #temporary: Temporary | undefined;
  #file: FileHandle | undefined;
  /** Begun with the first buffer. */
  #hash: ParallelHash | undefined;

  /** `carried` is the record of a copy, which is published as it is: under its id, with its times. */
  constructor(folder: Folder, claim: Claim, { hashing, now, unwritten, spare }: SpoolDeps, carried?: Carried) {
    this.#folder = folder;
    this.#claim = claim;
    this.#carried = carried;
    this.#hashing = hashing;
    this.#now = now;
    this.#unwritten = unwritten;
    this.#spare = spare;
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#size += chunk.byteLength;
    this.#unwritten.bytes += chunk.byteLength;
    if (this.#filled + chunk.byteLength > this.#filling.byteLength && !this.#grow(chunk.byteLength)) {
      return this.#overflow(chunk);
    }
    this.#filling.set(chunk, this.#filled);
    this.#filled += chunk.byteLength;
    return undefined;
  }

  async commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    const claim = applyPatch(this.#claim, patch);
    const content = { sha256: await this.#finish(), size: this.#size, stored: this.#now() };
    const there = this.#carried === undefined && (await standing(this.#folder, claim, content));
    if (there) {
      await this.discard();
      return there;
    }
    const isWritten = this.#temporary !== undefined;
    const temporary = (this.#temporary ??= await this.#folder.temporary());
    const offer = (): Promise<void> => this.#offer(temporary, content.sha256, isWritten);
    const ref =
      this.#carried === undefined
        ? await publish(this.#folder, temporary, claim, content, offer)
        : await publishCarried(this.#folder, temporary, this.#carried, content, offer);
    await temporary.release();
    this.#temporary = undefined;
    await this.#free();
    return ref;
  }

  async discard(): Promise<void> {
    await this.#free();
    this.#hash?.discard();
    this.#hash = undefined;
    await this.#file?.close().catch(() => undefined);
    this.#file = undefined;
    if (this.#temporary) await this.#folder.discard(this.#temporary);
    this.#temporary = undefined;
  }

  async #free(): Promise<void> {
    const buffers = [...(await Promise.all(this.#pending.splice(0))), this.#filling];
    this.#land(this.#size - this.#onDisk);
    this.#filling = NONE;
    for (const each of buffers) if (each.byteLength === BUFFER && this.#spare.length < BUFFERS) this.#spare.push(each);
  }

  #buffer(): Uint8Array {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER);
  }

  /** Grows the memory for a chunk while the artifact is small. */
  #grow(more: number): boolean {
    if (this.#file || this.#filled + more > SMALL) return false;
    const wanted = Math.min(SMALL, Math.max(2 * this.#filling.byteLength, this.#filled + more, 4096));
    const larger = new Uint8Array(wanted);
    larger.set(this.#filling.subarray(0, this.#filled));
    this.#filling = larger;
    return true;
  }

  async #overflow(chunk: Uint8Array): Promise<void> {
    await this.#open();
    for (let at = 0; at < chunk.byteLength;) {
      if (this.#filled === BUFFER) await this.#swap();
      const taken = Math.min(chunk.byteLength - at, BUFFER - this.#filled);
      this.#filling.set(chunk.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
    }
  }

  async #open(): Promise<void> {
    if (this.#file) return;
    this.#temporary = await this.#folder.temporary();
    this.#file = await open(this.#temporary.blob, "wx", FILE_MODE);
    const buffer = this.#buffer();
    buffer.set(this.#filling.subarray(0, this.#filled));
    this.#filling = buffer;
  }

  /** Hands the full buffer on, and takes another one. */
  async #swap(): Promise<void> {
    this.#hash ??= (await this.#hashing.parallel?.()) ?? (await serialHash(this.#hashing));
    this.#send(this.#hash);
    this.#filling = (this.#pending.length < BUFFERS ? undefined : await this.#pending.shift()) ?? this.#buffer();
    if (this.#failure) throw this.#failure;
  }

  #send(hash: ParallelHash): void {
    const full = this.#filling.subarray(0, this.#filled);
    this.#filling = NONE;
    this.#filled = 0;
    this.#written = this.#written.then(() => this.#attempt(() => this.#put(full)));
    const hashed = this.#written.then(() => this.#attempt(() => hash.update(full)));
    // Memory that went to another thread is lost if that fails.
    this.#pending.push(
      hashed.then((piece) => (piece === undefined ? new Uint8Array(BUFFER) : new Uint8Array(piece.buffer))),
    );
  }

  /** Does a part of the work, unless one before it failed. */
  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#failure) return undefined;
    try {
      return await work();
    } catch (error) {
      this.#failure ??= storageError(error, "write");
      return undefined;
    }
  }

  async #put(bytes: Uint8Array): Promise<void> {
    // One write may take only a part.
    for (let at = 0; at < bytes.byteLength;) {
      const took = await this.#file?.write(bytes, at, bytes.byteLength - at);
      const landed = took?.bytesWritten ?? bytes.byteLength;
      this.#land(landed);
      at += landed;
    }
  }

  /** Stops counting bytes: they are on the disk by now, or discarded. */
  #land(bytes: number): void {
    this.#onDisk += bytes;
    this.#unwritten.bytes -= bytes;
  }

  /** Writes the rest, and gives the hash of the whole. */
  async #finish(): Promise<string> {
    if (!this.#file) return this.#hashing.whole(this.#filling.subarray(0, this.#filled));
    // What fits in one buffer is hashed sooner than another thread is asked.
    const hash = (this.#hash ??= await serialHash(this.#hashing));
    this.#send(hash);
    await Promise.all(this.#pending);
    if (this.#failure) throw this.#failure;
    await this.#file.close();
    this.#file = undefined;
    this.#hash = undefined;
    return hash.digest();
  }

  /** Puts the content into the temporary and shares it with all refs. */
  async #offer(temporary: Temporary, sha256: string, isWritten: boolean): Promise<void> {
    if (!isWritten) {
      if (await adopt(this.#folder, temporary, sha256, this.#size)) return;
      await writeFile(temporary.blob, this.#filling.subarray(0, this.#filled), NEW_FILE);
    }
    await share(this.#folder, temporary, sha256, this.#size);
  }
}

/** A content that becomes an artifact. */
interface Content {
  readonly sha256: string;
  readonly size: number;
  /** When it was stored, see `Stamps`. */
  readonly stored: number;
}

// Each attempt fails only because another process changed the same ref in between.
const ATTEMPTS = 64;

/**
 * Gives a content the shortest free id in its scope, or the id that it has there already. One rename publishes it. The rename fails
 * if something has the id, so no two processes get the same one.
 *
 * `offer` shares the content after its record is in the temporary: if this process dies, others find the content by it.
 */
async function publish(
  folder: Folder,
  temporary: Temporary,
  claim: Claim,
  content: Content,
  offer: () => Promise<void>,
): Promise<ArtifactRef> {
  let offered: Promise<void> | undefined;
  for (const id of idsFor(claim.namespace, content.sha256)) {
    const ref = toRef(claim, id, content.sha256, content.size);
    const recorded = { created: content.stored, ref };
    await writeFile(temporary.ref, writeRecordText(recorded), { mode: FILE_MODE });
    await (offered ??= offer());
    await noteName(folder, scopeKey(claim.scope), recorded);
    await noteStored(temporary.folder, content.stored);
    await folder.sync(temporary.blob, temporary.ref, temporary.folder);
    const stored = await settle(folder, temporary, claim, ref, content.stored);
    if (stored !== ref) await dropName(folder, scopeKey(claim.scope), recorded);
    if (stored) return stored;
  }
  throw new SluiceError(
    "E_STORE_CORRUPT",
    "Every id of this content is already used by other content: use a stronger hash.",
  );
}

/**
 * Publishes the record of a copy as it is.
 *
 * @throws SluiceError E_STORE_CORRUPT if the bytes are not those of the record; IdTaken if something has the id.
 */
async function publishCarried(
  folder: Folder,
  temporary: Temporary,
  carried: Carried,
  { sha256, size }: Content,
  offer: () => Promise<void>,
): Promise<ArtifactRef> {
  const { ref, created, stored, used, origin } = carried;
  if (sha256 !== ref.sha256 || size !== ref.size_bytes) throw toDamagedError();
  const key = scopeKey(ref.scope);
  const recorded = { created, ref, origin };
  await writeFile(temporary.ref, writeRecordText(recorded), { mode: FILE_MODE });
  await offer();
  await noteName(folder, key, recorded);
  await noteStored(temporary.folder, stored, used);
  await folder.sync(temporary.blob, temporary.ref, temporary.folder);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await placeTemporary(folder, temporary, key, ref.id)) return ref;
    const there = await readRef(folder, key, ref.id).catch(unlessCorrupt);
    if (there === null) continue;
    // Another copy may have brought the same, which needs its name.
    const isSame = there?.created === created && there.ref.filename === ref.filename;
    if (!isSame) await dropName(folder, key, recorded);
    break;
  }
  throw new IdTaken();
}

/**
 * The ref that a content has in its scope already, updated by the claim. Null if there is none. Saves the work of {@link publish},
 * which gives the same ref.
 */
async function standing(folder: Folder, claim: Claim, { sha256, stored }: Content): Promise<ArtifactRef | null> {
  if (!(await folder.present())) return null;
  const key = scopeKey(claim.scope);
  for (const id of idsFor(claim.namespace, sha256)) {
    const there = await readOrClear(folder, key, id, sha256);
    if (!there) return null;
    if (there.ref.sha256 === sha256) return restate(folder, key, there, claim, stored);
  }
  return null;
}

/**
 * The ref at an id. Removes an unreadable ref, and a ref of this content with missing bytes: the caller has the content and stores
 * it again.
 */
async function readOrClear(folder: Folder, key: string, id: string, sha256: string): Promise<Recorded | null> {
  const refFolder = folder.at.refFolder(key, id);
  let seen: Recorded | null = null;
  for (;;) {
    const there = await readRef(folder, key, id).catch(unlessCorrupt);
    if (there === null || (there !== undefined && there.ref.sha256 !== sha256)) return there;
    const blob = there && (await orNull(lstat(join(refFolder, BLOB))));
    if (there && blob?.isFile() === true && blob.size === there.ref.size_bytes) return there;
    // It may have been deleted and stored again in between, so only the second failure counts.
    if (!there || seen?.created === there.created) break;
    seen = there;
  }
  await folder.remove(refFolder);
  return null;
}

/** Undefined for a ref that cannot be read. */
function unlessCorrupt(error: unknown): undefined {
  if (!(error instanceof SluiceError) || error.code !== "E_STORE_CORRUPT") throw error;
}

/**
 * Updates a ref by a claim. Null if the ref was deleted meanwhile. The time is written first, so that no collector evicts the ref
 * from then on.
 */
async function restate(
  folder: Folder,
  key: string,
  { ref, origin }: Recorded,
  claim: Claim,
  stored: number,
): Promise<ArtifactRef | null> {
  if (!(await noteStored(folder.at.refFolder(key, ref.id), stored))) return null;
  // What was stored here again is no longer what a copy brought.
  const patch = compareClaim(ref, claim) ?? (origin === undefined ? null : {});
  return patch ? renameRef(folder, key, ref.id, patch) : ref;
}

/** The ref at the id in the end. Null if another content has the id. */
async function settle(
  folder: Folder,
  temporary: Temporary,
  claim: Claim,
  ref: ArtifactRef,
  stamp: number,
): Promise<ArtifactRef | null> {
  const key = scopeKey(claim.scope);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await placeTemporary(folder, temporary, key, ref.id)) return ref;
    const there = await readOrClear(folder, key, ref.id, ref.sha256);
    if (!there) continue;
    if (there.ref.sha256 !== ref.sha256) return null;
    const stored = await restate(folder, key, there, claim, stamp);
    if (!stored) continue;
    await folder.remove(temporary.folder);
    return stored;
  }
  throw new SluiceError("E_STORE_WRITE", "The artifact is being stored and deleted at the same time: try again.");
}

async function placeTemporary(folder: Folder, temporary: Temporary, key: string, id: string): Promise<boolean> {
  const scopeFolder = folder.at.scopeFolder(key);
  try {
    if (!(await folder.check(scopeFolder))) await folder.make(scopeFolder);
    await rename(temporary.folder, folder.at.refFolder(key, id));
    await folder.sync(scopeFolder);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    if (!isAbsent(error)) throw error;
    // The last delete in a scope removes its folder. This also fails if the temporary is gone.
    await folder.make(scopeFolder);
    return false;
  }
}
