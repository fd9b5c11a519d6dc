/**
 * What a resource tells clients that have no valid token for it: where tokens come from (RFC 9728), and what is wrong (RFC 6750).
 * @module
 */
import { z } from "zod";
import { getByteReader, streamFrom, type ByteReader } from "../../artifacts/byte-reader.js";
import { McpHeader } from "../../mcp/http/headers.js";
import { MAX_TIMER } from "../http/time-limit.js";
import type { AccessTokens, TokenRefusal } from "./access-tokens.js";

/** Where descriptions of resources are, below the public URL. */
export const WELL_KNOWN = ".well-known/oauth-protected-resource";

/** A resource that tokens are for. */
export interface ProtectedResource {
  /** Its URL, which is the audience of its tokens (RFC 8707). */
  readonly url: string;
  /** The URL of its description. */
  readonly metadataUrl: string;
  /** Its name, for people. */
  readonly name: string;
}

/** The description of a resource (RFC 9728 §2). */
export const METADATA = z.object({
  resource: z.string().describe("The resource's URL, which is the audience of its tokens."),
  authorization_servers: z.array(z.string()).describe("The issuers of its tokens."),
  bearer_methods_supported: z.array(z.string()),
  resource_name: z.string().describe("Its name, for people."),
  scopes_supported: z.array(z.string()).optional(),
});

/** The description of a resource. */
export function describeResource(
  { url, name }: ProtectedResource,
  { issuer, scopes }: AccessTokens,
): Readonly<z.output<typeof METADATA>> {
  return {
    resource: url,
    authorization_servers: [issuer],
    bearer_methods_supported: ["header"],
    resource_name: name,
    ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
  };
}

/** The header `WWW-Authenticate` for a request without a token, or with one that is refused. */
export function writeChallenge(
  { metadataUrl }: ProtectedResource,
  { scopes }: AccessTokens,
  refusal?: TokenRefusal,
): string {
  const said = [
    ...(refusal === undefined ? [] : [`error="${refusal}"`]),
    `resource_metadata="${metadataUrl}"`,
    ...(scopes.length > 0 ? [`scope="${scopes.join(" ")}"`] : []),
  ];
  return `Bearer ${said.join(", ")}`;
}

/** The status of a refusal. */
export function toStatus(refusal: TokenRefusal | undefined): 401 | 403 {
  return refusal === "insufficient_scope" ? 403 : 401;
}

/**
 * The same response, with an end for a stream that would outlast its token: a listener's, by `GET` or by the method
 * `subscriptions/listen`. The answer to any other request may still come: the token was valid when it was sent.
 *
 * @param until when the token expires, in milliseconds since 1970. Undefined for a request that came without one.
 */
export function whileValid(
  { method, headers }: Pick<Request, "method" | "headers">,
  response: Response,
  until: number | undefined,
): Response {
  const isListener = method === "GET" || headers.get(McpHeader.method) === "subscriptions/listen";
  if (until === undefined || response.body === null || !isListener) return response;
  const reader = getByteReader(response.body);
  const end = (): void => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(end, Math.min(MAX_TIMER, Math.max(0, until - Date.now()))).unref();
  const limited: ByteReader = {
    async next(reuse) {
      const piece = await reader.next(reuse);
      if (piece === null) clearTimeout(timer);
      return piece;
    },
    async cancel(reason) {
      clearTimeout(timer);
      await reader.cancel(reason);
    },
  };
  return new Response(streamFrom(limited), response);
}
