/**
 * Writes bytes into a bucket and publishes them as an artifact.
 *
 * A blob gets a unique name, is written before the ref that names it and deleted after it. So a ref never names a missing blob, even
 * if several processes store and delete the same content at once.
 * @module
 */
import type { CompletedPart } from "@aws-sdk/client-s3";
import { SluiceError } from "../../errors/error.js";
import { toDamagedError, type Hashing, type StreamHash } from "../hash.js";
import { idsFor, applyPatch, toRef, compareClaim, type Claim, type Stamps } from "../reference.js";
import { IdTaken, type Carried } from "../record-store.js";
import type { ArtifactPatch, ArtifactRef } from "../store.js";
import { PieceBuffer, type ByteSink } from "../writer.js";
import type { Bucket } from "./bucket.js";
import { guardBucket, isMissing, s3Error } from "./connection.js";
import { blobKey, newName, refKey } from "./layout.js";
import { addName, dropName } from "./names.js";
import { again, AGAIN, lookUp, rewrite, nextStampAfter, write, type Found } from "./refs.js";

/** The parts of a store in a bucket. */
export interface StoreDeps {
  readonly bucket: Bucket;
  readonly stamps: Stamps;
  readonly hashing: Hashing;
}

/** The ref that was published, and a blob that no ref names any more. */
interface Published {
  readonly ref: ArtifactRef;
  readonly loose: string | null;
}

/** The id belongs to another content, or its delete was not finished. */
const TAKEN: unique symbol = Symbol("taken");
/** How often a put waits for a delete of the same content. */
const PATIENCE = 14;

/**
 * Hashes and sends in constant memory: one part is filled while the one before it is sent. Content that fits into one part is sent
 * when it is published, and not at all if it is stored already.
 */
export class Upload implements ByteSink {
  readonly #store: StoreDeps;
  readonly #claim: Claim;
  readonly #carried: Carried | undefined;
  readonly #folder: string;
  readonly #hash: StreamHash;
  readonly #name = newName();
  readonly #buffer: PieceBuffer;
  #size = 0;
  #parts: Parts | undefined;
  /** Whether the blob may exist, and whether a ref may name it. */
  #isPlaced = false;
  #isNamed = false;

  /** `carried` is the record of a copy, which is published as it is: under its id, with its times. */
  constructor(store: StoreDeps, claim: Claim, folder: string, hash: StreamHash, carried?: Carried) {
    this.#store = store;
    this.#claim = claim;
    this.#carried = carried;
    this.#folder = folder;
    this.#hash = hash;
    this.#buffer = new PieceBuffer(store.bucket.connection.limits.part);
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
    this.#size += chunk.byteLength;
    return this.#buffer.write(chunk, (full) => this.#send(full));
  }

  commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    return guardBucket("write", () => this.#publish(patch));
  }

