/**
 * Reading a resource link when `resources.auto_read_if_size_under_bytes` asks for it (RFC 0.3 §4.3, §5.7).
 * @module
 */
import type { ArtifactRef } from "../artifacts/store.js";
import type { MessageSurroundings } from "./message.js";

/** What a link's block tells of its content. */
export interface LinkOutcome {
  readonly fetched: boolean;
  readonly artifact?: Partial<ArtifactRef>;
  readonly text?: string;
  readonly fetch_error?: string;
}

interface Contents {
  readonly contents?: readonly { readonly text?: unknown; readonly mimeType?: unknown }[];
}

/** Reads `uri` and says what came: bytes and large texts as an artifact, a small text as it is. Never throws. */
export async function readLink(uri: string, around: MessageSurroundings): Promise<LinkOutcome> {
  const { readResource } = around.options;
  if (readResource === undefined) return { fetched: false };
  try {
    return await outcomeOf(await readResource(uri), around);
  } catch {
    // The reason may hold paths or tokens of the host: a model has no use for them.
    return { fetched: false, fetch_error: "the resource could not be read" };
  }
}

async function outcomeOf(result: unknown, around: MessageSurroundings): Promise<LinkOutcome> {
  const contents = (result as Contents | null)?.contents ?? [];
  const [only] = contents;
  if (contents.length === 1 && typeof only?.text === "string") return ofText(only.text, only.mimeType, around);
  const { readResource: _, ...options } = around.options;
  const { artifacts } = await around.reduce(result, { ...options, dialect: "observation" });
  const [artifact] = artifacts;
  return artifact === undefined
    ? { fetched: true, text: JSON.stringify(contents) }
    : { fetched: true, artifact: shown(artifact) };
}

async function ofText(text: string, mimeType: unknown, around: MessageSurroundings): Promise<LinkOutcome> {
  const { inlineTextUnderChars, cacheReads } = around.resources;
  const small = [...text].length < inlineTextUnderChars;
  if (small && !cacheReads) return { fetched: true, text };
  const { namespace, scope } = around.options;
  const ref = await around.store.putText(text, {
    ...(typeof mimeType === "string" && { mime_type: mimeType }),
    ...(namespace !== undefined && { namespace }),
    ...(scope !== undefined && { scope }),
  });
  return small ? { fetched: true, text, artifact: shown(ref) } : { fetched: true, artifact: shown(ref) };
}

/** What a model may see of a ref. */
function shown({ id, mime_type, size_bytes, filename }: ArtifactRef): Partial<ArtifactRef> {
  return { id, mime_type, size_bytes, ...(filename !== null && { filename }) };
}
