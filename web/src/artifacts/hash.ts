/**
 * SHA-256, behind one interface: `#hash` is `hash-node.ts` in Node and `hash-web.ts` elsewhere.
 * @module
 */

/** A hash that is fed in pieces. */
export interface StreamHash {
  /** Takes the bytes before it returns; the caller may reuse the buffer. */
  update(chunk: Uint8Array): void;
  /** Lower-case hex. Ends the hash; call it once. */
  digest(): string;
}

/** A way to hash. Stores take one as an option; the digest names the content, so it must be collision-free. */
export interface Hashing {
  /** The lower-case hex digest of bytes that are there as a whole. */
  whole(data: Uint8Array): Promise<string>;
  /** Begins a hash of bytes that come in pieces. */
  stream(): Promise<StreamHash>;
}
