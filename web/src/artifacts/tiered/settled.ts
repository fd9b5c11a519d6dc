/**
 * One of two stores has taken an artifact: what the other one has of the same name.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { isArtifactId } from "../ids.js";
import type { ArtifactPatch, ArtifactRef, ArtifactStore } from "../store.js";
import { writtenWhole } from "../writer.js";

/**
 * Sees to it that an id means one artifact. The same content in both, as after another limit, stays where it is now, with
 * what was said of it before; another content of the same id sends this one to the other store, where it gets a longer id.
 */
export async function settled(here: ArtifactStore, there: ArtifactStore, ref: ArtifactRef): Promise<ArtifactRef> {
  // What was not stored has an id of that form too, and is nowhere to be found.
  if (!isArtifactId(ref.id)) return ref;
  const other = await there.stat(ref.id, ref.scope).catch(nullIfExpired);
  if (other === null) return ref;
  if (other.sha256 !== ref.sha256) return moved(here, there, ref);
  const known = await saidBefore(here, ref, other);
  await there.delete(ref.id, ref.scope);
  return known;
}

async function saidBefore(here: ArtifactStore, ref: ArtifactRef, other: ArtifactRef): Promise<ArtifactRef> {
  const patch: ArtifactPatch = {
    ...(ref.filename === null && other.filename !== null && { filename: other.filename }),
    ...(ref.mime_type === null && other.mime_type !== null && { mime_type: other.mime_type }),
    ...(Object.keys(ref.source).length === 0 && Object.keys(other.source).length > 0 && { source: other.source }),
  };
  if (Object.keys(patch).length === 0) return ref;
  return (await here.update(ref.id, patch, ref.scope)) ?? ref;
}

async function moved(here: ArtifactStore, there: ArtifactStore, ref: ArtifactRef): Promise<ArtifactRef> {
  const bytes = await here.openReader(ref.id, { scope: ref.scope });
  if (bytes === null)
    throw new SluiceError("E_STORE_WRITE", "The artifact was deleted while it was stored: try again.");
  const said = { ...ref, source: ref.source };
  const placed = await writtenWhole(await there.openWriter(said), chunksOf(bytes));
  await here.delete(ref.id, ref.scope);
  return placed;
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function nullIfExpired(error: unknown): null {
  if (error instanceof SluiceError && error.code === "E_EXPIRED") return null;
  throw error;
}
