import type { ArtifactRef, ArtifactStore, StoredArtifact } from "../../../web/src/artifacts/store.js";

/** Bytes that tests store and compare. */

/** Whether a store gave these bytes, in a plain Uint8Array; toEqual takes seconds for a megabyte. */
export function same(actual: Uint8Array | null, expected: Uint8Array): boolean {
  if (actual?.constructor !== Uint8Array || actual.byteLength !== expected.byteLength) return false;
  return expected.every((byte, at) => byte === actual[at]);
}

/** All bytes of a stream. */
export async function drained(stream: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  if (!stream) throw new Error("There is no stream.");
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of stream) pieces.push(new Uint8Array(piece));
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** Hex of the SHA-256, by another way than stores take. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What is said of an artifact, without its times. */
export function undated(artifact: StoredArtifact | null): ArtifactRef | null {
  if (artifact === null) return null;
  const { stored_at: _, used_at: __, ...ref } = artifact;
  return ref;
}

export async function dated(artifacts: AsyncIterable<StoredArtifact>): Promise<StoredArtifact[]> {
  const all: StoredArtifact[] = [];
  for await (const artifact of artifacts) all.push(artifact);
  return all;
}

/** What is listed, without times. */
export async function listed(artifacts: AsyncIterable<StoredArtifact>): Promise<ArtifactRef[]> {
  return (await dated(artifacts)).map(({ stored_at: _, used_at: __, ...ref }) => ref);
}

/** Stores through a writer, in chunks of these lengths over and over. */
export async function streamed(
  store: ArtifactStore,
  data: Uint8Array,
  lengths: readonly number[],
): Promise<ArtifactRef> {
  const writer = await store.openWriter();
  const reused = new Uint8Array(Math.max(...lengths));
  for (let at = 0, turn = 0; at < data.byteLength; turn++) {
    const chunk = data.subarray(at, at + (lengths[turn % lengths.length] ?? 1));
    reused.set(chunk);
    await writer.write(reused.subarray(0, chunk.byteLength));
    reused.fill(0xee); // the buffer is ours again once the write has settled
    at += chunk.byteLength;
  }
  return writer.close();
}

/** Bytes that look random and are the same each time. */
export function noise(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let state = seed * 2654435761;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}
