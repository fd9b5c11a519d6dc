/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Sluice for those who write an MCP client: a door in its `fetch`, or in front of the client itself. For browsers, workers
 * and Node; for servers that run as commands see `mcp-sluice/node`.
 *
 * @example
 * ```ts
 * const transport = new StreamableHTTPClientTransport(url, { fetch: gateFetch(fetch, { store, namespace: "files" }) });
 * ```
 * @module mcp-sluice/mcp
 */
export type { ArtifactForm } from "./mcp/arguments.js";
export type { DoorEvent, ExpandedEvent, FailedEvent, LinkMode, StoredEvent } from "./mcp/door.js";
export { gateFetch } from "./mcp/gate-fetch.js";
export type { FetchLike } from "./mcp/gate-fetch.js";
export type { DoorOptions } from "./mcp/open-door.js";
export type { SchemaMode } from "./mcp/schemas.js";
export { wrapClient } from "./mcp/wrap-client.js";
