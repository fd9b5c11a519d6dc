/**
 * SHA-256 for browsers and workers: WebCrypto for what is small and whole, WASM for the rest, JavaScript where none is compiled.
 * @module
 */
import { createSHA256 } from "hash-wasm";
import type { Hashing, StreamHash } from "./hash.js";

// WebCrypto copies its input and cannot be fed in pieces, so more than this would double in memory.
const WEBCRYPTO_BYTES = 8 * 1024 * 1024;

/** SHA-256 for browsers. Without WebCrypto (a page that is not a secure context) all goes through WASM. */
export const sha256: Hashing = {
  async whole(data: Uint8Array): Promise<string> {
    const { subtle } = globalThis.crypto as Partial<Crypto>;
    if (subtle && data.byteLength <= WEBCRYPTO_BYTES && data.buffer instanceof ArrayBuffer) {
      return hex(new Uint8Array(await subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>)));
    }
    const hash = await sha256.stream();
    hash.update(data);
    return hash.digest();
  },
  async stream(): Promise<StreamHash> {
    const hash = await createSHA256().catch(() => undefined);
    if (hash === undefined) return createPlainHash();
    hash.init();
    return {
      update: (chunk: Uint8Array): void => void hash.update(chunk),
      digest: (): string => hash.digest("hex"),
    };
  },
};

/** A hash without WebAssembly, at half the speed: Cloudflare Workers, and pages whose policy forbids it, compile none. */
async function createPlainHash(): Promise<StreamHash> {
  const { sha256: plain } = await import("@noble/hashes/sha2.js");
  const hash = plain.create();
  return {
    update: (chunk: Uint8Array): void => void hash.update(chunk),
    digest: (): string => hex(hash.digest()),
  };
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
