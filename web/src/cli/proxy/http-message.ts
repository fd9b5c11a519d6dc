/**
 * Messages in the requests of HTTP clients.
 * @module
 */
import { requestOf } from "../../mcp/client-request.js";
import { errorMessage, objectOr, RpcCode } from "../../mcp/rpc.js";
import { MessageMembers } from "../../transports/members.js";
import type { HttpRequest } from "./listen-http.js";

/** A POST that carries a message. */
export interface ReadPost {
  /** What it is about, where it is too large. */
  readonly body: Uint8Array | MessageMembers;
  /** The message, parsed. */
  readonly message: unknown;
  /** JSON text of a request's id. */
  readonly id: string | undefined;
  /** Whether it is of revision 2026-07-28 or later. */
  readonly isModern: boolean;
  /** Whether it lacks what requests of such revisions have to say of themselves. */
  readonly lacksEnvelope: boolean;
  readonly acceptsEvents: boolean;
}

const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

const PARSE_ERROR = -32_700;

/** Reads a POST, or gives the response that refuses it. */
export function readPost({ headers, body }: HttpRequest): ReadPost | Response {
  const isJson = /^application\/json\b/i.test(headers.get("content-type") ?? "");
  if (!isJson || headers.has("content-encoding")) return new Response(null, { status: 415 });
  const accept = headers.get("accept") ?? "*/*";
  const acceptsEvents = /\btext\/(?:event-stream|\*)|\*\/\*/i.test(accept);
  if (!acceptsEvents && !/\bapplication\/(?:json|\*)/i.test(accept)) return new Response(null, { status: 406 });
  const header = headers.get("mcp-protocol-version") ?? "";
  if (body instanceof MessageMembers) {
    return {
      body,
      message: undefined,
      id: body.text("id"),
      isModern: header >= "2026",
      lacksEnvelope: false,
      acceptsEvents,
    };
  }
  const message = parsed(body);
  if (typeof message !== "object" || message === null) {
    return refusal(undefined, 400, PARSE_ERROR, "The body is no JSON-RPC message.");
  }
  const bytes = body ?? new Uint8Array(0);
  const { method, params } = objectOr(message);
  const meta = objectOr(objectOr(params)["_meta"]);
  const claims = PROTOCOL_VERSION in meta || method === "server/discover";
  const isModern = claims || header >= "2026";
  const id = requestOf(bytes)?.id;
  if (isModern && Array.isArray(message)) {
    return refusal(id, 400, RpcCode.invalidRequest, "This revision has no batches: send messages one by one.");
  }
  const { [PROTOCOL_VERSION]: version, [CAPABILITIES]: capabilities } = meta;
  const lacksEnvelope = isModern && (typeof version !== "string" || typeof capabilities !== "object");
  return { body: bytes, message, id, isModern, lacksEnvelope, acceptsEvents };
}

/** An error response. `id` is JSON text. */
export function refusal(id: string | undefined, status: number, code: number, sentence: string): Response {
  return new Response(errorMessage(id ?? "null", code, sentence), {
    status,
    headers: { "content-type": "application/json" },
  });
}

function parsed(body: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
