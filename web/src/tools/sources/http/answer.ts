/**
 * An HTTP answer's body through the gate.
 * @module
 */
import type { GatedResult, Sluice, TransformOptions } from "../../../core/sluice.js";
import { chunksIn } from "../../../core/value.js";
import { adaptError, adaptFetchError, fromStatus, type ToolPlace } from "../../adapt-error.js";
import { gatedBody, type Claim } from "../body.js";
import type { HttpAnswer } from "./request.js";

const TYPE = /^\s*([!#$&^_.+\w-]{1,80}\/[!#$&^_.+\w-]{1,80})\s*(;.*)?$/s;
const TEXT =
  /^text\/|[/+]xml$|^application\/(?:(?:x-)?(?:yaml|javascript|ndjson|sh|toml)|ecmascript|jsonl|json-seq|graphql|sql|x-www-form-urlencoded)$|\+yaml$/;
const CHARSET = /;\s*charset\s*=\s*"?([\w-]+)/i;

/**
 * Takes an answer through the gate.
 *
 * @param alive told of each piece that comes.
 * @throws what `fromStatus` makes of a status that is no success, whose body is not read; what `adaptError` makes of a
 * body that breaks off, and of JSON that does so late.
 */
export async function gatedAnswer(
  { response, url }: HttpAnswer,
  sluice: Sluice,
  options: TransformOptions & { readonly signal: AbortSignal },
  place: ToolPlace,
  alive: () => void = () => undefined,
): Promise<GatedResult> {
  if (!response.ok) {
    await response.body?.cancel().catch(() => undefined);
    throw fromStatus(response.status, response.headers, place);
  }
  const { claim, mimeType } = claimOf(response.headers.get("content-type"));
  const filename = namedIn(response.headers.get("content-disposition")) ?? lastSegment(url);
  const bytes = heard(bytesOf(response, options.signal, place), alive);
  try {
    return await gatedBody({ bytes, claim, mimeType, filename }, sluice, options);
  } catch (error) {
    options.signal.throwIfAborted();
    throw adaptError(error, place);
  }
}

/** What a `Content-Type` says of a body. Another character set than UTF-8 is bytes: nothing of it is replaced. */
export function claimOf(header: string | null): { readonly claim: Claim; readonly mimeType: string | null } {
  const [, written, parameters = ""] = TYPE.exec(header ?? "") ?? [];
  if (written === undefined) return { claim: "unknown", mimeType: null };
  const mimeType = written.toLowerCase();
  const charset = CHARSET.exec(parameters)?.[1]?.toLowerCase() ?? "utf-8";
  if (/[/+]json$/.test(mimeType)) return { claim: "json", mimeType };
  const isReadable = charset === "utf-8" || charset === "utf8" || charset === "us-ascii";
  return { claim: isReadable && TEXT.test(mimeType) ? "text" : "bytes", mimeType };
}

/** The file name in a `Content-Disposition` (RFC 6266), without folders; null where it says none. */
export function namedIn(header: string | null): string | null {
  if (header === null || header.length > 4096) return null;
  const extended = /;\s*filename\*\s*=\s*utf-8'[\w-]*'([^;\s]+)/i.exec(header)?.[1];
  const decoded = extended === undefined ? null : undoPercent(extended);
  if (decoded !== null) return base(decoded);
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? [];
  const name = quoted?.replace(/\\(.)/g, "$1") ?? token;
  return name === undefined ? null : base(name);
}

function base(name: string): string | null {
  return name.split(/[/\\]/).pop() || null;
}

/** Of the path alone: queries hold secrets. */
function lastSegment({ pathname }: URL): string | null {
  const segment = pathname.split("/").pop() ?? "";
  // What has no extension is a place in an API, and no file's name.
  return segment.includes(".") ? undoPercent(segment) : null;
}

function undoPercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The bytes of a body. What breaks it off is told as `adaptFetchError` does, or by the reason of the signal. */
export async function* bytesOf(response: Response, signal: AbortSignal, place: ToolPlace): AsyncGenerator<Uint8Array> {
  try {
    yield* chunksIn(response);
  } catch (error) {
    signal.throwIfAborted();
    throw adaptFetchError(error, place);
  }
}

async function* heard(chunks: AsyncIterable<Uint8Array>, alive: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    alive();
    yield chunk;
  }
}
