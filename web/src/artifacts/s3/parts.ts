/**
 * An object that is sent in parts.
 * @module
 */
import type { CompletedPart } from "@aws-sdk/client-s3";
import type { SluiceError } from "../../errors/error.js";
import type { Bucket } from "./bucket.js";
import { isMissing, s3Error } from "./failures.js";

/** S3 takes no more. One is kept for the last. */
const MOST_PARTS = 10_000;
/** A part that arrives late may outlive the first attempt to throw all of them away. */
const ABORTS = 3;

/** One upload; nothing of it is seen before it is complete. */
export class Parts {
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #upload: string;
  readonly #over = new AbortController();
  readonly #done: CompletedPart[] = [];
  #sent = 0;
  /** Settles when the part before has arrived; never rejects, see `#failure`. */
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

  /** Sends a part off, after the one before it, whose memory it gives back. The part's own belongs to it meanwhile. */
  async send(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    const before = this.#inFlight;
    await this.#arrived();
    this.#inFlight = bytes;
    this.#flying = this.#part(++this.#sent, bytes);
    return before;
  }

  /** Makes the parts an object of `size` bytes. */
  async complete(size: number): Promise<void> {
    await this.#arrived();
    const said = { ...this.#bucket.at(this.#key), UploadId: this.#upload, MultipartUpload: { Parts: this.#done } };
    try {
      // A service may have to put them together first.
      await this.#bucket.connection.send(size, ({ sdk, client }, how) =>
        client.send(new sdk.CompleteMultipartUploadCommand(said), how),
      );
    } catch (error) {
      // An attempt whose answer was lost ends the upload: the next one finds none.
      const isThere = isMissing(error) && (await this.#bucket.size(this.#key)) === size;
      if (!isThere) throw s3Error(error, "write");
    }
    this.#isComplete = true;
  }

  /** Throws away what was sent, unless it is complete. Idempotent. */
  async abort(): Promise<void> {
    this.#over.abort();
    await this.#flying;
    this.#inFlight = undefined;
    for (let attempt = 0; attempt < ABORTS && !this.#isComplete; attempt++) {
      try {
        await abortUpload(this.#bucket, this.#key, this.#upload);
        this.#isComplete = await this.#isGone();
      } catch {
        // What cannot be thrown away now is by `gc`, or by the bucket's own rule.
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

  async #arrived(): Promise<void> {
    await this.#flying;
    this.#flying = undefined;
    if (this.#failure) throw this.#failure;
  }
}

/** Throws away an upload that may be gone already. */
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
