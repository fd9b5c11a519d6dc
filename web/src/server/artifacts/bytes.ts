/**
 * Answers with an artifact's bytes: conditional requests (RFC 9110 §13), ranges (§14), and a body of exactly the
 * promised length. Artifacts have a strong entity tag and no modification date, so conditions on dates do not apply.
 * @module
 */
import { getByteReader, streamFrom, type ByteReader } from "../../artifacts/byte-reader.js";
import { readRange, resolveRange, type Span } from "../../artifacts/bytes.js";
import type { ScopedArtifacts } from "../../artifacts/scoped.js";
import type { StoredArtifact } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import { refusal } from "../http/answers.js";
import { artifactHeaders, entityTag } from "./headers.js";

/**
 * Answers with 200, 206, 304, 412 or 416. A `HEAD` opens nothing, and does not count as use of the artifact.
 *
 * @throws SluiceError E_NOT_FOUND and E_EXPIRED if the artifact is gone meanwhile, E_STORE_… for failures before the
 * first byte. Later failures error the body.
 */
export async function serveBytes(
  request: Request,
  artifact: StoredArtifact,
  artifacts: Pick<ScopedArtifacts, "open">,
): Promise<Response> {
  const { headers, method } = request;
  const tag = entityTag(artifact);
  const verdict = judgeConditions(headers, tag);
  if (verdict === "failed") return refuseChanged();
  const said = artifactHeaders(artifact, wantsDownload(request) ? "attachment" : "inline");
  // With type and name, which may have changed although the bytes did not.
  if (verdict === "not_modified") return new Response(null, { status: 304, headers: said });

  const size = artifact.size_bytes;
  // A range is defined for GET alone (RFC 9110 §14.2).
  const isRanged = method === "GET" && rangeCounts(headers, tag);
  const span = isRanged ? readRequestedSpan(headers.get("range"), size) : null;
  if (span === "unsatisfiable") return outOfRange(size);
  const { start, end } = span ?? { start: 0, end: size };
  const body = method === "HEAD" ? null : await openBody(artifact, artifacts, { start, end });
  return new Response(body, {
    status: span === null ? 200 : 206,
    headers: {
      ...said,
      "Content-Length": String(end - start),
      ...(span !== null && { "Content-Range": `bytes ${start}-${end - 1}/${size}` }),
    },
  });
}

async function openBody(
  { id }: StoredArtifact,
  artifacts: Pick<ScopedArtifacts, "open">,
  range: Span,
): Promise<BodyInit> {
  return startBody(await artifacts.open(id, { range }), range.end - range.start);
}

/** `?download`, `?download=1`; not `?download=0` or `=false`. */
function wantsDownload(request: Request): boolean {
  const value = new URL(request.url).searchParams.get("download");
  return value !== null && value !== "0" && value !== "false";
}

function refuseChanged(): Response {
  const message = "The artifact differs from the one in If-Match: ask without If-Match for the current one.";
  return refusal(412, "E_INVALID_ARGUMENT", message);
}

function outOfRange(size: number): Response {
  const message = `The range is outside the artifact, which has ${size}: ask for a range that starts before its end.`;
  return refusal(416, "E_INVALID_ARGUMENT", message, { "Accept-Ranges": "bytes", "Content-Range": `bytes */${size}` });
}

/** The result of a request's conditions. */
type Verdict = "proceed" | "not_modified" | "failed";

const TAG = /(W\/)?("[^"]*")/g;

/** Evaluates `If-Match`, then `If-None-Match`, for a strong entity tag with its quotes. */
export function judgeConditions(headers: Headers, tag: string): Verdict {
  const match = headers.get("if-match");
  if (match !== null && !names(match, tag, "strong")) return "failed";
  const noneMatch = headers.get("if-none-match");
  return noneMatch !== null && names(noneMatch, tag, "weak") ? "not_modified" : "proceed";
}

/** Whether `Range` applies: not if `If-Range` names other bytes. */
export function rangeCounts(headers: Headers, tag: string): boolean {
  const condition = headers.get("if-range");
  return condition === null || condition.trim() === tag;
}

function names(list: string, tag: string, comparison: "strong" | "weak"): boolean {
  if (list.trim() === "*") return true;
  for (const [, weak, named] of list.matchAll(TAG)) {
    if (named === tag && (weak === undefined || comparison === "weak")) return true;
  }
  return false;
}

const SINGLE = /^bytes=[ \t]*([0-9-]*)[ \t]*$/i;

/**
 * The requested bytes.
 *
 * @returns null for all: no range, several ranges, or an invalid header; "unsatisfiable" if no byte of the range
 * exists.
 */
export function readRequestedSpan(header: string | null, size: number): Span | "unsatisfiable" | null {
  const range = readRange(SINGLE.exec(header ?? "")?.[1] ?? "");
  if (range === undefined || range === "backwards") return null;
  return resolveRange(range, size) ?? "unsatisfiable";
}

/**
 * Waits for the first piece, so that earlier failures can be refused, then streams the rest on demand.
 *
 * @returns a stream of exactly `length` bytes, or one that errors with a SluiceError (E_STORE_…).
 * @throws SluiceError for failures before the first byte.
 */
export async function startBody(
  stream: ReadableStream<Uint8Array>,
  length: number,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const pieces = new ExactBytes(getByteReader(stream), length);
  let first: Uint8Array | null | undefined = await pieces.next(false);
  const body = streamFrom({
    async next(reuse): Promise<Uint8Array | null> {
      if (first === undefined) return pieces.next(reuse);
      const piece = first;
      first = undefined;
      return piece;
    },
    cancel: (reason) => pieces.cancel(reason),
  });
  // No store gives views of shared memory.
  return body as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** The pieces of a reader that are not empty, with their total length checked. */
class ExactBytes implements ByteReader {
  readonly #reader: ByteReader;
  #left: number;
  #isCancelled = false;

  constructor(reader: ByteReader, length: number) {
    this.#reader = reader;
    this.#left = length;
  }

  async next(reuse: boolean): Promise<Uint8Array | null> {
    try {
      return await this.#next(reuse);
    } catch (error) {
      await this.cancel(error).catch(() => undefined);
      throw storageError(error, "read");
    }
  }

  cancel(reason: unknown): Promise<void> {
    this.#isCancelled = true;
    return this.#reader.cancel(reason);
  }

  async #next(reuse: boolean): Promise<Uint8Array | null> {
    for (;;) {
      const piece = await this.#reader.next(reuse);
      if (this.#isCancelled) return null;
      if (piece === null && this.#left > 0) throw toDamagedError();
      if (piece === null) return null;
      if (piece.byteLength > this.#left) throw toDamagedError();
      this.#left -= piece.byteLength;
      if (piece.byteLength > 0) return piece;
    }
  }
}

function toDamagedError(): SluiceError {
  return new SluiceError(
    "E_STORE_CORRUPT",
    "The stored artifact has the wrong length: delete it, and call the tool that made it.",
  );
}
