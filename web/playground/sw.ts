/**
 * The service worker: bytes by address, My Files as a ZIP, and the page itself where there is no network.
 * @module
 */
import { downloadZip } from "client-zip";
import { sameScope } from "mcp-sluice";
import { type ArtifactService, serveArtifacts } from "mcp-sluice/browser";
import { UserStorage } from "mcp-sluice/files";
import { cleanupOutdatedCaches, precacheAndRoute, type PrecacheEntry } from "workbox-precaching";
import { keyOfArchive } from "./engine/shelves.js";
import { Stores, VISITOR } from "./engine/stores.js";

/** The globals of a service worker that this file uses; the DOM types lack them. */
interface WorkerGlobals {
  readonly __WB_MANIFEST: (PrecacheEntry | string)[];
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(kind: "fetch", listener: (event: Parameters<ArtifactService["respond"]>[0] & Event) => void): void;
  addEventListener(kind: "activate", listener: (event: { waitUntil(work: Promise<unknown>): void }) => void): void;
  addEventListener(kind: "message", listener: (event: MessageEvent<unknown>) => void): void;
}

declare const self: WorkerGlobals;

const stores = new Stores();
const artifacts = serveArtifacts({ sessions: stores.sessions, store: stores.of });

self.addEventListener("fetch", (event) => {
  if (artifacts.respond(event)) return;
  const { scope } = self.registration;
  const key = event.request.url.startsWith(scope) ? keyOfArchive(event.request.url.slice(scope.length)) : undefined;
  if (key === undefined) return;
  event.respondWith(archive(key));
  // Keep the precache from answering too.
  event.stopImmediatePropagation();
});

// oxlint-disable-next-line no-underscore-dangle -- workbox's name
precacheAndRoute(self.__WB_MANIFEST);
cleanupOutdatedCaches();

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("message", ({ data }) => {
  if (data === "take over") void self.skipWaiting();
});

async function archive(key: string): Promise<Response> {
  const scope = await stores.sessions.find(key);
  if (scope === null || !sameScope(scope, VISITOR)) return new Response("There is nothing here.", { status: 404 });
  const { body } = downloadZip(entries());
  return new Response(body, {
    headers: {
      "Content-Type": "application/zip",
      "Content-Disposition": 'attachment; filename="my-files.zip"',
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "no-store",
    },
  });
}

/** The newest version of each file. */
async function* entries(): AsyncIterable<{
  name: string;
  lastModified: Date;
  input: ReadableStream<Uint8Array>;
}> {
  const storage = new UserStorage(stores.files, VISITOR);
  for (const { id, name, stored_at } of await storage.list()) {
    const input = await stores.files.openReader(id, { scope: VISITOR });
    // Deleted meanwhile, for example in another tab.
    if (input === null) continue;
    yield { name, lastModified: new Date(stored_at), input };
  }
}
