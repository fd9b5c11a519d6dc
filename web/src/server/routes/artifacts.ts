/**
 * `/artifacts`: list, upload, download, delete.
 * @module
 */
import type { Hono } from "hono";
import { z } from "zod";
import { isArtifactId } from "../../artifacts/reference.js";
import type { Retention } from "../../artifacts/retention/policy.js";
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import type { ArtifactRef, ArtifactWriter, StoredArtifact } from "../../artifacts/store.js";
import type { FileClaim, FileLook } from "../../core/sluice.js";
import { writerOf } from "../../artifacts/writer.js";
import { namespaceOf } from "../../errors/arguments.js";
import { coreDescriber } from "../../files/user-storage.js";
import { artifactHandler } from "../artifacts/handler.js";
import { safeFilename } from "../artifacts/headers.js";
import { artifactPage, PAGE } from "../artifacts/page.js";
import { announced, publicRef } from "../sessions/announcer.js";
import { declaredType, MAX_FILENAME, readQuery, TRACE, uploadedPieces } from "../http/request.js";
import { inSteps, inStoreTime, inTime, limitedStore, StoreLate } from "../http/time-limit.js";
import { emptyAnswer, jsonAnswer, notFound } from "../http/answers.js";
import { nothingThere, sessionRefused } from "../http/refusals.js";
import { noteTrace, scopeOf } from "../sessions/session.js";
import type { InSession, ServeEnv, ServeDeps } from "../deps.js";
import { routesOf } from "./path-methods.js";

const ALL = "*";

const LIST = z.object({
  trace: z.union([z.literal(ALL), TRACE]).optional(),
  limit: z.coerce.number().int().min(1).max(PAGE.most).default(PAGE.usual),
  after: z.string().max(2048).optional(),
});

const ONE = z.object({ trace: TRACE.optional() });

/** The session's artifacts, or those of a trace with `?trace=`. */
export function artifactRoutes(deps: ServeDeps): Hono<ServeEnv> {
  const describer = coreDescriber(undefined);
  return routesOf({
    "/": { get: (c) => listed(c, deps), post: (c) => uploadArtifact(c, deps, describer) },
    "/:id": { get: (c) => served(c, deps), delete: (c) => deleted(c, deps) },
    "/:id/meta": { get: (c) => served(c, deps) },
  });
}

async function listed(c: InSession, deps: ServeDeps): Promise<Response> {
  const session = c.get("session");
  const { trace = null, limit, after } = readQuery(c.req.raw, LIST);
  const traces = trace === ALL ? [null, ...(await deps.state.sessions.traces(session.id))] : [trace];
  const scopes = traces.map((each) => scopeOf(session, each));
  const { artifacts, next } = await inStoreTime(deps, artifactPage(deps.store, { scopes, limit, after }));
  const said = artifacts.map((artifact) => shown(artifact, expiryOf(deps.retention, artifact)));
  return jsonAnswer({ artifacts: said, ...(next !== undefined && { next }) });
}

/** An artifact with its trace, which its address needs. */
function shown(artifact: StoredArtifact, expires_at: number | null): object {
  const trace = artifact.scope.trace_id ?? null;
  return {
    ...publicRef(artifact),
    ...(trace !== null && { trace }),
    ...(expires_at !== null && { expires_at }),
  };
}

async function served(c: InSession, deps: ServeDeps): Promise<Response> {
  const { store, base, seen, retention, report } = deps;
  const { trace = null } = readQuery(c.req.raw, ONE);
  const handle = artifactHandler({
    store: limitedStore(deps, store),
    scope: scopeOf(c.get("session"), trace),
    base,
    seen,
    expiresAt: (artifact) => expiryOf(retention, artifact),
    onError: report,
  });
  return (await handle(c.req.raw)) ?? nothingThere();
}

async function deleted(c: InSession, deps: ServeDeps): Promise<Response> {
  const { trace = null } = readQuery(c.req.raw, ONE);
  const id = c.req.param("id") ?? "";
  if (!isArtifactId(id)) return notFound();
  const scope = scopeOf(c.get("session"), trace);
  const wasThere = await inStoreTime(deps, new ScopedArtifacts(deps.store, scope).delete(id));
  if (!wasThere) return notFound();
  await deps.seen.add(id, scope);
  return emptyAnswer();
}

/** Makes a describer of one file. */
type Describer = (said: FileClaim) => Promise<FileLook>;

/** The default namespace. */
const UPLOAD = "upload";

const ASKED = z.object({
  filename: z.string().min(1).max(MAX_FILENAME).optional(),
  namespace: z.string().default(UPLOAD),
  trace: TRACE.optional(),
});

/**
 * Stores the body. Nothing remains of one that breaks off, is too large or too slow, or whose session ends meanwhile.
 */
async function uploadArtifact(c: InSession, deps: ServeDeps, describer: Describer): Promise<Response> {
  const { store, limits, base, retention } = deps;
  const request = c.req.raw;
  const session = c.get("session");
  const { filename, namespace, trace = null } = readQuery(request, ASKED);
  namespaceOf(namespace);
  const declared = declaredType(request);
  await noteTrace(session, trace, deps);
  using upload = deps.sessionWork.upload(session.id);
  const pieces = uploadedPieces(request, {
    maxBytes: retention.max_artifact_bytes ?? Infinity,
    idleSeconds: limits.bodySeconds,
    signal: upload.signal,
  });
  const scope = scopeOf(session, trace);
  const timeout = limits.storeSeconds * 1000;
  const writer = await inTime(writerOf(store, { namespace, scope }), timeout, () => new StoreLate());
  const said = { declared, filename, describer };
  let ref: ArtifactRef;
  try {
    ref = await inSteps(pieces, (watched) => written(writer, watched, said), timeout);
  } catch (error) {
    const left = writer.abort();
    // A store that hangs is not waited for again.
    if (!(error instanceof StoreLate)) await inTime(left, timeout, () => new StoreLate()).catch(deps.report);
    if (upload.signal.aborted) return sessionRefused();
    throw error;
  }
  if (!(await announced(deps, session, [ref]))) return sessionRefused();
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
  using look = await describer({ mime_type: declared, filename });
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

/** When an artifact expires, in milliseconds since 1970, or null. It may be deleted earlier to make room. */
function expiryOf({ ttl_seconds, ttl_from }: Retention, artifact: StoredArtifact): number | null {
  if (ttl_seconds === null) return null;
  const since = ttl_from === "used" ? artifact.used_at : artifact.stored_at;
  return Math.floor(since) + ttl_seconds * 1000;
}
