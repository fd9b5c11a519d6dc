/**
 * `/artifacts`: list, upload, download, delete.
 * @module
 */
import type { Hono } from "hono";
import { z } from "zod";
import { isArtifactId } from "../../artifacts/reference.js";
import type { Retention } from "../../artifacts/retention/policy.js";
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import type { ArtifactRef, ArtifactStore, ArtifactWriter, StoredArtifact } from "../../artifacts/store.js";
import type { FileClaim, FileLook } from "../../core/types.js";
import { openWriter } from "../../artifacts/writer.js";
import { NAMESPACE } from "../../errors/arguments.js";
import { coreDescriber } from "../../files/user-storage.js";
import { artifactHandler, type SeenArtifacts } from "../artifacts/handler.js";
import { safeFilename } from "../artifacts/headers.js";
import { artifactPage, PAGE } from "../artifacts/page.js";
import { announceStored, type AnnouncingDeps, publicRef } from "../sessions/announcer.js";
import { MAX_FILENAME, TRACE } from "../http/request.js";
import { inSteps, inStoreTime, inTime, limitStore, StoreLate, type StoreTimeouts } from "../http/time-limit.js";
import { emptyAnswer, jsonAnswer, notFound } from "../http/answers.js";
import { nothingThere, sessionRefused } from "../http/refusals.js";
import { toScope } from "../session.js";
import { noteTrace, type SessionRegister } from "../sessions/session-register.js";
import type { SessionWork } from "../sessions/session-work.js";
import type { InSession, ServeEnv } from "../http/context.js";
import {
  answerBytes,
  answerJson,
  answerEmpty,
  declareOperation,
  mountRoutes,
  UPLOAD,
  type Upload,
} from "../http/operation.js";
import { BYTES_ASKED, BYTES_HEADERS, ID, REFERENCE, STORED } from "../schemas.js";

const ALL = "*";

const LIST = z.object({
  trace: z
    .union([z.literal(ALL), TRACE])
    .optional()
    .describe("Those of a trace; `*` for those of all."),
  limit: z.coerce.number().int().min(1).max(PAGE.most).default(PAGE.usual).describe("Most artifacts of the page."),
  after: z.string().max(2048).optional().describe("The `next` of the page before."),
});

const LISTED = z.object({
  artifacts: z.array(STORED).describe("Oldest first."),
  next: z.string().optional().describe("What the next page begins after. Left out on the last page."),
});

const ONE_TRACE = TRACE.optional().describe("The trace that it was stored under.");
const ONE = z.object({ trace: ONE_TRACE });
const READ = ONE.extend({
  download: z.string().optional().describe("Saves the bytes instead of showing them; `0` and `false` do not."),
});
const PATH = z.object({ id: ID });

const UPLOADING = z.object({
  filename: z.string().min(1).max(MAX_FILENAME).optional().describe("The file name."),
  namespace: z
    .string()
    .regex(NAMESPACE, "1 to 64 characters, each an ASCII letter, a digit, '-', '_' or '.'")
    .default("upload")
    .describe("The first part of the id."),
  trace: TRACE.optional().describe("The trace to store it under."),
});

const UPLOADED = z.object({ artifact: REFERENCE });

const READ_ANSWERS = {
  200: answerBytes("All bytes.", BYTES_HEADERS),
  206: answerBytes("The range of bytes.", { ...BYTES_HEADERS, "Content-Range": "Which bytes of how many." }),
  304: answerEmpty("The bytes have an entity tag of `If-None-Match`.", { ETag: BYTES_HEADERS["ETag"] ?? "" }),
};

interface ArtifactRouteDeps extends AnnouncingDeps, StoreTimeouts {
  readonly store: ArtifactStore;
  /** The limits of the store. */
  readonly retention: Retention;
  readonly state: { readonly sessions: Pick<SessionRegister, "addTrace" | "find" | "traces"> };
  readonly limits: StoreTimeouts["limits"] & { readonly bodySeconds: number };
  /** Begins and ends with `/`. */
  readonly base: string;
  readonly seen: SeenArtifacts;
  readonly sessionWork: Pick<SessionWork, "upload">;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
}

/** The session's artifacts, or those of a trace with `?trace=`. */
export function artifactRoutes(deps: ArtifactRouteDeps): Hono<ServeEnv> {
  const describer = coreDescriber(undefined);
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "listArtifacts",
        summary: "List the session's artifacts",
        query: LIST,
        answers: { 200: answerJson(LISTED, "A page of artifacts.") },
        handle: (c, { query }) => listArtifacts(c, deps, query),
      }),
      post: declareOperation({
        id: "uploadArtifact",
        summary: "Store bytes",
        description:
          "The body is the bytes. `Content-Type` says what they are; without one, or with a general one, it is found out.",
        query: UPLOADING,
        body: UPLOAD,
        answers: {
          201: answerJson(UPLOADED, "They are stored.", { Location: "The artifact's address." }),
        },
        refusals: [507],
        handle: (c, { query, body }) => uploadArtifact(c, { ...query, body }, deps, describer),
      }),
    },
    "/:id": {
      get: declareOperation({
        id: "readArtifact",
        summary: "Download an artifact",
        description: "The bytes, streamed. Whatever they are, they run nothing and reach no network.",
        path: PATH,
        query: READ,
        headers: BYTES_ASKED,
        answers: READ_ANSWERS,
        refusals: [404, 410, 412, 416],
        handle: (c, { query }) => serveArtifact(c, deps, query),
      }),
      delete: declareOperation({
        id: "deleteArtifact",
        summary: "Delete an artifact",
        path: PATH,
        query: ONE,
        answers: { 204: answerEmpty("It is deleted. Afterwards it is 410, or 404 where another process is asked.") },
        refusals: [404],
        handle: (c, { path, query }) => deleteArtifact(c, deps, { ...path, ...query }),
      }),
    },
    "/:id/meta": {
      get: declareOperation({
        id: "describeArtifact",
        summary: "Show what is known of an artifact",
        path: PATH,
        query: ONE,
        answers: { 200: answerJson(STORED, "The reference, as in the list.") },
        refusals: [404, 410],
        handle: (c, { query }) => serveArtifact(c, deps, query),
      }),
    },
  });
}

