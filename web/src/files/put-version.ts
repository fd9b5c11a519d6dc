/**
 * One version of a file, written and looked at in one pass.
 * @module
 */
import type { Uploaded } from "../artifacts/scoped.js";
import type { ArtifactInfo, ArtifactRef, ArtifactStore } from "../artifacts/store.js";
import { isBytes, wrong } from "../core/call.js";
import type { OpenDescriber } from "./describing.js";
import { FileTooLargeError } from "./workspace/errors.js";
import { sourceOf, type UserFileInfo } from "./user-file.js";

/** What a version is written with. */
export interface VersionTerms {
  /** Under which namespace and name, and whose. */
  readonly place: Required<Pick<ArtifactInfo, "namespace" | "filename" | "scope">>;
  readonly info: UserFileInfo;
  readonly describer: OpenDescriber | undefined;
  /** Bytes that it may have. */
  readonly maxBytes: number;
}

/** Stores bytes, a text or a stream. Nothing is left of one that fails. Throws FileTooLargeError. */
export async function putVersion(store: ArtifactStore, data: Uploaded, terms: VersionTerms): Promise<ArtifactRef> {
  const { place, info, describer, maxBytes } = terms;
  using looking = await describer?.();
  await using writer = await store.openWriter(place);
  let size = 0;
  for await (const chunk of chunksOf(data)) {
    size += chunk.length;
    if (size > maxBytes) throw new FileTooLargeError(size, maxBytes);
    looking?.push(chunk);
    await writer.write(chunk);
  }
  const seen = looking?.finish();
  const mime_type = info.mime_type ?? seen?.mime_type ?? null;
  return await writer.close({ mime_type, source: sourceOf(info, seen?.description ?? "") });
}

async function* chunksOf(data: Uploaded): AsyncIterable<Uint8Array> {
  if (typeof data === "string") yield new TextEncoder().encode(data);
  else if (isBytes(data)) yield data;
  else if (data instanceof ReadableStream) yield* streamed(data);
  else if (isIterable(data)) yield* data;
  else throw wrong("data", "a Uint8Array, a string, or a stream of Uint8Arrays");
}

function isIterable(data: unknown): boolean {
  return typeof data === "object" && data !== null && (Symbol.asyncIterator in data || Symbol.iterator in data);
}

/** Not every browser can iterate over a stream. */
async function* streamed(data: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = data.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
