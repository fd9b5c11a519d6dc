/**
 * Addresses of artifacts in a session.
 * @module
 */

/** The folder, below where a service is, in which each session has one by its key. */
export const SESSIONS = "s/";

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
