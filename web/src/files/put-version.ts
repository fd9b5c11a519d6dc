/**
 * One version of a file, written and looked at in one pass.
 * @module
 */
import { chunksOf, type Uploaded } from "../artifacts/bytes.js";
import type { ArtifactInfo, ArtifactRef, ArtifactStore } from "../artifacts/store.js";
import { openedWriter } from "../artifacts/writer.js";
import type { FileLook } from "../core/sluice.js";
import { FileTooLargeError } from "./workspace/errors.js";
import { sourceOf, type UserFileInfo } from "./user-file.js";

/** What a version is written with. */
export interface VersionTerms {
  /** Under which namespace and name, and whose. */
  readonly place: Required<Pick<ArtifactInfo, "namespace" | "filename" | "scope">>;
  readonly info: UserFileInfo;
  readonly describer: (() => Promise<FileLook>) | undefined;
  /** Bytes that it may have. */
  readonly maxBytes: number;
}

/** Stores bytes, a text or a stream. Nothing is left of one that fails. Throws FileTooLargeError. */
export async function putVersion(store: ArtifactStore, data: Uploaded, terms: VersionTerms): Promise<ArtifactRef> {
  const { place, info, describer, maxBytes } = terms;
  using looking = await describer?.();
  await using writer = await openedWriter(store, place);
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
