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
export { gateFetch } from "./mcp/http/gate-fetch.js";
export type { InterceptorOptions } from "./mcp/interceptor-options.js";
export type { InterceptorEvent } from "./mcp/interceptor-event.js";
export { wrapClient } from "./mcp/wrap-client.js";
