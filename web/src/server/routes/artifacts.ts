/**
 * `/artifacts`: list, upload, download, delete.
 * @module
 */
import { Hono } from "hono";
import { z } from "zod";
import { isArtifactId } from "../../artifacts/ids.js";
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import type { StoredArtifact } from "../../artifacts/store.js";
import { coreDescriber } from "../../files/user-storage.js";
import { artifactHandler } from "../artifact-handler.js";
import { artifactPage, PAGE } from "../artifact-page.js";
import { expiryOf } from "../expiry.js";
import { emptyAnswer, jsonAnswer, notFound } from "../json-answer.js";
import { inStoreTime, readInTime } from "../http/store-time.js";
import { readQuery, TRACE } from "../http/read-query.js";
import { publicRef } from "../public-ref.js";
import { methodRefused, nothingThere } from "../refusals.js";
import { scopeOf } from "../sessions/session.js";
import type { InSession, ServeEnv, ServeTerms } from "../terms.js";
import { uploadArtifact } from "./artifact-upload.js";

const ALL = "*";

const LIST = z.object({
  trace: z.union([z.literal(ALL), TRACE]).optional(),
  limit: z.coerce.number().int().min(1).max(PAGE.most).default(PAGE.usual),
  after: z.string().max(2048).optional(),
});

const ONE = z.object({ trace: TRACE.optional() });

/** The session's artifacts; with `?trace=` those of one of its runs. */
export function artifactRoutes(terms: ServeTerms): Hono<ServeEnv> {
  const describer = coreDescriber(undefined);
  return new Hono<ServeEnv>()
    .get("/", (c) => listed(c, terms))
    .post("/", (c) => uploadArtifact(c, terms, describer))
    .all("/", () => methodRefused("GET, HEAD, POST"))
    .get("/:id", (c) => served(c, terms))
    .delete("/:id", (c) => deleted(c, terms))
    .all("/:id", () => methodRefused("GET, HEAD, DELETE"))
    .get("/:id/meta", (c) => served(c, terms))
    .all("/:id/meta", () => methodRefused("GET, HEAD"));
}

async function listed(c: InSession, terms: ServeTerms): Promise<Response> {
  const session = c.get("session");
  const { trace = null, limit, after } = readQuery(c.req.raw, LIST);
  const traces = trace === ALL ? [null, ...(await terms.state.sessions.traces(session.id))] : [trace];
  const scopes = traces.map((each) => scopeOf(session, each));
  const { artifacts, next } = await inStoreTime(terms, artifactPage(terms.store, { scopes, limit, after }));
  const said = artifacts.map((artifact) => shown(artifact, expiryOf(terms.retention, artifact)));
  return jsonAnswer({ artifacts: said, ...(next !== undefined && { next }) });
}

/** With the trace, which its address needs. */
function shown(artifact: StoredArtifact, expires_at: number | null): object {
  const trace = artifact.scope.trace_id ?? null;
  return {
    ...publicRef(artifact),
    ...(trace !== null && { trace }),
    ...(expires_at !== null && { expires_at }),
  };
}

async function served(c: InSession, terms: ServeTerms): Promise<Response> {
  const { store, base, seen, retention, report } = terms;
  const { trace = null } = readQuery(c.req.raw, ONE);
  const handle = artifactHandler({
    store: readInTime(terms, store),
    scope: scopeOf(c.get("session"), trace),
    base,
    seen,
    expiresAt: (artifact) => expiryOf(retention, artifact),
    onError: report,
  });
  return (await handle(c.req.raw)) ?? nothingThere();
}

async function deleted(c: InSession, terms: ServeTerms): Promise<Response> {
  const { trace = null } = readQuery(c.req.raw, ONE);
  const id = c.req.param("id") ?? "";
  if (!isArtifactId(id)) return notFound();
  const scope = scopeOf(c.get("session"), trace);
  const wasThere = await inStoreTime(terms, new ScopedArtifacts(terms.store, scope).delete(id));
  if (!wasThere) return notFound();
  await terms.seen.add(id, scope);
  return emptyAnswer();
}
