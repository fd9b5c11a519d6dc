/**
 * Serves artifacts of sessions in a service worker: their addresses, and ending a session.
 * @module
 */
import { asStore } from "../../artifacts/host-store.js";
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../../artifacts/store.js";
import { checkOptionNames, wrong } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import { failure, notFound } from "../http/answers.js";
import { artifactHandler } from "./handler.js";
import { isSessionKey, type ArtifactSessions } from "./sessions.js";

/** The part of a service worker's `FetchEvent` that is used. */
export interface FetchEventLike {
  /** The request. */
  readonly request: Request;
  /** Takes the answer, while the event is dispatched. */
  respondWith(response: Promise<Response>): void;
}

/** The store of sessions' artifacts: one for all, or one for each scope. */
type SessionStore = ArtifactStore | ((scope: ArtifactScope) => ArtifactStore);

/** Options of {@link serveArtifacts}. */
export interface ServeArtifactsOptions {
  /** The sessions. */
  readonly sessions: ArtifactSessions;
  /** The store. */
  readonly store: SessionStore;
  /** The address above the sessions. Defaults to the `scope` of the service worker's registration. */
  readonly base?: string | URL;
  /** When an artifact expires, in milliseconds since 1970, if known. Shown in `…/meta`. */
  readonly expiresAt?: (artifact: StoredArtifact) => number | null;
}

/** Answers requests in a service worker. */
export interface ArtifactService {
  /** Call it in a `fetch` listener. Returns true if it answers, false for other addresses. */
  respond(event: FetchEventLike): boolean;
}

/**
 * Serves `{base}s/{key}/artifacts/{id}` and `…/meta`, as {@link artifactHandler} does, to anyone who has the key of a session
 * that has not ended. Everything below `{base}s/` gets an answer: unknown and forbidden addresses give the same 404.
 *
 * @example
 * const artifacts = serveArtifacts({ sessions: new IndexedDbArtifactSessions(), store });
 * self.addEventListener("fetch", (event) => artifacts.respond(event));
 * @throws SluiceError E_INVALID_ARGUMENT when the store is none, or there is no address.
 */
export function serveArtifacts(options: ServeArtifactsOptions): ArtifactService {
  checkOptionNames(options, "serveArtifacts", ["base", "expiresAt", "sessions", "store"]);
  const { sessions, store, expiresAt } = options;
  if (typeof store !== "function") asStore(store);
  const root = new URL(SESSIONS, options.base ?? scopeOfWorker());

  return {
    respond(event): boolean {
      const { origin, pathname } = new URL(event.request.url);
      if (origin !== root.origin || !pathname.startsWith(root.pathname)) return false;
      event.respondWith(answerInSession(event.request, pathname.slice(root.pathname.length)));
      return true;
    },
  };

  async function answerInSession(request: Request, rest: string): Promise<Response> {
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
  throw wrong("base", "the address that sessions are below; only a service worker may choose its own");
}

/** The folder of all sessions. Each has a folder named by its key. */
const SESSIONS = "s/";

/** Options of an artifact's address. */
export interface ArtifactUrlOptions {
  /** Saves the file instead of showing it. */
  readonly download?: boolean;
  /** The metadata instead of the bytes. */
  readonly meta?: boolean;
  /**
   * The address of the service: the `scope` of the service worker's registration. Defaults to a relative address, for
   * pages in that folder.
   */
  readonly base?: string | URL;
}

/**
 * The address of an artifact, as {@link serveArtifacts} answers it. It contains the session's key: use it in this
 * browser only, and never log or send it.
 *
 * To save a file, link to the address with `download: true`. Do not set the attribute `download`: browsers then
 * bypass the service worker.
 *
 * @example
 * image.src = artifactUrl(key, ref.id);
 */
export function artifactUrl(key: string, id: string, options: ArtifactUrlOptions = {}): string {
  const {
    download = false,
    meta = false,
    base,
  } = checkOptionNames(options, "artifactUrl", ["base", "download", "meta"]);
  const path = `${SESSIONS}${encodeURIComponent(key)}/artifacts/${encodeURIComponent(id)}`;
  const relative = `${path}${meta ? "/meta" : ""}${download ? "?download" : ""}`;
  return base === undefined ? relative : new URL(relative, base).href;
}

/**
 * Ends a session: its key opens nothing any more, then all artifacts of its scope are deleted. Does nothing for an
 * unknown key.
 *
 * @returns how many artifacts were deleted.
 * @throws SluiceError E_STORE_… if some could not be deleted. The key opens nothing all the same, and ending the
 * session again tries the rest.
 */
export async function endSession(
  key: string,
  stores: { readonly sessions: ArtifactSessions; readonly store: SessionStore },
): Promise<number> {
  const { sessions, store } = checkOptionNames(stores, "endSession", ["sessions", "store"]);
  const scope = await sessions.end(key);
  if (scope === null) return 0;
  const deleted = await deleteAll(new ScopedArtifacts(typeof store === "function" ? store(scope) : store, scope));
  await sessions.forget(key);
  return deleted;
}

/** Most concurrent deletions. */
const AT_ONCE = 8;

/**
 * Deletes all artifacts of a scope, even if some fail.
 *
 * @returns how many were deleted.
 * @throws SluiceError E_STORE_… for the first that could not be.
 */
export async function deleteAll(artifacts: ScopedArtifacts): Promise<number> {
  const ids: string[] = [];
  try {
    for await (const { id } of artifacts.list()) ids.push(id);
  } catch (error) {
    throw storageError(error, "read");
  }
  let [deleted, first]: [number, unknown] = [0, undefined];
  const worker = async (): Promise<void> => {
    for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
      try {
        if (await artifacts.delete(id)) deleted += 1;
      } catch (error) {
        // Retention was faster.
        if (!(error instanceof SluiceError && error.code === "E_EXPIRED")) first ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (first !== undefined) throw storageError(first, "write");
  return deleted;
}