  async discard(): Promise<void> {
    this.#buffer.clear();
    await this.#parts?.abort();
    // If it is unknown whether a ref names the blob, it is left to `gc`.
    if (!this.#isNamed) await this.#withdraw();
  }

  get #key(): string {
    return blobKey(this.#folder, this.#name);
  }

  async #publish(patch: ArtifactPatch): Promise<ArtifactRef> {
    const claim = applyPatch(this.#claim, patch);
    if (this.#parts) await this.#complete(this.#parts);
    const sha256 = this.#hash.digest();
    const { ref, loose } = this.#carried
      ? await this.#publishAs(this.#carried, sha256)
      : await this.#publishClaim(claim, sha256);
    this.#buffer.clear();
    // `gc` removes it later.
    if (loose !== null) await this.#store.bucket.remove(blobKey(this.#folder, loose)).catch(() => undefined);
    if (!this.#isNamed) await this.#withdraw();
    return ref;
  }

  /** Gives the content the shortest free id in its scope, or the id that it has there already. */
  async #publishClaim(claim: Claim, sha256: string): Promise<Published> {
    for (const id of idsFor(claim.namespace, sha256)) {
      const place = { id, scope: claim.scope, folder: this.#folder, key: refKey(this.#folder, id) };
      const outcome = await again<Published | typeof TAKEN>("write", async (attempt) => {
        const found = await lookUp(this.#store.bucket, place);
        if (found === null) return this.#create(toRef(claim, id, sha256, this.#size), place.key);
        if (found.record.isGone === true) return attempt < PATIENCE ? AGAIN : TAKEN;
        if (found.record.ref.sha256 !== sha256) return TAKEN;
        return this.#restate(claim, found);
      });
      if (outcome !== TAKEN) return outcome;
    }
    throw new SluiceError(
      "E_STORE_CORRUPT",
      "Every id of this content is already used by other content: use a stronger hash.",
    );
  }

  async #create(ref: ArtifactRef, key: string): Promise<Published | typeof AGAIN> {
    const { bucket, stamps } = this.#store;
    const now = stamps.next();
    const named = { folder: this.#folder, id: ref.id, created: now, filename: ref.filename };
    const [blob] = await Promise.all([this.#place(), addName(bucket, named)]);
    this.#isNamed = true;
    const wrote = await write(bucket, key, { ref, blob, created: now, stored: now, used: now }, null);
    this.#isNamed = wrote !== null;
    if (wrote !== null) return { ref, loose: null };
    await dropName(bucket, named);
    return AGAIN;
  }

  /**
   * Publishes the record of a copy as it is.
   *
   * @throws SluiceError E_STORE_CORRUPT if the bytes are not those of the record; IdTaken if something has the id.
   */
  async #publishAs({ ref, created, stored, used, origin }: Carried, sha256: string): Promise<Published> {
    if (sha256 !== ref.sha256 || this.#size !== ref.size_bytes) throw toDamagedError();
    const { bucket } = this.#store;
    const place = { id: ref.id, scope: this.#claim.scope, folder: this.#folder, key: refKey(this.#folder, ref.id) };
    const named = { folder: this.#folder, id: ref.id, created, filename: ref.filename };
    const [blob] = await Promise.all([this.#place(), addName(bucket, named)]);
    const standing = await again<Found | null>("write", async (attempt) => {
      this.#isNamed = true;
      const wrote = await write(bucket, place.key, { ref, blob, created, stored, used, origin }, null);
      this.#isNamed = wrote !== null;
      if (wrote !== null) return null;
      const found = await lookUp(bucket, place).catch(takeIfCorrupt);
      return found === null || (found.record.isGone === true && attempt < PATIENCE) ? AGAIN : found;
    });
    if (standing === null) return { ref, loose: null };
    const { record } = standing;
    // Another copy may have brought the same, which needs its name.
    const isSame = record.created === created && record.ref.filename === ref.filename && record.isGone !== true;
    if (!isSame) await dropName(bucket, named);
    throw new IdTaken();
  }

  /** Stores the same content again: keeps its blob, unless that is damaged or was deleted. */
  async #restate(claim: Claim, found: Found): Promise<Published | typeof AGAIN> {
    const { record, folder } = found;
    const { bucket, stamps } = this.#store;
    const isThere = record.isDamaged !== true && (await bucket.size(blobKey(folder, record.blob))) === this.#size;
    const blob = isThere ? record.blob : await this.#place();
    const ref = applyPatch(record.ref, compareClaim(record.ref, claim) ?? {});
    const now = nextStampAfter(stamps, record.used);
    if (!isThere) this.#isNamed = true;
    const wrote = await rewrite(bucket, found, { ref, blob, created: record.created, stored: now, used: now });
    this.#isNamed = wrote !== null && !isThere;
    if (wrote === null) return AGAIN;
    return { ref, loose: isThere ? null : record.blob };
  }

  async #withdraw(): Promise<void> {
    if (!this.#isPlaced) return;
    this.#isPlaced = false;
    await this.#store.bucket.remove(this.#key).catch(() => undefined);
  }

  async #place(): Promise<string> {
    if (!this.#isPlaced) {
      this.#isPlaced = true;
      await this.#store.bucket.write(this.#key, this.#buffer.bytes);
    }
    return this.#name;
  }

  async #complete(parts: Parts): Promise<void> {
    await parts.send(this.#buffer.bytes);
    this.#isPlaced = true;
    await parts.complete(this.#size);
  }

  /** Sends a part. Gives back the memory of the one before it, which is sent by then. */
  async #send(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    this.#parts ??= await Parts.begin(this.#store.bucket, this.#key);
    if (this.#parts.isFull) throw tooLarge(bytes.byteLength);
    return this.#parts.send(bytes);
  }
}

/** A record that cannot be read has its id all the same. */
function takeIfCorrupt(error: unknown): never {
  throw error instanceof SluiceError && error.code === "E_STORE_CORRUPT" ? new IdTaken() : error;
}

function tooLarge(part: number): SluiceError {
  const sentence = `The artifact has more than the 10,000 parts of ${part} bytes that S3 accepts: raise partBytes.`;
  return new SluiceError("E_TOO_LARGE", sentence, { path: "partBytes" });
}

/** Most parts of an upload in S3. */
const MOST_PARTS = 10_000;
/** Attempts to abort an upload: a part that arrives late may outlive the first. */
const ABORTS = 3;

/** One upload in parts. Nothing of it is visible before it is complete. */
class Parts {
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #upload: string;
  readonly #over = new AbortController();
  readonly #done: CompletedPart[] = [];
  #sent = 0;
  /** Settles when the part before is sent. Never rejects, see `#failure`. */
  #flying: Promise<void> | undefined;
  #inFlight: Uint8Array | undefined;
  #failure: SluiceError | undefined;
  #isComplete = false;

  private constructor(bucket: Bucket, key: string, upload: string) {
    this.#bucket = bucket;
    this.#key = key;
    this.#upload = upload;
  }

  static async begin(bucket: Bucket, key: string): Promise<Parts> {
    const said = { ...bucket.at(key), ContentType: "application/octet-stream" };
    const { UploadId = "" } = await bucket.connection.coded("write", 0, ({ sdk, client }, how) =>
      client.send(new sdk.CreateMultipartUploadCommand(said), how),
    );
    return new Parts(bucket, key, UploadId);
  }

  /** Whether there is room for the last part only. */
  get isFull(): boolean {
    return this.#sent >= MOST_PARTS - 1;
  }

  /** Sends a part once the one before it is sent, whose memory it gives back. The part's own is in use until the next call. */
  async send(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    const before = this.#inFlight;
    await this.#waitForArrival();
    this.#inFlight = bytes;
    this.#flying = this.#part(++this.#sent, bytes);
    return before;
  }

  /** Completes the parts to an object of `size` bytes. */
  async complete(size: number): Promise<void> {
    await this.#waitForArrival();
    const said = { ...this.#bucket.at(this.#key), UploadId: this.#upload, MultipartUpload: { Parts: this.#done } };
    try {
      // Some services assemble the object first.
      await this.#bucket.connection.send(size, ({ sdk, client }, how) =>
        client.send(new sdk.CompleteMultipartUploadCommand(said), how),
      );
    } catch (error) {
      // If the response to the first attempt was lost, the upload is complete, and the next attempt finds none.
      const isThere = isMissing(error) && (await this.#bucket.size(this.#key)) === size;
      if (!isThere) throw s3Error(error, "write");
    }
    this.#isComplete = true;
  }

  /** Aborts the upload unless it is complete. Idempotent. */
  async abort(): Promise<void> {
    this.#over.abort();
    await this.#flying;
    this.#inFlight = undefined;
    for (let attempt = 0; attempt < ABORTS && !this.#isComplete; attempt++) {
      try {
        await abortUpload(this.#bucket, this.#key, this.#upload);
        this.#isComplete = await this.#isGone();
      } catch {
        // `gc` or the bucket's lifecycle rule removes it later.
      }
    }
  }

  async #isGone(): Promise<boolean> {
    const said = { ...this.#bucket.at(this.#key), UploadId: this.#upload, MaxParts: 1 };
    try {
      await this.#bucket.connection.send(0, ({ sdk, client }, how) => client.send(new sdk.ListPartsCommand(said), how));
      return false;
    } catch (error) {
      return isMissing(error);
    }
  }

  async #part(PartNumber: number, Body: Uint8Array): Promise<void> {
    const said = { ...this.#bucket.at(this.#key), UploadId: this.#upload, PartNumber, Body };
    try {
      const { ETag = "" } = await this.#bucket.connection.send(
        Body.byteLength,
        ({ sdk, client }, how) => client.send(new sdk.UploadPartCommand(said), how),
        this.#over.signal,
      );
      this.#done.push({ PartNumber, ETag });
    } catch (error) {
      this.#failure = s3Error(error, "write");
    }
  }

  async #waitForArrival(): Promise<void> {
    await this.#flying;
    this.#flying = undefined;
    if (this.#failure) throw this.#failure;
  }
}

/** Aborts an upload. Ignores one that is gone already. */
export async function abortUpload(bucket: Bucket, key: string, upload: string): Promise<void> {
  const said = { ...bucket.at(key), UploadId: upload };
  try {
    await bucket.connection.send(0, ({ sdk, client }, how) =>
      client.send(new sdk.AbortMultipartUploadCommand(said), how),
    );
  } catch (error) {
    if (!isMissing(error)) throw s3Error(error, "write");
  }
}
