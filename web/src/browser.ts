/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Sluice for what only browsers have: on pages, in workers and in service workers.
 *
 * @example
 * ```ts
 * const store = new IndexedDbArtifactStore({ name: "my-files" });
 * await store.open();
 * const sluice = await createSluice({ store });
 * ```
 * @module mcp-sluice/browser
 */
export { IndexedDbArtifactStore } from "./artifacts/indexed-db/indexed-db-store.js";
export type { IndexedDbStoreOptions } from "./artifacts/indexed-db/indexed-db-store.js";
export type { FullScope } from "./artifacts/scope.js";
export { artifactHandler } from "./server/artifact-handler.js";
export type { ArtifactHandler, ArtifactHandlerOptions, RequestScope } from "./server/artifact-handler.js";
export type { ArtifactSessions } from "./server/artifact-sessions.js";
export { artifactUrl } from "./server/artifact-url.js";
export type { ArtifactUrlOptions } from "./server/artifact-url.js";
export { endSession } from "./server/end-session.js";
export { IndexedDbArtifactSessions } from "./server/indexed-db-sessions.js";
export type { IndexedDbSessionsOptions } from "./server/indexed-db-sessions.js";
export { serveArtifacts } from "./server/serve-artifacts.js";
export type { ArtifactService, FetchEventLike, ServeArtifactsOptions, SessionStore } from "./server/serve-artifacts.js";
export { safeFilename } from "./server/file-name.js";
export { MemoryArtifactSessions } from "./server/memory-sessions.js";
export type { SeenArtifacts } from "./server/seen-artifacts.js";
