/// <reference lib="esnext.disposable" preserve="true" />
/**
 * `mcp-sluice/serve`: sessions, artifacts, resources, events and chat over HTTP, for Node.
 * @module mcp-sluice/serve
 */
export { listen } from "./server/http/listen.js";
export type { RequestHandler, ListeningServer, ListenOptions } from "./server/http/listen.js";
export { SluiceServer } from "./server/sluice-server.js";
export type { ServedMcp, ServeLimits, SluiceServerOptions } from "./server/options.js";
export type { Authenticate, Identity, ServedSession } from "./server/sessions/session.js";
export { memoryState } from "./server/state.js";
export type { ServeState } from "./server/state.js";
export type { EventEntry, EventLog, LoggedEvent } from "./server/sessions/event-log.js";
export type { RateLimit, RateVerdict } from "./server/state.js";
export type { EndedSession, SessionRegister, Subscription } from "./server/sessions/session-register.js";
