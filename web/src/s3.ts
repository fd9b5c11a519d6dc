/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Artifacts in a bucket, for Node. The packages `@aws-sdk/client-s3` and, for links, `@aws-sdk/s3-request-presigner` have to be
 * installed beside this one.
 *
 * @example
 * ```ts
 * await using store = new S3ArtifactStore({ bucket: "artifacts", region: "eu-central-1" });
 * const sluice = await createSluice({ store });
 * ```
 * @module mcp-sluice/s3
 */
export type { S3StoreOptions } from "./artifacts/s3/options.js";
export { S3ArtifactStore, s3StoreFrom } from "./server/artifacts/s3-store.js";
