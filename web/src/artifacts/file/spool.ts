/**
 * Bytes on their way into a file store.
 * @module
 */
import { open, writeFile, type FileHandle } from "node:fs/promises";
import type { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import type { StreamHash } from "../hash.js";
import { patched, type Claim } from "../record.js";
import type { ArtifactPatch, ArtifactRef } from "../store.js";
import type { Sink } from "../writer.js";
import type { Folder, Temporary } from "./folder.js";
import { FILE_MODE } from "./layout.js";
import { publish, standing } from "./publish.js";
import { adopt, share } from "./share.js";
import type { Unwritten } from "./space.js";

/** Up to here an artifact stays in memory until it is complete, and costs no file that is thrown away. */
const SMALL = 64 * 1024;
/** What is handed to the operating system at once. */
const BUFFER = 1024 * 1024;

/**
 * Hashes and writes in constant memory. While one buffer is on its way to the disk, the other is filled,
 * so hashing and the producer's own work overlap with writing:
 *
 * ```
 * write() ─copy─▶ [ filling ]   swap when full   [ flying ] ─one write at a time─▶ tmp/…/blob
 * ```
 */
export class Spool implements Sink {
  readonly #folder: Folder;
  readonly #claim: Claim;
  readonly #hash: StreamHash;
  readonly #now: () => number;
  readonly #unwritten: Unwritten;
  #filling: Uint8Array = new Uint8Array(0);
  #filled = 0;
  #spare: Uint8Array | undefined;
  /** Settles when the flying buffer is free again; never rejects, see `#failure`. */
  #flying: Promise<void> | undefined;
  #failure: SluiceError | undefined;
  #size = 0;
  /** Of these, bytes that are on the disk. */
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
    const temporary = await this.#placed(content.sha256);
    const ref = await publish(this.#folder, temporary, claim, content);
    this.#temporary = undefined;
    this.#free();
    return ref;
  }

  async discard(): Promise<void> {
    await this.#flying;
    await this.#file?.close().catch(() => undefined);
    this.#file = undefined;
    this.#free();
    if (this.#temporary) await this.#folder.discard(this.#temporary.folder);
    this.#temporary = undefined;
  }

  #free(): void {
    this.#land(this.#size - this.#onDisk);
    this.#filling = new Uint8Array(0);
    this.#spare = undefined;
  }

  /** Makes room in memory for a chunk while the whole is small. */
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

  /** Sends the filled buffer off, after the one before it. */
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
      // One write may take less than it was given.
      for (let at = 0; at < bytes.byteLength;) {
        const written = await this.#file?.write(bytes, at, bytes.byteLength - at);
        const landed = written?.bytesWritten ?? bytes.byteLength;
        this.#land(landed);
        at += landed;
      }
    } catch (error) {
      this.#failure = storageError(error, "write");
    }
  }

  /** Notes bytes that need not be counted any more: the disk does, or nobody will. */
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

  /** The temporary with the content in it, and the content offered to all refs. */
  async #placed(sha256: string): Promise<Temporary> {
    const spooled = this.#temporary;
    const temporary = (this.#temporary ??= await this.#folder.temporary());
    if (!spooled) {
      if (await adopt(this.#folder, temporary, sha256, this.#size)) return temporary;
      await writeFile(temporary.blob, this.#filling.subarray(0, this.#filled), { flag: "wx", mode: FILE_MODE });
    }
    await share(this.#folder, temporary, sha256, this.#size);
    return temporary;
  }
}
