/**
 * A store in an S3 bucket, with download links for browsers.
 * @module
 */
import { BareS3Store } from "../../artifacts/s3/bare-store.js";
import { optionsFrom, type S3StoreOptions } from "../../artifacts/s3/options.js";
import { checkOptionNames, checkObject, wrong } from "../../errors/arguments.js";
import type { ArtifactRef, ArtifactScope } from "../../artifacts/store.js";
import { parseEssence, UNKNOWN_TYPE } from "../http/headers.js";
import { contentDisposition, safeFilename, chooseType } from "./headers.js";

/** Options of a download link. */
interface DownloadUrlOptions {
  /** The owner of the artifact. Defaults to no owner. */
  readonly scope?: ArtifactScope;
  /**
   * Seconds that the link is valid, 1 to 3600. Credentials that expire sooner end it.
   * @defaultValue `300`
   */
  readonly expiresInSeconds?: number;
  /** The name to save the file as. Defaults to the artifact's name. */
  readonly filename?: string;
}

const SECONDS = 300;
const MOST_SECONDS = 3600;

/** Types that no browser runs, even if embedded. Any other is served as bytes. */
const PASSIVE =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|tiff)|(?:audio|video)\/[\w.+-]+|text\/(?:plain|csv|tab-separated-values|markdown)|application\/(?:pdf|json|zip|gzip|vnd\.openxmlformats-officedocument\.[\w.-]+|vnd\.apache\.parquet))$/;

/**
 * Keeps artifacts in a bucket of any S3-compatible service, for any number of machines at once, any of which may die at any
 * time. The service has to know conditional writes (`If-None-Match`, `If-Match`), as AWS, R2, MinIO and Ceph do.
 *
 * Bytes go in by parts of 8 MiB and come out as a stream, so memory is constant. Each artifact has a blob of its own: unlike in
 * other stores a content that is in two scopes is there twice, so that all that a scope has lies under one prefix (see
 * {@link keyPrefix}). There are no limits in it: put a RetainingArtifactStore around it, or lifecycle rules on the bucket.
 *
 * Every method throws SluiceError: E_STORE_DENIED, E_STORE_FULL, E_STORE_CORRUPT, E_STORE_CLOSED after `close`, E_MISUSE where
 * `@aws-sdk/client-s3` is not installed, else E_STORE_READ or E_STORE_WRITE; E_INVALID_ARGUMENT for what no store can take. None
 * names the bucket, a key, the service, credentials or a scope.
 *
 * A reader outlives the artifact as long as its connection does.
 *
 * @example
 * await using store = new S3ArtifactStore({ bucket: "artifacts", prefix: "prod", region: "eu-central-1" });
 * const ref = await store.putText("hello", { filename: "hello.txt" });
 * const url = await store.downloadUrl(ref.id);
 */
export class S3ArtifactStore extends BareS3Store {
  /**
   * A link from which a browser downloads an artifact, or null if the scope has no such artifact. It permits nothing
   * else, and expires. The file is saved under a safe name and never shown, so HTML does not run. Does not count as
   * reading.
   *
   * @throws SluiceError E_INVALID_ARGUMENT; E_MISUSE if `@aws-sdk/s3-request-presigner` is not installed.
   */
  async downloadUrl(id: string, options: DownloadUrlOptions = {}): Promise<string | null> {
    checkOptionNames(options, "downloadUrl", ["expiresInSeconds", "filename", "scope"]);
    const { scope, expiresInSeconds = SECONDS, filename } = options;
    if (!Number.isSafeInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > MOST_SECONDS) {
      throw wrong("expiresInSeconds", `a whole number from 1 to ${MOST_SECONDS}`);
    }
    if (filename !== undefined && typeof filename !== "string") throw wrong("filename", "a string");
    return this.signed(id, scope, expiresInSeconds, (artifact) => ({
      disposition: contentDisposition(
        "attachment",
        safeFilename(filename === undefined ? artifact : { ...artifact, filename }),
      ),
      type: chooseSavedType(artifact),
    }));
  }
}

/**
 * The store of `s3://bucket` or `s3://bucket/prefix`. Credentials, region and service come from the options, else
 * from the environment. Throws E_INVALID_ARGUMENT, without any part of the URL.
 */
export function s3StoreFrom(url: string, options: Omit<S3StoreOptions, "bucket" | "prefix"> = {}): S3ArtifactStore {
  return new S3ArtifactStore({ ...checkObject(options, "options"), ...optionsFrom(url) });
}

function chooseSavedType({ mime_type }: ArtifactRef): string {
  return PASSIVE.test(parseEssence(mime_type) ?? "") ? chooseType(mime_type) : UNKNOWN_TYPE;
}
