/**
 * What a server answered to `resources/read`, behind the gate, as contents: texts that are short enough, and artifacts.
 * @module
 */
import { ToolArtifacts } from "../../../artifacts/tool-artifacts.js";
import type { ArtifactScope } from "../../../artifacts/store.js";
import type { AnswerRef, Transformed } from "../../../core/sluice.js";
import { plainType } from "../../../core/media-type.js";
import { objectOr, stringOr } from "../../../mcp/rpc.js";
import type { Freshness, ReadContent, ReadResult } from "../../resources/connection.js";
import { tooMuch } from "./contents-splitter.js";
import { MAX_HELD } from "./limits.js";
import { Entries, type Entry, type Means } from "./read-entries.js";

/** How a resource is read. */
export interface Reading {
  readonly scope: ArtifactScope;
  readonly namespace: string;
  /** Characters of a text that stay. */
  readonly inlineChars: number;
  readonly signal: AbortSignal;
}

/** Bytes of a file's beginning that tell what it is. */
const HEAD = 4096;

/** Contents that are taken of one resource. */
const MAX_CONTENTS = 50_000;

/**
 * The contents of a resource: bytes as artifacts, whatever their number and size, and texts.
 *
 * @param reduced the result in the mcp dialect.
 * @param original the result as it came, where it is held.
 * @throws SluiceError E_TOO_LARGE when there are more short texts than can be held, or too many contents; E_STORE_….
 */
export async function readContents(
  reduced: Transformed,
  reading: Reading,
  means: Means,
  original?: unknown,
): Promise<ReadResult> {
  const entries = new Entries(reduced, reading, means, original);
  const contents: ReadContent[] = [];
  let held = 0;
  for await (const entry of entries.all()) {
    reading.signal.throwIfAborted();
    const content = await contentOf(entry, entries, reading, means);
    held += content.uri.length + (content.kind === "text" ? content.text.length : 0);
    if (held > MAX_HELD || contents.length >= MAX_CONTENTS) throw tooMuch();
    contents.push(content);
  }
  // How long it may be kept went with all the rest: it is not kept.
  return { contents, ...(entries.isDiverted ? { ttl_ms: 0 } : freshnessOf(reduced.value)) };
}

async function contentOf(
  { content, isReduced }: Entry,
  entries: Entries,
  reading: Reading,
  means: Means,
): Promise<ReadContent> {
  const uri = stringOr(content["uri"]) ?? "";
  const mime_type = plainType(stringOr(content["mimeType"]) ?? null) ?? null;
  const isText = typeof content["text"] === "string";
  const said = stringOr(content["text"]) ?? stringOr(content["blob"]) ?? "";
  const ref = isReduced ? entries.refOf(said) : undefined;
  const { inlineChars } = reading;
  if (ref === undefined) {
    const bytes = isText ? undefined : bytesOf(said);
    // What is no base64 is a text, and nothing of the type that was declared.
    const type = isText ? mime_type : null;
    if (bytes === undefined && isShort(said, inlineChars)) return { kind: "text", uri, mime_type: type, text: said };
    return artifact(uri, await stored(bytes ?? said, type, reading, means));
  }
  // Four bytes are the most that one character has.
  const text = isText && ref.size_bytes <= 4 * inlineChars ? await entries.textOf(ref) : undefined;
  if (text !== undefined && isShort(text, inlineChars)) return { kind: "text", uri, mime_type, text };
  return artifact(uri, ref);
}

/** The bytes of a blob that the gate let stay: how it is configured is no matter to what is bytes by its very name. */
function bytesOf(blob: string): Uint8Array | undefined {
  if (blob === "") return undefined;
  try {
    return Uint8Array.from(atob(blob.replaceAll("-", "+").replaceAll("_", "/")), (unit) => unit.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Its type is what the core made of the bytes and of what was declared. */
function artifact(uri: string, ref: AnswerRef): ReadContent {
  const { id, mime_type, size_bytes, filename, source } = ref;
  const summary = [source["description"], source["warning"]].filter((part) => typeof part === "string").join("; ");
  return { kind: "artifact", uri, mime_type, id, size_bytes, filename, summary };
}

/** The gate lets it stay, and its reader does not. */
async function stored(
  said: Uint8Array | string,
  mime_type: string | null,
  { scope, namespace }: Reading,
  { sluice, store }: Means,
): Promise<AnswerRef> {
  const bytes = typeof said === "string" ? new TextEncoder().encode(said) : said;
  const { description, mime_type: found } = sluice.sniff(bytes.subarray(0, HEAD), bytes.length);
  // What the store refuses has a ref that says so.
  const artifacts = new ToolArtifacts(store, { scope, namespace, source: { description }, onFailure: () => undefined });
  if (typeof said === "string") return artifacts.putText(said, mime_type === null ? {} : { mime_type });
  return artifacts.putBytes(said, { mime_type: found });
}

/** Whether a text has no more code points than these. */
function isShort(text: string, most: number): boolean {
  if (text.length <= most) return true;
  return text.length <= 2 * most && Array.from(text).length <= most;
}

function freshnessOf(value: unknown): Freshness {
  const { ttlMs, cacheScope } = objectOr(value);
  return {
    ...(typeof ttlMs === "number" && Number.isFinite(ttlMs) && { ttl_ms: Math.max(0, ttlMs) }),
    ...((cacheScope === "public" || cacheScope === "private") && { cache_scope: cacheScope }),
  };
}
