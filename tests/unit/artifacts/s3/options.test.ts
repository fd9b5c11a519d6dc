/** What a bucket's store refuses before it asks any server. */
import { describe, expect, test, vi } from "vitest";
import { S3ArtifactStore, s3StoreFrom, type S3StoreOptions } from "../../../../web/src/s3.js";

const CREDENTIALS = { accessKeyId: "key", secretAccessKey: "secret" };

describe("a store by its URL", () => {
  test.each([
    "",
    "s3:",
    "s3://",
    "s3:///x",
    "http://bucket",
    "s3://a b",
    "s3://bucket?x",
    "s3://user:secret@bucket",
    "s3://bucket/../x",
  ])("%j is none", (url) => {
    const made = (): unknown => s3StoreFrom(url);
    expect(made).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }) as Error);
    expect(made).not.toThrow(/secret/);
  });
});

describe("options", () => {
  test.each<[string, object]>([
    ["bucket", {}],
    ["bucket", { bucket: "x" }],
    ["prefix", { bucket: "bucket", prefix: "../x" }],
    ["prefix", { bucket: "bucket", prefix: "/x" }],
    ["prefix", { bucket: "bucket", prefix: "x//y" }],
    ["client", { bucket: "bucket", client: {} }],
    ["endpoint", { bucket: "bucket", endpoint: "file:///etc" }],
    ["timeoutMs", { bucket: "bucket", timeoutMs: 0 }],
    ["partBytes", { bucket: "bucket", partBytes: 1024 }],
    ["maxAttempts", { bucket: "bucket", maxAttempts: 100 }],
    ["bucketName", { bucketName: "bucket" }],
  ])("refuse %s", (path, options) => {
    const made = (): unknown => new S3ArtifactStore({ endpoint: "http://127.0.0.1:9", ...options } as S3StoreOptions);
    expect(made).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT", path }) as Error);
  });

  test("need a region where nobody says one", async () => {
    for (const name of ["AWS_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"]) vi.stubEnv(name, undefined);
    for (const name of ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]) vi.stubEnv(name, "/dev/null");
    try {
      await using lost = s3StoreFrom("s3://bucket", { credentials: CREDENTIALS });
      const asked = lost.get("artifact_0123456789ab");
      await expect(asked).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "region" });
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
