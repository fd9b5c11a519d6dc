/** A service worker that serves artifacts, with the types that TypeScript has for one. */
import { IndexedDbArtifactSessions, IndexedDbArtifactStore, serveArtifacts } from "mcp-sluice/browser";

declare const self: ServiceWorkerGlobalScope;

const artifacts = serveArtifacts({
  sessions: new IndexedDbArtifactSessions(),
  store: new IndexedDbArtifactStore(),
});
self.addEventListener("fetch", (event: FetchEvent) => {
  const isAnswered: boolean = artifacts.respond(event);
  if (!isAnswered) event.respondWith(fetch(event.request));
});
