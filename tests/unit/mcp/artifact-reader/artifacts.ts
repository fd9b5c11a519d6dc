import { createHash } from "node:crypto";
import type { ArtifactInfo, StoredArtifact } from "../../../../web/src/artifacts/store.js";
import {
  ArtifactReader,
  type ArtifactReaderOptions,
  type ReadSource,
} from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import type { ArtifactToolResult } from "../../../../web/src/index.js";

export const ID = "ns_0123456789ab";
export const URI = `artifact://${ID}`;

const encoder = new TextEncoder();

/** What a store would say of these bytes. */
export function refOf(size: number, info: ArtifactInfo = {}, sha256 = "0".repeat(64)): StoredArtifact {
  return {
    id: ID,
    mime_type: info.mime_type ?? null,
    size_bytes: size,
    filename: info.filename ?? null,
    sha256,
    scope: {},
    namespace: "ns",
    source: info.source ?? {},
    stored_at: 0,
    used_at: 0,
  };
}

/** One artifact whose bytes come in pieces of the sizes given, round and round, in one buffer that is written over. */
export function chunked(bytes: Uint8Array, sizes: readonly number[], info?: ArtifactInfo): ReadSource {
  const ref = refOf(bytes.length, info, createHash("sha256").update(bytes).digest("hex"));
  return {
    stat: (id) => Promise.resolve(id === ID ? ref : null),
    openReader: (id, { start, end = bytes.length }) =>
      Promise.resolve(id === ID ? pieces(bytes.subarray(start, end), sizes) : null),
  };
}

function pieces(bytes: Uint8Array, sizes: readonly number[]): ReadableStream<Uint8Array> {
  const buffer = new Uint8Array(Math.max(...sizes));
  let at = 0;
  let turn = 0;
  return new ReadableStream(
    {
      pull(controller) {
        buffer.fill(0x22);
        const size = Math.min(sizes[turn++ % sizes.length]!, bytes.length - at);
        buffer.set(bytes.subarray(at, at + size));
        at += size;
        if (size > 0) controller.enqueue(buffer.subarray(0, size));
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Reads a text or bytes. */
export function readingOf(
  content: string | Uint8Array,
  {
    sizes = [7],
    info,
    ...options
  }: ArtifactReaderOptions & { readonly sizes?: readonly number[]; readonly info?: ArtifactInfo } = {},
): ArtifactReader {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return new ArtifactReader(chunked(bytes, sizes, info), options);
}

/** What an answer shows of the artifact; undefined where it shows nothing. */
export function dataOf({ content: [{ text }] }: ArtifactToolResult): string | undefined {
  return /\n--- data (\S+) ---\n([^]*)\n--- end \1 ---(?:\n\[sluice\] [^]*)?$/.exec(text)?.[2];
}

/** What an answer says in our own words. */
export function wordsOf({ content: [{ text }] }: ArtifactToolResult): string {
  return text.replace(/\n--- data (\S+) ---\n[^]*\n--- end \1 ---/, "");
}

/** Code points of an answer's JSON. */
export function lengthOf(result: ArtifactToolResult): number {
  return Array.from(JSON.stringify(result)).length;
}
