/**
 * Artifacts of sessions in a service worker: serving them, their addresses, and "End session".
 * @module
 */
import { asStore } from "../../artifacts/host-store.js";
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../../artifacts/store.js";
import { wrong } from "../../errors/arguments.js";
import { storageError } from "../../errors/storage.js";
import { failure, notFound } from "../json-answer.js";
import { artifactHandler } from "./handler.js";
import { isSessionKey, type ArtifactSessions } from "./sessions.js";

/** What is needed of a service worker's `FetchEvent`. */
export interface FetchEventLike {
  /** What is asked for. */
  readonly request: Request;
  /** Takes the answer; to be called while the event is dispatched. */
  respondWith(response: Promise<Response>): void;
}

/** Where a session's artifacts are: one store for all, or one chosen by the scope. */
export type SessionStore = ArtifactStore | ((scope: ArtifactScope) => ArtifactStore);

/** Options of {@link serveArtifacts}. */
export interface ServeArtifactsOptions {
  /** Who may read what. */
  readonly sessions: ArtifactSessions;
  /** Where the artifacts are. */
  readonly store: SessionStore;
  /** The address that sessions are below; left out, the `scope` of this worker's registration. */
  readonly base?: string | URL;
  /** When an artifact goes, in milliseconds since 1970, where that is known; `…/meta` then says it. */
  readonly expiresAt?: (artifact: StoredArtifact) => number | null;
}

/** Answers what is asked of a service worker. */
export interface ArtifactService {
  /** To be called from a `fetch` listener. True when it answers; false when the request is for somebody else. */
  respond(event: FetchEventLike): boolean;
}

/**
 * Serves `{base}s/{key}/artifacts/{id}` and `…/meta`, as {@link artifactHandler} does, to whoever has the key of a session
 * that has not ended. All below `{base}s/` is answered: what opens nothing is not found, in the same words.
 *
 * @example
 * const artifacts = serveArtifacts({ sessions: new IndexedDbArtifactSessions(), store });
 * self.addEventListener("fetch", (event) => artifacts.respond(event));
 * @throws SluiceError E_INVALID_ARGUMENT when the store is none, or there is no address.
 */
export function serveArtifacts(options: ServeArtifactsOptions): ArtifactService {
  const { sessions, store, expiresAt } = options;
  if (typeof store !== "function") asStore(store);
  const root = new URL(SESSIONS, options.base ?? scopeOfWorker());

  return {
    respond(event): boolean {
      const { origin, pathname } = new URL(event.request.url);
      if (origin !== root.origin || !pathname.startsWith(root.pathname)) return false;
      event.respondWith(answered(event.request, pathname.slice(root.pathname.length)));
      return true;
    },
  };

  async function answered(request: Request, rest: string): Promise<Response> {
    try {
      return await inSession(request, rest.slice(0, rest.indexOf("/")));
    } catch (error) {
      return failure(error);
    }
  }

  async function inSession(request: Request, key: string): Promise<Response> {
    const scope = isSessionKey(key) ? await sessions.find(key) : null;
    if (scope === null) return notFound();
    const handle = artifactHandler({
      store: typeof store === "function" ? store(scope) : store,
      scope,
      base: `${root.pathname}${key}/`,
      seen: { add: (id) => sessions.note(key, id), has: (id) => sessions.noted(key, id) },
      ...(expiresAt !== undefined && { expiresAt }),
    });
    return (await handle(request)) ?? notFound();
  }
}

function scopeOfWorker(): string {
  const { registration } = globalThis as { readonly registration?: { readonly scope?: unknown } };
  if (typeof registration?.scope === "string") return registration.scope;
  throw wrong("base", "the address that sessions are below; only a service worker has one of its own");
}

/** The folder, below where a service is, in which each session has one by its key. */
const SESSIONS = "s/";

/** What is wanted of an artifact. */
export interface ArtifactUrlOptions {
  /** Save it under its name instead of showing it. */
  readonly download?: boolean;
  /** What is said of it, instead of its bytes. */
  readonly meta?: boolean;
  /**
   * Where the service is: the `scope` of the service worker's registration. Left out, the address is relative, for a page
   * that lies in that folder itself.
   */
  readonly base?: string | URL;
}

/**
 * The address of an artifact that {@link serveArtifacts} answers. It has the session's key in it: for this browser's own
 * use, never to be logged or sent on.
 *
 * A link that saves is one to this address with `download: true`. It has no attribute `download`: with that, browsers ask the
 * network, past the service worker.
 *
 * @example
 * image.src = artifactUrl(key, ref.id);
 */
export function artifactUrl(key: string, id: string, options: ArtifactUrlOptions = {}): string {
  const { download = false, meta = false, base } = options;
  const path = `${SESSIONS}${encodeURIComponent(key)}/artifacts/${encodeURIComponent(id)}`;
  const relative = `${path}${meta ? "/meta" : ""}${download ? "?download" : ""}`;
  return base === undefined ? relative : new URL(relative, base).href;
}

/**
 * Ends a session: at once its key opens nothing, then all artifacts of its scope are deleted. Does nothing for a key that
 * is unknown.
 *
 * @returns how many artifacts were deleted.
 * @throws SluiceError E_STORE_… when some could not be; the key opens nothing all the same, and ending it again tries
 * the rest.
 */
export async function endSession(
  key: string,
  { sessions, store }: { readonly sessions: ArtifactSessions; readonly store: SessionStore },
): Promise<number> {
  const scope = await sessions.end(key);
  if (scope === null) return 0;
  const artifacts = new ScopedArtifacts(typeof store === "function" ? store(scope) : store, scope);
  const ids: string[] = [];
  let deleted = 0;
  let failed: unknown;
  try {
    for await (const { id } of artifacts.list()) ids.push(id);
  } catch (error) {
    throw storageError(error, "read");
  }
  for (const id of ids) {
    try {
      if (await artifacts.delete(id)) deleted++;
    } catch (error) {
      failed ??= error;
    }
  }
  if (failed !== undefined) throw storageError(failed, "write");
  await sessions.forget(key);
  return deleted;
}
