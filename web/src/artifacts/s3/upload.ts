/**
 * Bytes on their way in.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { StreamHash } from "../hash.js";
import { patched, type Claim } from "../record.js";
import type { Stamps } from "../stamps.js";
import type { ArtifactPatch, ArtifactRef } from "../store.js";
import type { Sink } from "../writer.js";
import type { Bucket } from "./bucket.js";
import { guarded } from "./failures.js";
import { blobKey, newName } from "./layout.js";
import { Parts } from "./parts.js";
import { publish } from "./publish.js";

/** What an upload needs. */
export interface Uploading {
  readonly bucket: Bucket;
  readonly stamps: Stamps;
}

const SMALLEST = 4096;

/**
 * Hashes and sends in constant memory: one part is filled while the one before it is on its way. What fits into one part
 * is sent when it is published, and not at all where the same is there already.
 */
export class Upload implements Sink {
  readonly #store: Uploading;
  readonly #claim: Claim;
  readonly #folder: string;
  readonly #hash: StreamHash;
  readonly #name = newName();
  readonly #most: number;
  #filling: Uint8Array = new Uint8Array(0);
  #filled = 0;
  #size = 0;
  #parts: Parts | undefined;
  /** Whether there may be a blob, and whether a ref may name it. */
  #isPlaced = false;
  #isNamed = false;

  constructor(store: Uploading, claim: Claim, folder: string, hash: StreamHash) {
    this.#store = store;
    this.#claim = claim;
    this.#folder = folder;
    this.#hash = hash;
    this.#most = store.bucket.connection.limits.part;
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
    this.#size += chunk.byteLength;
    if (this.#filled + chunk.byteLength > this.#most) return this.#overflow(chunk);
    this.#take(chunk);
    return undefined;
  }

  commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    return guarded("write", () => this.#publish(patch));
  }

  async discard(): Promise<void> {
    this.#filling = new Uint8Array(0);
    await this.#parts?.abort();
    // Where nobody knows whether a ref was written that names it, a blob is left to `gc`.
    if (!this.#isNamed) await this.#withdraw();
  }

  get #key(): string {
    return blobKey(this.#folder, this.#name);
  }

  async #publish(patch: ArtifactPatch): Promise<ArtifactRef> {
    const claim = patched(this.#claim, patch);
    const { bucket, stamps } = this.#store;
    if (this.#parts) await this.#complete(this.#parts);
    const content = {
      sha256: this.#hash.digest(),
      size: this.#size,
      place: () => this.#place(),
      named: (may: boolean) => void (this.#isNamed = may),
    };
    const { ref, loose } = await publish(bucket, claim, this.#folder, content, stamps);
    this.#filling = new Uint8Array(0);
    // What cannot be cleared away now is by `gc`.
    if (loose !== null) await bucket.remove(blobKey(this.#folder, loose)).catch(() => undefined);
    if (!this.#isNamed) await this.#withdraw();
    return ref;
  }

  async #withdraw(): Promise<void> {
    if (!this.#isPlaced) return;
    this.#isPlaced = false;
    await this.#store.bucket.remove(this.#key).catch(() => undefined);
  }

  async #place(): Promise<string> {
    if (!this.#isPlaced) {
      this.#isPlaced = true;
      await this.#store.bucket.write(this.#key, this.#filling.subarray(0, this.#filled));
    }
    return this.#name;
  }

  async #complete(parts: Parts): Promise<void> {
    await parts.send(this.#filling.subarray(0, this.#filled));
    this.#isPlaced = true;
    await parts.complete(this.#size);
  }

  async #overflow(chunk: Uint8Array): Promise<void> {
    this.#parts ??= await Parts.begin(this.#store.bucket, this.#key);
    for (let at = 0; at < chunk.byteLength;) {
      // Only when more is to come, so that the last part has something in it.
      if (this.#filled === this.#most) await this.#send(this.#parts);
      const piece = chunk.subarray(at, at + this.#most - this.#filled);
      this.#take(piece);
      at += piece.byteLength;
    }
  }

  async #send(parts: Parts): Promise<void> {
    if (parts.isFull) throw tooLarge(this.#most);
    // What was sent before has arrived by then, and its room is free.
    const free = await parts.send(this.#filling);
    this.#filling = free ?? new Uint8Array(this.#most);
    this.#filled = 0;
  }

  /** Copies bytes for which there is room in the part that is being filled. */
  #take(bytes: Uint8Array): void {
    const wanted = this.#filled + bytes.byteLength;
    if (wanted > this.#filling.byteLength) {
      const larger = new Uint8Array(Math.min(this.#most, Math.max(SMALLEST, 2 * this.#filling.byteLength, wanted)));
      larger.set(this.#filling.subarray(0, this.#filled));
      this.#filling = larger;
    }
    this.#filling.set(bytes, this.#filled);
    this.#filled = wanted;
  }
}

function tooLarge(part: number): SluiceError {
  const sentence = `The artifact has more than the 10,000 parts of ${part} bytes that S3 takes: raise partBytes.`;
  return new SluiceError("E_TOO_LARGE", sentence, { path: "partBytes" });
}
