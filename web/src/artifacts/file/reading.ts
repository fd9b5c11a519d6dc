/**
 * Bytes on their way out of a file store.
 * @module
 */
import { join } from "node:path";
import type { FileHandle } from "node:fs/promises";
import { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import type { Hashing } from "../hash.js";
import type { Span } from "../range.js";
import type { ArtifactRef } from "../store.js";
import { damaged, verified, Verifier } from "../verify.js";
import type { Folder } from "./folder.js";
import { BLOB } from "./layout.js";
import { openPlain, orNull } from "./plain.js";
import { readRef, type Recorded } from "./refs.js";
import { withdraw } from "./share.js";

const PIECE = 256 * 1024;
// Buffers of Node 20 end at 4 GiB.
const MAX_WHOLE = 4 * 1024 ** 3;

/** What is said of an artifact, and its bytes. */
export interface OpenArtifact {
  readonly ref: ArtifactRef;
  readonly file: FileHandle;
}

/**
 * Opens an artifact; null when there is none. An open file stays readable when the artifact is deleted.
 *
 * @throws SluiceError E_STORE_CORRUPT when the content is missing or not as long as the ref says.
 */
export async function openArtifact(folder: Folder, key: string, id: string): Promise<OpenArtifact | null> {
  let seen: Recorded | null = null;
  for (;;) {
    const recorded = await readRef(folder, key, id);
    if (!recorded) return null;
    const { ref } = recorded;
    const opened = await orNull(openPlain(join(folder.at.refFolder(key, id), BLOB)));
    if (opened?.size === ref.size_bytes) return { ref, file: opened.file };
    await opened?.file.close();
    // Between the two looks it may have been deleted and stored anew: damaged is what is so twice.
    if (seen?.created === recorded.created) {
      if (opened) await withdraw(folder, ref.sha256);
      throw damaged();
    }
    seen = recorded;
  }
}

/**
 * Reads all of an open artifact, checks it against the hash, and closes it.
 *
 * @throws SluiceError E_STORE_CORRUPT when the bytes are not those that were stored; E_TOO_LARGE above 4 GiB.
 */
export async function readWhole(folder: Folder, { ref, file }: OpenArtifact, hashing: Hashing): Promise<Uint8Array> {
  try {
    if (ref.size_bytes > MAX_WHOLE) {
      throw new SluiceError("E_TOO_LARGE", "The artifact is larger than 4 GiB: read it through openReader.");
    }
    const bytes = new Uint8Array(ref.size_bytes);
    await fill(file, bytes, 0);
    if ((await hashing.whole(bytes)) === ref.sha256) return bytes;
    await withdraw(folder, ref.sha256);
    throw damaged();
  } finally {
    await file.close();
  }
}

/** Streams a span of an open artifact; all of it is checked against the hash, of a part there is none. */
export async function readSpan(
  folder: Folder,
  { ref, file }: OpenArtifact,
  span: Span,
  hashing: Hashing,
): Promise<ReadableStream<Uint8Array>> {
  const stream = streamSpan(file, span);
  if (span.end - span.start < ref.size_bytes) return stream;
  return verified(stream, await Verifier.begin(ref, hashing), () => withdraw(folder, ref.sha256));
}

/** Streams a span of an open file as fast as it is read, and closes it at the end, on failure or on cancel. */
function streamSpan(file: FileHandle, span: Span): ReadableStream<Uint8Array> {
  let at = span.start;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        try {
          const piece = new Uint8Array(Math.min(PIECE, span.end - at));
          await fill(file, piece, at);
          at += piece.byteLength;
          if (piece.byteLength > 0) controller.enqueue(piece);
          if (at < span.end) return;
          await file.close();
          controller.close();
        } catch (error) {
          await file.close().catch(() => undefined);
          throw storageError(error, "read");
        }
      },
      async cancel(): Promise<void> {
        await file.close();
      },
    },
    { highWaterMark: 0 },
  );
}

async function fill(file: FileHandle, into: Uint8Array, from: number): Promise<void> {
  for (let at = 0; at < into.byteLength;) {
    const { bytesRead } = await file.read(into, at, into.byteLength - at, from + at);
    if (bytesRead === 0) throw damaged();
    at += bytesRead;
  }
}
