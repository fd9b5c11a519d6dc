/**
 * Resource links that the host reads, if `resources.auto_read_if_size_under_bytes` says so, and what their blocks show of them.
 * @module
 */
import { isTruncated } from "../artifacts/reference.js";
import { SluiceError } from "../errors/error.js";
import { plainType } from "./media-type.js";
import type { AnswerRef, Transformed } from "./types.js";
import { checkRef, toInfo, type MessageDeps } from "./store-access.js";

/** What the block of a link shows of its content. */
interface LinkOutcome {
  readonly fetched: boolean;
  readonly artifact?: unknown;
  readonly summary?: unknown;
  readonly preview?: unknown;
  /** The beginning of JSON that is not stored. */
  readonly beginning?: unknown;
  readonly text?: unknown;
  readonly fetch_error?: string;
}

/** What the block of a link shows, and the artifacts that were stored for it. */
interface LinkRead {
  readonly outcome: LinkOutcome;
  readonly artifacts: readonly AnswerRef[];
}

/** For the host. The model learns only that the resource could not be read. */
const NO_RESULT = "readResource must give a resources/read result: an object with contents, each with text or a blob.";

type Content = Readonly<Record<string, unknown>>;

/**
 * Reads `uri`. Bytes and large texts become an artifact, a small text stays. Throws the signal's reason, and store errors if those
 * are to be thrown: neither is the resource's failure.
 */
export async function readLink(uri: string, deps: MessageDeps): Promise<LinkRead> {
  const { access, options } = deps;
  const { readResource, signal } = options;
  if (readResource === undefined) return { outcome: { fetched: false }, artifacts: [] };
  try {
    return await gateResource(await access.ended(readResource(uri)), deps);
  } catch (error) {
    signal?.throwIfAborted();
    if (access.caused(error)) throw error;
    // The reason may hold paths or tokens of the host.
    return { outcome: { fetched: false, fetch_error: "the resource could not be read" }, artifacts: [] };
  }
}

/** Passes the resource through the gate like any result. A plain text has limits of its own. */
async function gateResource(result: unknown, deps: MessageDeps): Promise<LinkRead> {
  if (!isReadResult(result)) throw new SluiceError("E_INVALID_ARGUMENT", NO_RESULT);
  const { readResource: _, ...options } = deps.options;
  const answer = await deps.reduce(result, { ...options, dialect: "observation" }, deps.access);
  const [only, ...more] = result.contents;
  const text = only?.["text"];
  if (more.length > 0 || typeof text !== "string" || !isPlain(text, answer.artifacts)) return toLinkRead(answer);
  const { inlineTextUnderChars, cacheReads } = deps.resources;
  const small = text.length < 2 * inlineTextUnderChars && Array.from(text).length < inlineTextUnderChars;
  if (!small && answer.artifacts.length > 0) return toLinkRead(answer);
  if (small && !cacheReads) return { outcome: { fetched: true, text }, artifacts: answer.artifacts };
  const ref = await storeText(text, only?.["mimeType"], deps);
  // Without a store the text stands in the answer, as the gate left it.
  if (ref === null) return { outcome: { fetched: true, text }, artifacts: answer.artifacts };
  return { outcome: { fetched: true, artifact: toNamedContent(ref), ...(small && { text }) }, artifacts: [ref] };
}

/** Whether the gate found nothing in a text, or only that it is long. */
function isPlain(text: string, artifacts: readonly AnswerRef[]): boolean {
  const [whole, ...more] = artifacts;
  return more.length === 0 && (whole === undefined || whole.size_bytes === new TextEncoder().encode(text).length);
}

/** Shows one reduced content in the fields of its block, several as text. */
function toLinkRead({ value, text, clamped, artifacts }: Transformed): LinkRead {
  const contents = listContents(value);
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

/** Whether the host gave a `resources/read` result, or contents that are artifacts already. */
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

/** Stores a text. Null if the store refuses or there is none. */
function storeText(text: string, mimeType: unknown, deps: MessageDeps): Promise<AnswerRef | null> {
  const { access, options } = deps;
  const type = plainType(typeof mimeType === "string" ? mimeType : null);
  const info = { ...toInfo(options, {}), ...(type !== undefined && { mime_type: type }) };
  const put = async (): Promise<AnswerRef | null> => {
    const ref = await access.call("write", async (store) => checkRef(await store.putText(text, info)));
    return isTruncated(ref) ? null : ref;
  };
  return access.attempt(put, () => null);
}

/** The contents of a reduced result. A list or result that was diverted as a whole is one content. */
function listContents(value: unknown): readonly Content[] {
  const { contents = value } = Object(value) as Content;
  return [contents].flat().filter((each): each is Content => typeof each === "object" && each !== null);
}

/** The fields of a ref that a model may see. */
function toNamedContent({ id, mime_type, size_bytes, filename, source }: AnswerRef): Content {
  const { warning } = source;
  return {
    id,
    mime_type: plainType(mime_type) ?? null,
    size_bytes,
    ...(filename !== null && { filename }),
    ...(warning !== undefined && { source: { warning, truncated: true } }),
  };
}
