/**
 * SHA-256 by Node's own OpenSSL.
 * @module
 */
import { createHash } from "node:crypto";
import type { Hashing, ParallelHash, StreamHash } from "./hash.js";

/** SHA-256 for Node. */
export const sha256: Hashing = {
  whole(data: Uint8Array): Promise<string> {
    return Promise.resolve(createHash("sha256").update(data).digest("hex"));
  },
  stream(): Promise<StreamHash> {
    const hash = createHash("sha256");
    return Promise.resolve({
      update: (chunk: Uint8Array): void => void hash.update(chunk),
      digest: (): string => hash.digest("hex"),
    });
  },
  async parallel(): Promise<ParallelHash | undefined> {
    // Loaded for the first large content only.
    const { parallelHash } = await import("./hash-thread.js");
    return parallelHash();
  },
};
