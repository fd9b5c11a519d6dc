/// <reference lib="esnext.disposable" preserve="true" />
/**
 * `mcp-sluice/serve`: sessions, artifacts, resources, events and chat over HTTP, for Node.
 * @module mcp-sluice/serve
 */
export { listen } from "./server/http/listen.js";
export type { ListeningServer, ListenOptions } from "./server/http/listen.js";
export type { ServeLimits, SluiceServerOptions } from "./server/options.js";
export type { Authenticate, Identity } from "./server/session.js";
export type { OidcOptions } from "./server/access/access-tokens.js";
export { SluiceServer } from "./server/sluice-server.js";
export { memoryState } from "./server/state.js";
export type { ServeState } from "./server/state.js";
