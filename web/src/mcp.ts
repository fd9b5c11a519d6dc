/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Sluice for authors of MCP clients: an interceptor in the client's `fetch`, or around the client itself. Runs in
 * browsers, workers and Node. For servers that run as commands, see `mcp-sluice/node`.
 *
 * @example
 * ```ts
 * const transport = new StreamableHTTPClientTransport(url, { fetch: gateFetch(fetch, { store, namespace: "files" }) });
 * ```
 * @module mcp-sluice/mcp
 */
export type { ArtifactForm } from "./mcp/arguments/arguments.js";
export type { InterceptorEvent, ExpandedEvent, FailedEvent, LinkMode, StoredEvent } from "./mcp/interceptor.js";
export { gateFetch } from "./mcp/http/gate-fetch.js";
export type { FetchLike } from "./mcp/http/gate-fetch.js";
export type { InterceptorOptions } from "./mcp/interceptor.js";
export type { SchemaMode } from "./mcp/schemas/schemas.js";
export { wrapClient } from "./mcp/wrap-client.js";
