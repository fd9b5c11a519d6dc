/**
 * A service worker that serves artifacts and users' files, and a page to ask it from. Its stores are filled and emptied by messages.
 * @module
 */
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { UserFiles } from "../../../web/src/files/user-files.js";
import { IndexedDbArtifactSessions } from "../../../web/src/server/artifacts/indexed-db-sessions.js";
import { serveArtifacts, type FetchEventLike } from "../../../web/src/server/artifacts/service.js";
import { SESSIONS_NAME, type Order } from "./orders.js";

interface Lasting extends Event {
  waitUntil(work: Promise<unknown>): void;
}

/** What a service worker's global scope has beyond a window's. */
interface ServiceWorkerScope {
  readonly registration: ServiceWorkerRegistration;
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void> };
  addEventListener(type: "install" | "activate", listener: (event: Lasting) => void): void;
  addEventListener(type: "fetch", listener: (event: Event & FetchEventLike) => void): void;
  addEventListener(type: "message", listener: (event: MessageEvent<Order> & Lasting) => void): void;
}

const worker = globalThis as unknown as ServiceWorkerScope;
const store = new MemoryArtifactStore({ retention: null });
const sessions = new IndexedDbArtifactSessions({ name: SESSIONS_NAME });
const userFiles = new UserFiles({ store: new MemoryArtifactStore({ retention: null }) });
const artifacts = serveArtifacts({ sessions, store: userFiles.within(store, "files") });

worker.addEventListener("install", (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (event) => {
  if (artifacts.respond(event)) return;
  if (event.request.url !== `${worker.registration.scope}page`) return;
  const page = new Response("<!doctype html><title>page</title>", { headers: { "Content-Type": "text/html" } });
  event.respondWith(Promise.resolve(page));
});
worker.addEventListener("message", (event) => event.waitUntil(done(event)));

async function done({ data: order, ports }: MessageEvent<Order>): Promise<void> {
  const answer = await carriedOut(order);
  for (const port of ports) port.postMessage(answer);
}

async function carriedOut(order: Order): Promise<string | boolean> {
  if (order.act === "put") return (await store.putBytes(order.bytes, order.info)).id;
  if (order.act === "delete") return store.delete(order.id, order.scope);
  return (await userFiles.storage(order.scope).put(order.name, order.bytes)).id;
}
