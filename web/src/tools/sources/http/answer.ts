/**
 * An HTTP answer's body through the gate; server-sent events and lines of JSON become one JSON list.
 * @module
 */
import { createParser } from "eventsource-parser";
import type { GatedResult, Sluice, TransformOptions } from "../../../core/types.js";
import { chunksIn } from "../../../core/value.js";
import { joinBytes } from "../../../artifacts/bytes.js";
import { MAX_MESSAGE } from "../../../jsonrpc/limits.js";
import { linePieces } from "../../../jsonrpc/lines.js";
import { adaptError, adaptFetchError, adaptRefusal, type Quoting } from "../../adapt-error.js";
import { badAnswer, type ToolPlace, type ToolServerError } from "../../errors.js";
import { type Claim, gateBody } from "../body.js";
import { through } from "../gated.js";
import type { HttpAnswer } from "./request.js";

const TYPE = /^\s*([!#$&^_.+\w-]{1,80}\/[!#$&^_.+\w-]{1,80})\s*(;.*)?$/s;
const TEXT =
  /^text\/|[/+]xml$|^application\/(?:(?:x-)?(?:yaml|javascript|ndjson|sh|toml)|ecmascript|jsonl|json-seq|graphql|sql|x-www-form-urlencoded)$|\+yaml$/;
const CHARSET = /;\s*charset\s*=\s*"?([\w-]+)/i;

/** Options for reading an answer. */
interface AnswerOptions extends Quoting {
  readonly alive?: (() => void) | undefined;
  readonly parts?: PartsWanted | undefined;
}

/**
 * Passes an answer through the gate.
 *
 * @param more `alive` is called for each chunk; `secrets` are removed from a quoted reason; `parts` is given if the
 *   answer may be a stream of parts.
 * @throws an error of `adaptRefusal` for an error status, of `adaptError` for a body that breaks off or is invalid.
 */
export async function gateAnswer(
  { response, url }: HttpAnswer,
  sluice: Sluice,
  options: TransformOptions & { readonly signal: AbortSignal },
  place: ToolPlace,
  { alive = () => undefined, parts, ...quoting }: AnswerOptions,
): Promise<GatedResult> {
  if (!response.ok) {
    const refusal = await adaptRefusal(response, place, quoting);
    options.signal.throwIfAborted();
    throw refusal;
  }
  const { claim, mimeType } = readClaim(response.headers.get("content-type"));
  const filename = readFileName(response.headers.get("content-disposition")) ?? lastSegment(url);
  const bytes = reportChunks(readBody(response, options.signal, place), alive);
  const list = parts && readParts(bytes, mimeType, parts, place);
  try {
    if (list !== undefined) return await through(sluice, options, list);
    return await gateBody({ bytes, claim, mimeType, filename }, sluice, options);
  } catch (error) {
    options.signal.throwIfAborted();
    throw adaptError(error, place);
  }
}

/** Reads a `Content-Type`. Text in other character sets than UTF-8 is treated as bytes, so nothing is replaced. */
export function readClaim(header: string | null): { readonly claim: Claim; readonly mimeType: string | null } {
  const [, written, parameters = ""] = TYPE.exec(header ?? "") ?? [];
  if (written === undefined) return { claim: "unknown", mimeType: null };
  const mimeType = written.toLowerCase();
  const charset = CHARSET.exec(parameters)?.[1]?.toLowerCase() ?? "utf-8";
  if (/[/+]json$/.test(mimeType)) return { claim: "json", mimeType };
  const isReadable = charset === "utf-8" || charset === "utf8" || charset === "us-ascii";
  return { claim: isReadable && TEXT.test(mimeType) ? "text" : "bytes", mimeType };
}

/** The file name in a `Content-Disposition` (RFC 6266), without folders, or null. */
export function readFileName(header: string | null): string | null {
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

/** The last segment of the path. The query is ignored, since it may hold secrets. */
function lastSegment({ pathname }: URL): string | null {
  const segment = pathname.split("/").pop() ?? "";
  // Without an extension it is not a file name.
  return segment.includes(".") ? undoPercent(segment) : null;
}

function undoPercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The bytes of a body. Errors are converted by `adaptFetchError`, or are the signal's reason. */
export async function* readBody(response: Response, signal: AbortSignal, place: ToolPlace): AsyncGenerator<Uint8Array> {
  try {
    yield* chunksIn(response);
  } catch (error) {
    signal.throwIfAborted();
    throw adaptFetchError(error, place);
  }
}

async function* reportChunks(chunks: AsyncIterable<Uint8Array>, alive: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    alive();
    yield chunk;
  }
}

/** Media types of answers in parts. */
const FORMS: Readonly<Record<string, "events" | "lines">> = {
  "text/event-stream": "events",
  "application/x-ndjson": "lines",
  "application/ndjson": "lines",
  "application/jsonl": "lines",
};

/** Which parts are read. */
interface PartsWanted {
  /** The event type, or null for all. */
  readonly event_type: string | null;
}

/** The parts of an answer as pieces of a JSON list. Undefined if its media type has none. */
function readParts(
  bytes: AsyncIterable<Uint8Array>,
  mimeType: string | null,
  { event_type }: PartsWanted,
  place: ToolPlace,
): AsyncGenerator<string> | undefined {
  const form = FORMS[mimeType ?? ""];
  if (form === undefined) return undefined;
  return writeList(form === "events" ? eventsIn(bytes, event_type, place) : linesIn(bytes, place));
}

/** Parts that are JSON are written unchanged, all others as strings. */
async function* writeList(parts: AsyncIterable<string>): AsyncGenerator<string> {
  yield "[";
  let separator = "";
  for await (const part of parts) {
    yield separator + (isJson(part) ? part : JSON.stringify(part));
    separator = ",";
  }
  yield "]";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The data of events, in order. An event ends with a blank line (WHATWG HTML "Server-sent events"). */
async function* eventsIn(
  bytes: AsyncIterable<Uint8Array>,
  type: string | null,
  place: ToolPlace,
): AsyncGenerator<string> {
  let come: string[] = [];
  const faults: unknown[] = [];
  const parser = createParser({
    maxBufferSize: MAX_MESSAGE,
    onEvent: ({ event = "message", data }) => {
      if (type === null || event === type) come.push(data);
    },
    onError: ({ type: fault }) => {
      if (fault === "max-buffer-size-exceeded") faults.push(fault);
    },
  });
  const decoder = new TextDecoder();
  for await (const piece of bytes) {
    parser.feed(decoder.decode(piece, { stream: true }));
    if (faults.length > 0) throw tooLong(place);
    const ready = come;
    come = [];
    yield* ready;
  }
}

async function* linesIn(bytes: AsyncIterable<Uint8Array>, place: ToolPlace): AsyncGenerator<string> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const { bytes: piece, last } of linePieces(bytes)) {
    size += piece.length;
    if (size > MAX_MESSAGE) throw tooLong(place);
    // The chunk's memory may be reused.
    pieces.push(piece.slice());
    if (!last) continue;
    const line = new TextDecoder().decode(joinBytes(pieces)).trim();
    pieces = [];
    size = 0;
    if (line !== "") yield line;
  }
}

function tooLong(place: ToolPlace): ToolServerError {
  const what = `answered with an event, or a line, of more than ${MAX_MESSAGE / 1024 / 1024} MiB`;
  return badAnswer(place, what, "it must send less at a time");
}
