/**
 * OpenAPI descriptions for a test, at the address of a real API.
 * @module
 */
import { httpSource } from "../../../../../web/src/tools/sources/http/source.js";
import type { SourceConnection } from "../../../../../web/src/tools/source.js";
import type { SourceTool } from "../../../../../web/src/tools/source-features.js";
import { api, gate, list, opened, sendJson, type Api } from "../api.js";

/** A source of a description, at the address of a server that says what it was asked. */
export async function described(
  document: (origin: string) => Record<string, unknown> | string,
  { type = "application/json", path = "/openapi.json", ...deps }: Record<string, unknown> = {},
): Promise<{ readonly source: SourceConnection; readonly server: Api }> {
  const server = await api((request, response) => {
    if (request.path !== path) return sendJson(response, { ...request, query: [...request.query] });
    const written = document(server.origin);
    response
      .setHeader("content-type", String(type))
      .end(typeof written === "string" ? written : JSON.stringify(written));
  });
  const { sluice } = await gate();
  const connection = `${server.origin}${String(path)}`;
  const source = await opened(httpSource({ name: "shop", connection, sluice, ...deps }));
  return { source, server };
}

/** The only tool of one. */
export async function tool(document: Record<string, unknown>): Promise<SourceTool> {
  const { source } = await described(() => document);
  const [only, ...more] = await list(source);
  if (only === undefined || more.length > 0) throw new Error(`There are ${more.length} tools more.`);
  return only;
}

/** A description of one operation. */
export const get = (
  more: Record<string, unknown> = {},
  rest: Record<string, unknown> = {},
): Record<string, unknown> => ({
  openapi: "3.1.0",
  paths: { "/pets": { get: { operationId: "pets", ...more } } },
  ...rest,
});
