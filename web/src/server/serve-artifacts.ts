/**
 * Artifacts in a service worker.
 * @module
 */
import { asStore } from "../artifacts/discover.js";
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../artifacts/store.js";
import { wrong } from "../core/call.js";
import { artifactHandler } from "./artifact-handler.js";
import type { ArtifactSessions } from "./artifact-sessions.js";
import { SESSIONS } from "./artifact-url.js";
import { failure, notFound } from "./json-answer.js";
import { isSessionKey } from "./session-key.js";

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