async function listArtifacts(
  c: InSession,
  deps: ArtifactRouteDeps,
  { trace, limit, after }: z.output<typeof LIST>,
): Promise<z.output<typeof LISTED>> {
  const session = c.get("session");
  const traces = trace === ALL ? [null, ...(await deps.state.sessions.traces(session.id))] : [trace ?? null];
  const scopes = traces.map((each) => toScope(session, each));
  const { artifacts, next } = await inStoreTime(deps, artifactPage(deps.store, { scopes, limit, after }));
  const said = artifacts.map((artifact) => toListed(artifact, computeExpiry(deps.retention, artifact)));
  return { artifacts: said, ...(next !== undefined && { next }) };
}

/** An artifact with its trace, which its address needs. */
function toListed(artifact: StoredArtifact, expires_at: number | null): z.output<typeof STORED> {
  const trace = artifact.scope.trace_id ?? null;
  return {
    ...publicRef(artifact),
    ...(trace !== null && { trace }),
    ...(expires_at !== null && { expires_at }),
  };
}

async function serveArtifact(
  c: InSession,
  deps: ArtifactRouteDeps,
  { trace }: z.output<typeof ONE>,
): Promise<Response> {
  const { store, base, seen, retention, report } = deps;
  const handle = artifactHandler({
    store: limitStore(deps, store),
    scope: toScope(c.get("session"), trace),
    base,
    seen,
    expiresAt: (artifact) => computeExpiry(retention, artifact),
    onError: report,
  });
  return (await handle(c.req.raw)) ?? nothingThere();
}

async function deleteArtifact(
  c: InSession,
  deps: ArtifactRouteDeps,
  { id, trace }: z.output<typeof PATH> & z.output<typeof ONE>,
): Promise<Response> {
  if (!isArtifactId(id)) return notFound();
  const scope = toScope(c.get("session"), trace);
  const wasThere = await inStoreTime(deps, new ScopedArtifacts(deps.store, scope).delete(id));
  if (!wasThere) return notFound();
  await deps.seen.add(id, scope);
  return emptyAnswer();
}

/** Makes a describer of one file. */
type Describer = (said: FileClaim) => Promise<FileLook>;

/**
 * Stores the body. Nothing remains of one that breaks off, is too large or too slow, or whose session ends meanwhile.
 */
async function uploadArtifact(
  c: InSession,
  { body, filename, namespace, ...named }: z.output<typeof UPLOADING> & { readonly body: Upload },
  deps: ArtifactRouteDeps,
  describer: Describer,
): Promise<Response> {
  const { store, limits, base, retention } = deps;
  const session = c.get("session");
  const declared = body.type;
  const trace = named.trace ?? null;
  await noteTrace(session, trace, deps);
  using upload = deps.sessionWork.upload(session.id);
  const pieces = body.pieces({
    maxBytes: retention.max_artifact_bytes ?? Infinity,
    idleSeconds: limits.bodySeconds,
    signal: upload.signal,
  });
  const scope = toScope(session, trace);
  const timeout = limits.storeSeconds * 1000;
  const writer = await inTime(openWriter(store, { namespace, scope }), timeout, () => new StoreLate());
  const said = { declared, filename, describer };
  let ref: ArtifactRef;
  try {
    ref = await inSteps(pieces, (watched) => writeUpload(writer, watched, said), timeout);
  } catch (error) {
    const left = writer.abort();
    // A store that hangs is not waited for again.
    if (!(error instanceof StoreLate)) await inTime(left, timeout, () => new StoreLate()).catch(deps.report);
    if (upload.signal.aborted) return sessionRefused();
    throw error;
  }
  if (!(await announceStored(deps, session, [ref]))) return sessionRefused();
  const query = trace === null ? "" : `?trace=${encodeURIComponent(trace)}`;
  const uploaded: z.output<typeof UPLOADED> = { artifact: publicRef(ref) };
  return jsonAnswer(uploaded, 201, { Location: `${base}artifacts/${ref.id}${query}` });
}

interface Said {
  readonly declared: string | null;
  readonly filename: string | undefined;
  readonly describer: Describer;
}

async function writeUpload(
  writer: ArtifactWriter,
  pieces: AsyncIterable<Uint8Array>,
  { declared, filename, describer }: Said,
): Promise<ArtifactRef> {
  using look = await describer({ mime_type: declared, filename });
  for await (const piece of pieces) {
    look.push(piece);
    await writer.write(piece);
  }
  const seen = await look.finish();
  const mime_type = declared ?? seen.mime_type;
  const name = filename === undefined ? null : safeFilename({ id: "", filename, mime_type });
  return await writer.close({
    mime_type,
    filename: name,
    source: { origin: "uploaded", description: seen.description },
  });
}

/** When an artifact expires, in milliseconds since 1970, or null. It may be deleted earlier to make room. */
function computeExpiry({ ttl_seconds, ttl_from }: Retention, artifact: StoredArtifact): number | null {
  if (ttl_seconds === null) return null;
  const since = ttl_from === "used" ? artifact.used_at : artifact.stored_at;
  return Math.floor(since) + ttl_seconds * 1000;
}
