/**
 * Reading a resource link when `resources.auto_read_if_size_under_bytes` asks for it.
 * @module
 */
import { isTruncated } from "../artifacts/unstored.js";
import { SluiceError } from "../errors/error.js";
import type { MessageSurroundings } from "./answer.js";
import { plainType } from "./media-type.js";
import type { AnswerRef, Transformed } from "./sluice.js";
import { checked, infoOf } from "./store-access.js";

/** What a link's block tells of its content. */
interface LinkOutcome {
  readonly fetched: boolean;
  readonly artifact?: unknown;
  readonly summary?: unknown;
  readonly preview?: unknown;
  /** Of JSON that is not stored. */
  readonly beginning?: unknown;
  readonly text?: unknown;
  readonly fetch_error?: string;
}

/** What came of a link, and what of it was stored. */
interface LinkRead {
  readonly outcome: LinkOutcome;
  readonly artifacts: readonly AnswerRef[];
}

/** For the host alone: the model is told that the resource could not be read. */
const NO_RESULT =
  "readResource must give a resources/read result: an object with contents, each with a text or a blob.";

type Content = Readonly<Record<string, unknown>>;

/**
 * Reads `uri` and says what came: bytes and large texts as an artifact, a small text as it is. Throws only the
 * signal's reason, and what the store fails at where that is to be thrown: neither is the resource's failure.
 */
export async function readLink(uri: string, around: MessageSurroundings): Promise<LinkRead> {
  const { access, options } = around;
  const { readResource, signal } = options;
  if (readResource === undefined) return { outcome: { fetched: false }, artifacts: [] };
  try {
    return await readOf(await access.ended(readResource(uri)), around);
  } catch (error) {
    signal?.throwIfAborted();
    if (access.caused(error)) throw error;
    // The reason may hold paths or tokens of the host: a model has no use for them.
    return { outcome: { fetched: false, fetch_error: "the resource could not be read" }, artifacts: [] };
  }
}

/** What was read passes the gate like any result; only a text with nothing in it is held to limits of its own. */
async function readOf(result: unknown, around: MessageSurroundings): Promise<LinkRead> {
  if (!isReadResult(result)) throw new SluiceError("E_INVALID_ARGUMENT", NO_RESULT);
  const { readResource: _, ...options } = around.options;
  const answer = await around.reduce(result, { ...options, dialect: "observation" }, around.access);
  const [only, ...more] = result.contents;
  const text = only?.["text"];
  if (more.length > 0 || typeof text !== "string" || !isPlain(text, answer.artifacts)) return shown(answer);
  const { inlineTextUnderChars, cacheReads } = around.resources;
  const small = text.length < 2 * inlineTextUnderChars && Array.from(text).length < inlineTextUnderChars;
  if (!small && answer.artifacts.length > 0) return shown(answer);
  if (small && !cacheReads) return { outcome: { fetched: true, text }, artifacts: answer.artifacts };
  const ref = await stored(text, only?.["mimeType"], around);
  // The gate lets it stay, so without a store it stands in the answer itself.
  if (ref === null) return { outcome: { fetched: true, text }, artifacts: answer.artifacts };
  return { outcome: { fetched: true, artifact: named(ref), ...(small && { text }) }, artifacts: [ref] };
}

/** Whether the gate found nothing in a text, or no more than that it is long. */
function isPlain(text: string, artifacts: readonly AnswerRef[]): boolean {
  const [whole, ...more] = artifacts;
  return more.length === 0 && (whole === undefined || whole.size_bytes === new TextEncoder().encode(text).length);
}

/** The reduced content of one resource in the words of its block; of several as text. */
function shown({ value, text, clamped, artifacts }: Transformed): LinkRead {
  const contents = contentsOf(value);
  const [only, ...more] = contents;
  if (clamped || only === undefined || more.length > 0) {
    return { outcome: { fetched: true, text: clamped ? text : JSON.stringify(contents) }, artifacts };
  }
  const { artifact, summary, preview, beginning, text: own } = only;
  if (artifact === undefined && own === undefined) {
    return { outcome: { fetched: true, text: JSON.stringify(contents) }, artifacts };
  }
  return { outcome: { fetched: true, artifact, summary, preview, beginning, text: own }, artifacts };
}

/** Whether a host's reader gave what MCP says, or contents of which an artifact was made already. */
function isReadResult(result: unknown): result is { readonly contents: readonly Content[] } {
  const contents = (result as Content | null | undefined)?.["contents"];
  return Array.isArray(contents) && contents.every(isContent);
}

function isContent(content: unknown): boolean {
  if (typeof content !== "object" || content === null) return false;
  const { text, blob, artifact } = content as Content;
  if (text !== undefined) return typeof text === "string";
  return typeof (blob ?? artifact) === "object" || typeof blob === "string";
}

/** Null when the store refuses, or there is none. */
function stored(text: string, mimeType: unknown, around: MessageSurroundings): Promise<AnswerRef | null> {
  const { access, options } = around;
  const type = plainType(typeof mimeType === "string" ? mimeType : null);
  const info = { ...infoOf(options, {}), ...(type !== undefined && { mime_type: type }) };
  const put = async (): Promise<AnswerRef | null> => {
    const ref = await access.call("write", async (store) => checked(await store.putText(text, info)));
    return isTruncated(ref) ? null : ref;
  };
  return access.attempt(put, () => null);
}

/** Those of a reduced result. Of a list, or a result, that was diverted as a whole that is the one content. */
function contentsOf(value: unknown): readonly Content[] {
  const { contents = value } = Object(value) as Content;
  return [contents].flat().filter((each): each is Content => typeof each === "object" && each !== null);
}

/** What a model may see of a ref. */
function named({ id, mime_type, size_bytes, filename, source }: AnswerRef): Content {
  const { warning } = source;
  return {
    id,
    mime_type: plainType(mime_type) ?? null,
    size_bytes,
    ...(filename !== null && { filename }),
    ...(warning !== undefined && { source: { warning, truncated: true } }),
  };
}
