/**
 * Writes bytes into a file store and publishes them as an artifact.
 * @module
 */
import { lstat, open, rename, writeFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import type { StreamHash } from "../hash.js";
import { idsFor, patched, refOf, restated, type Claim } from "../reference.js";
import { scopeKey } from "../scope.js";
import type { ArtifactPatch, ArtifactRef } from "../store.js";
import type { ByteSink, Unwritten } from "../writer.js";
import { adopt, BLOB, share, type Folder, type Temporary } from "./folder.js";
import { FILE_MODE, isAbsent, isTaken, orNull } from "./safe-open.js";
import { dropName, noteName, renameRef } from "./names.js";
import { noteStored, readRef, written, type Recorded } from "./refs.js";

/** Up to this size an artifact stays in memory until it is complete, so that discarding it costs no file. */
const SMALL = 64 * 1024;
/** Bytes of one write to the disk. */
const BUFFER = 1024 * 1024;

/**
 * Hashes and writes in constant memory. One buffer is filled while the other is written, so hashing and the producer's own work
 * overlap with writing:
 *
 * ```
 * write() ─copy─▶ [ filling ]   swap when full   [ flying ] ─one write at a time─▶ tmp/…/blob
 * ```
 */
export class Spool implements ByteSink {
  readonly #folder: Folder;
  readonly #claim: Claim;
  readonly #hash: StreamHash;
  readonly #now: () => number;
  readonly #unwritten: Unwritten;
  #filling: Uint8Array = new Uint8Array(0);
  #filled = 0;
  #spare: Uint8Array | undefined;
  /** Settles when the buffer that is written is free again. Never rejects, see `#failure`. */
  #flying: Promise<void> | undefined;
  #failure: SluiceError | undefined;
  #size = 0;
  /** The part of them that is on the disk. */
  #onDisk = 0;
  #temporary: Temporary | undefined;
  #file: FileHandle | undefined;

  constructor(folder: Folder, claim: Claim, hash: StreamHash, now: () => number, unwritten: Unwritten) {
    this.#folder = folder;
    this.#claim = claim;
    this.#hash = hash;
    this.#now = now;
    this.#unwritten = unwritten;
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
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
    const claim = patched(this.#claim, patch);
    await this.#finish();
    const content = { sha256: this.#hash.digest(), size: this.#size, stored: this.#now() };
    const there = await standing(this.#folder, claim, content);
    if (there) {
      await this.discard();
      return there;
    }
    const isWritten = this.#temporary !== undefined;
    const temporary = (this.#temporary ??= await this.#folder.temporary());
    const offer = (): Promise<void> => this.#offer(temporary, content.sha256, isWritten);
    const ref = await publish(this.#folder, temporary, claim, content, offer);
    await temporary.release();
    this.#temporary = undefined;
    this.#free();
    return ref;
  }

  async discard(): Promise<void> {
    await this.#flying;
    await this.#file?.close().catch(() => undefined);
    this.#file = undefined;
    this.#free();
    if (this.#temporary) await this.#folder.discard(this.#temporary);
    this.#temporary = undefined;
  }

  #free(): void {
    this.#land(this.#size - this.#onDisk);
    this.#filling = new Uint8Array(0);
    this.#spare = undefined;
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
      const taken = Math.min(chunk.byteLength - at, BUFFER - this.#filled);
      this.#filling.set(chunk.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled === BUFFER) await this.#swap();
    }
  }

  async #open(): Promise<void> {
    if (this.#file) return;
    this.#temporary = await this.#folder.temporary();
    this.#file = await open(this.#temporary.blob, "wx", FILE_MODE);
    const buffer = Buffer.allocUnsafeSlow(BUFFER);
    buffer.set(this.#filling.subarray(0, this.#filled));
    this.#filling = buffer;
  }

  /** Writes the filled buffer once the one before it is written. */
  async #swap(): Promise<void> {
    await this.#landed();
    const full = this.#filling.subarray(0, this.#filled);
    const { buffer, byteLength } = this.#filling;
    this.#filling = this.#spare ?? Buffer.allocUnsafeSlow(BUFFER);
    this.#spare = new Uint8Array(buffer, 0, byteLength);
    this.#filled = 0;
    this.#flying = this.#send(full);
  }

  async #send(bytes: Uint8Array): Promise<void> {
    try {
      // One write may take only a part.
      for (let at = 0; at < bytes.byteLength;) {
        const took = await this.#file?.write(bytes, at, bytes.byteLength - at);
        const landed = took?.bytesWritten ?? bytes.byteLength;
        this.#land(landed);
        at += landed;
      }
    } catch (error) {
      this.#failure = storageError(error, "write");
    }
  }

  /** Stops counting bytes: they are on the disk by now, or discarded. */
  #land(bytes: number): void {
    this.#onDisk += bytes;
    this.#unwritten.bytes -= bytes;
  }

  async #landed(): Promise<void> {
    await this.#flying;
    this.#flying = undefined;
    if (this.#failure) throw this.#failure;
  }

  async #finish(): Promise<void> {
    if (!this.#file) return;
    await this.#swap();
    await this.#landed();
    await this.#file.close();
    this.#file = undefined;
  }

  /** Puts the content into the temporary and shares it with all refs. */
  async #offer(temporary: Temporary, sha256: string, isWritten: boolean): Promise<void> {
    if (!isWritten) {
      if (await adopt(this.#folder, temporary, sha256, this.#size)) return;
      await writeFile(temporary.blob, this.#filling.subarray(0, this.#filled), { flag: "wx", mode: FILE_MODE });
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
    const ref = refOf(claim, id, content.sha256, content.size);
    const recorded = { created: content.stored, ref };
    await writeFile(temporary.ref, written(recorded), { mode: FILE_MODE });
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
 * The ref that a content has in its scope already, updated by the claim. Null if there is none. Saves the work of {@link publish},
 * which gives the same ref.
 */
async function standing(folder: Folder, claim: Claim, { sha256, stored }: Content): Promise<ArtifactRef | null> {
  if (!(await folder.present())) return null;
  const key = scopeKey(claim.scope);
  for (const id of idsFor(claim.namespace, sha256)) {
    const there = await readOrClear(folder, key, id, sha256);
    if (!there) return null;
    if (there.ref.sha256 === sha256) return restate(folder, key, there.ref, claim, stored);
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
  ref: ArtifactRef,
  claim: Claim,
  stored: number,
): Promise<ArtifactRef | null> {
  if (!(await noteStored(folder.at.refFolder(key, ref.id), stored))) return null;
  const patch = restated(ref, claim);
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
    if (await placed(folder, temporary, key, ref.id)) return ref;
    const there = await readOrClear(folder, key, ref.id, ref.sha256);
    if (!there) continue;
    if (there.ref.sha256 !== ref.sha256) return null;
    const stored = await restate(folder, key, there.ref, claim, stamp);
    if (!stored) continue;
    await folder.remove(temporary.folder);
    return stored;
  }
  throw new SluiceError("E_STORE_WRITE", "The artifact is being stored and deleted at the same time: try again.");
}

async function placed(folder: Folder, temporary: Temporary, key: string, id: string): Promise<boolean> {
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
