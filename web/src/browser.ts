/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Everything of `mcp-sluice`, and what only browsers have: on pages, in workers and in service workers.
 *
 * @example
 * ```ts
 * const store = new IndexedDbArtifactStore({ name: "my-files" });
 * await store.open();
 * const sluice = await createSluice({ store });
 * ```
 * @module mcp-sluice/browser
 */
export * from "./index.js";
export { IndexedDbArtifactStore } from "./artifacts/indexed-db/indexed-db-store.js";
export type { IndexedDbStoreOptions } from "./artifacts/indexed-db/indexed-db-store.js";
export { artifactHandler } from "./server/artifacts/handler.js";
export type { ArtifactHandlerOptions } from "./server/artifacts/handler.js";
export { safeFilename } from "./server/artifacts/headers.js";
export { IndexedDbArtifactSessions } from "./server/artifacts/indexed-db-sessions.js";
export type { IndexedDbSessionsOptions } from "./server/artifacts/indexed-db-sessions.js";
export { artifactUrl, endSession, serveArtifacts } from "./server/artifacts/service.js";
export type { ArtifactService, ArtifactUrlOptions, ServeArtifactsOptions } from "./server/artifacts/service.js";
export { MemoryArtifactSessions } from "./server/artifacts/sessions.js";
export type { ArtifactSessions } from "./server/artifacts/sessions.js";
