/**
 * The mark by which the door knows a request before the client has given it an id. It never leaves the process.
 * @module
 */
import { requestOf, type ClientRequest } from "../../../mcp/client-request.js";
import { objectOr, stringOr } from "../../../mcp/rpc.js";

const MARK = "sluice/expectation";

/** What a request's `_meta` carries. */
export function marked(key: string): Record<string, unknown> {
  return { [MARK]: key };
}

/** A request, its mark, and what the server is sent. */
export interface Unmarked {
  readonly request: ClientRequest;
  readonly key: string | undefined;
  readonly forward: Uint8Array;
}

/** Reads a message of the client's and takes the mark off; undefined for what is no request. */
export function unmarked(bytes: Uint8Array): Unmarked | undefined {
  const request = requestOf(bytes);
  if (request === undefined) return undefined;
  const { [MARK]: mark, ...meta } = objectOr(request.params["_meta"]);
  const key = stringOr(mark);
  if (key === undefined) return { request, key, forward: bytes };
  const { _meta: _, ...params } = request.params;
  const message = {
    jsonrpc: "2.0",
    id: JSON.parse(request.id) as unknown,
    method: request.method,
    params: Object.keys(meta).length === 0 ? params : { ...params, _meta: meta },
  };
  return { request, key, forward: new TextEncoder().encode(JSON.stringify(message)) };
}
