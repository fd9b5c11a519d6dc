/** Bytes that tests store and compare. */
import type { ArtifactRef, ArtifactStore, StoredArtifact } from "../../../web/src/artifacts/store.js";

/** Whether a store gave these bytes, in a plain Uint8Array; toEqual takes seconds for a megabyte. */
export function same(actual: Uint8Array | null, expected: Uint8Array): boolean {
  return actual?.constructor === Uint8Array && Buffer.compare(actual, expected) === 0;
}

/** All bytes of a stream. */
export async function drained(stream: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  if (!stream) throw new Error("There is no stream.");
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
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
