/**
 * The bytes of one artifact, as a request wants them.
 * @module
 */
import type { Span } from "../artifacts/bytes.js";
import type { ScopedArtifacts } from "../artifacts/scoped.js";
import type { StoredArtifact } from "../artifacts/store.js";
import { bodyOf } from "./body.js";
import { rangeCounts, verdictOf } from "./conditions.js";
import { artifactHeaders, entityTag } from "./headers.js";
import { refusal } from "./json-answer.js";
import { requestedSpan } from "./range-header.js";

/**
 * Answers with 200, 206, 304, 412 or 416. A `HEAD` opens nothing: it is no use of the artifact.
 *
 * @throws SluiceError E_NOT_FOUND and E_EXPIRED when the artifact went meanwhile, E_STORE_… for what fails before the
 * first byte; what fails behind it errors the body.
 */
export async function serveBytes(
  request: Request,
  artifact: StoredArtifact,
  artifacts: Pick<ScopedArtifacts, "open">,
): Promise<Response> {
  const { headers, method } = request;
  const tag = entityTag(artifact);
  const verdict = verdictOf(headers, tag);
  if (verdict === "failed") return changed();
  const said = artifactHeaders(artifact, wantsDownload(request) ? "attachment" : "inline");
  // With type and name, since those may have changed while the bytes did not.
  if (verdict === "not_modified") return new Response(null, { status: 304, headers: said });

  const size = artifact.size_bytes;
  // A range is defined for GET alone (RFC 9110 §14.2).
  const isRanged = method === "GET" && rangeCounts(headers, tag);
  const span = isRanged ? requestedSpan(headers.get("range"), size) : null;
  if (span === "unsatisfiable") return outOfRange(size);
  const { start, end } = span ?? { start: 0, end: size };
  const body = method === "HEAD" ? null : await opened(artifact, artifacts, { start, end });
  return new Response(body, {
    status: span === null ? 200 : 206,
    headers: {
      ...said,
      "Content-Length": String(end - start),
      ...(span !== null && { "Content-Range": `bytes ${start}-${end - 1}/${size}` }),
    },
  });
}

async function opened(
  { id }: StoredArtifact,
  artifacts: Pick<ScopedArtifacts, "open">,
  range: Span,
): Promise<BodyInit> {
  return bodyOf(await artifacts.open(id, { range }), range.end - range.start);
}

/** `?download`, `?download=1`; not `?download=0` or `=false`. */
function wantsDownload(request: Request): boolean {
  const value = new URL(request.url).searchParams.get("download");
  return value !== null && value !== "0" && value !== "false";
}

function changed(): Response {
  const message = "The artifact is not the one that If-Match names: ask without it for the one that is here.";
  return refusal(412, "E_INVALID_ARGUMENT", message);
}

function outOfRange(size: number): Response {
  const message = `The range has no byte of the artifact, which has ${size}: ask for one that begins before its end.`;
  return refusal(416, "E_INVALID_ARGUMENT", message, { "Accept-Ranges": "bytes", "Content-Range": `bytes */${size}` });
}
