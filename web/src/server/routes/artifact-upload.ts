/**
 * `POST /artifacts`: bytes as they are, streamed into the store.
 * @module
 */
import { z } from "zod";
import type { ArtifactRef, ArtifactWriter } from "../../artifacts/store.js";
import { namespaceOf } from "../../artifacts/ids.js";
import type { FileLook } from "../../core/sluice.js";
import { safeFilename } from "../file-name.js";
import { inSteps, inTime, StoreLate } from "../http/in-time.js";
import { readQuery, TRACE } from "../http/read-query.js";
import { jsonAnswer } from "../json-answer.js";
import { publicRef } from "../public-ref.js";
import { sessionRefused } from "../refusals.js";
import { announced } from "../sessions/announcing.js";
import { scopeOf } from "../sessions/session.js";
import { noteTrace } from "../sessions/traces.js";
import type { InSession, ServeTerms } from "../terms.js";
import { declaredType, MAX_FILENAME, uploadedPieces } from "../http/uploaded-pieces.js";

/** Makes what looks at one file. */
export type Describer = () => Promise<FileLook>;

/** The namespace of what nobody gave one. */
const UPLOAD = "upload";

const ASKED = z.object({
  filename: z.string().min(1).max(MAX_FILENAME).optional(),
  namespace: z.string().default(UPLOAD),
  trace: TRACE.optional(),
});

/** Stores the body. Nothing is left of one that breaks off, is too large or too slow, or whose session ends meanwhile. */
export async function uploadArtifact(c: InSession, terms: ServeTerms, describer: Describer): Promise<Response> {
  const { store, limits, base, retention } = terms;
  const request = c.req.raw;
  const session = c.get("session");
  const { filename, namespace, trace = null } = readQuery(request, ASKED);
  namespaceOf(namespace);
  const declared = declaredType(request);
  await noteTrace(session, trace, terms);
  using upload = terms.uploads.begin(session.id);
  const pieces = uploadedPieces(request, {
    maxBytes: retention.max_artifact_bytes ?? Infinity,
    idleSeconds: limits.bodySeconds,
    signal: upload.signal,
  });
  const scope = scopeOf(session, trace);
  const patience = limits.storeSeconds * 1000;
  const writer = await inTime(store.openWriter({ namespace, scope }), patience, () => new StoreLate());
  const said = { declared, filename, describer };
  let ref: ArtifactRef;
  try {
    ref = await inSteps(pieces, (watched) => written(writer, watched, said), patience);
  } catch (error) {
    const left = writer.abort();
    // A store that hangs is not waited for once more.
    if (!(error instanceof StoreLate)) await inTime(left, patience, () => new StoreLate()).catch(terms.report);
    if (upload.signal.aborted) return sessionRefused();
    throw error;
  }
  if (!(await announced(terms, session, [ref]))) return sessionRefused();
  const query = trace === null ? "" : `?trace=${encodeURIComponent(trace)}`;
  return jsonAnswer({ artifact: publicRef(ref) }, 201, { Location: `${base}artifacts/${ref.id}${query}` });
}

interface Said {
  readonly declared: string | null;
  readonly filename: string | undefined;
  readonly describer: Describer;
}

async function written(
  writer: ArtifactWriter,
  pieces: AsyncIterable<Uint8Array>,
  { declared, filename, describer }: Said,
): Promise<ArtifactRef> {
  using look = await describer();
  for await (const piece of pieces) {
    look.push(piece);
    await writer.write(piece);
  }
  const seen = look.finish();
  const mime_type = declared ?? seen.mime_type;
  const name = filename === undefined ? null : safeFilename({ id: "", filename, mime_type });
  return await writer.close({
    mime_type,
    filename: name,
    source: { origin: "uploaded", description: seen.description },
  });
}
