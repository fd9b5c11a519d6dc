/**
 * What a server answered to `resources/read`, behind the gate, as contents: texts that are short enough, and artifacts.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../../../artifacts/store.js";
import type { AnswerRef, Sluice, Transformed } from "../../../core/sluice.js";
import { SluiceError } from "../../../errors/error.js";
import { objectOr, stringOr } from "../../../mcp/rpc.js";
import type { Freshness, ReadContent, ReadResult } from "../../resources/connection.js";
import { MAX_HELD } from "./limits.js";

/** How a resource is read. */
export interface Reading {
  readonly scope: ArtifactScope;
  readonly namespace: string;
  /** Characters of a text that stay. */
  readonly inlineChars: number;
  readonly signal: AbortSignal;
}

/** Where artifacts are, and what knows files. */
interface Means {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
}

/** One content as it came; where bytes or a long text stood, their reference. */
interface Entry {
  readonly content: Readonly<Record<string, unknown>>;
  /** Whether its texts may be references of ours. */
  readonly isReduced: boolean;
}

/** A reference that is a whole string. */
const REFERENCE = /^artifact:\/\/([\w.-]+)(?:\?[^\s"]*)?$/;

/** Bytes of a file's beginning that tell what it is. */
const HEAD = 4096;

/**
 * The contents of a resource.
 *
 * @param reduced the result in the mcp dialect.
 * @throws SluiceError E_TOO_LARGE when there are more short texts than can be held, E_STORE_….
 */
export async function readContents(reduced: Transformed, reading: Reading, means: Means): Promise<ReadResult> {
  const refs = new Map(reduced.artifacts.map((ref) => [ref.id, ref]));
  const contents: ReadContent[] = [];
  for (const entry of await entriesOf(reduced, refs, reading, means)) {
    reading.signal.throwIfAborted();
    contents.push(await contentOf(entry, refs, reading, means));
  }
  return { contents, ...freshnessOf(reduced.value) };
}

/** A note of the core's on what it put in place of something (`_meta["sluice/refs"]`). */
interface Note {
  readonly at?: unknown;
  readonly was?: unknown;
}

async function entriesOf(
  { value, refs: notes = "[]" }: Transformed,
  refs: ReadonlyMap<string, AnswerRef>,
  { scope }: Reading,
  { store }: Means,
): Promise<readonly Entry[]> {
  const was = new Map((JSON.parse(notes) as Note[]).map(({ at, was: before }) => [at, before]));
  const whole = refOf(was.get("/contents"), refs);
  if (whole !== undefined) {
    const listed = JSON.parse(await textOf(whole, scope, store)) as unknown;
    return arrayOr(listed).map((content) => ({ content: objectOr(content), isReduced: true }));
  }
  return arrayOr(objectOr(value)["contents"]).map((content, index) => {
    const before = was.get(`/contents/${index}`);
    return { content: objectOr(before ?? content), isReduced: before !== undefined };
  });
}

async function contentOf(
  { content, isReduced }: Entry,
  refs: ReadonlyMap<string, AnswerRef>,
  reading: Reading,
  means: Means,
): Promise<ReadContent> {
  const uri = stringOr(content["uri"]) ?? "";
  const mime_type = stringOr(content["mimeType"]) ?? null;
  const isText = typeof content["text"] === "string";
  const said = stringOr(content["text"]) ?? stringOr(content["blob"]) ?? "";
  const ref = isReduced ? refOf(said, refs) : undefined;
  const { inlineChars, scope } = reading;
  if (ref === undefined) {
    if (isShort(said, inlineChars)) return { kind: "text", uri, mime_type, text: said };
    return artifact(uri, mime_type, await stored(said, mime_type, reading, means));
  }
  // Four bytes are the most that one character has.
  const maybeShort = isText && ref.source["truncated"] !== true && ref.size_bytes <= 4 * inlineChars;
  const text = maybeShort ? await textOf(ref, scope, means.store) : undefined;
  if (text !== undefined && isShort(text, inlineChars)) return { kind: "text", uri, mime_type, text };
  return artifact(uri, mime_type ?? ref.mime_type, ref);
}

function artifact(uri: string, mime_type: string | null, ref: AnswerRef): ReadContent {
  const { id, size_bytes, filename, source } = ref;
  const summary = [source["description"], source["warning"]].filter((part) => typeof part === "string").join("; ");
  return { kind: "artifact", uri, mime_type, id, size_bytes, filename, summary };
}

/** The gate lets it stay, and its reader does not. */
async function stored(
  text: string,
  mime_type: string | null,
  { scope, namespace }: Reading,
  { sluice, store }: Means,
): Promise<AnswerRef> {
  const bytes = new TextEncoder().encode(text);
  const { description } = sluice.sniff(bytes.subarray(0, HEAD), bytes.length);
  return store.putText(text, { scope, namespace, source: { description }, ...(mime_type !== null && { mime_type }) });
}

/** A stored text. Throws E_NOT_FOUND when the store did not keep it. */
async function textOf(ref: AnswerRef, scope: ArtifactScope, store: ArtifactStore): Promise<string> {
  if (ref.size_bytes > MAX_HELD) {
    throw new SluiceError("E_TOO_LARGE", "The resource has more contents than can be held: read less at a time.");
  }
  const bytes = await store.get(ref.id, scope);
  if (bytes === null) throw new SluiceError("E_NOT_FOUND", "The store did not keep what was read: read it again.");
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function refOf(said: unknown, refs: ReadonlyMap<string, AnswerRef>): AnswerRef | undefined {
  const [, id = ""] = REFERENCE.exec(stringOr(said) ?? "") ?? [];
  return refs.get(id);
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

function arrayOr(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}
