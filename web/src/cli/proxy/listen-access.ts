/**
 * Who may use `sluice proxy --listen` by access tokens of an OpenID Connect provider: the proxy is a protected resource
 * (MCP 2025-11-25 and 2026-07-28, "Authorization"; RFC 9728).
 * @module
 */
import { createHash } from "node:crypto";
import { RpcCode } from "../../jsonrpc/rpc.js";
import { AccessTokens, bearerIn, type AccessGrant, type OidcOptions } from "../../server/access/access-tokens.js";
import {
  writeChallenge,
  describeResource,
  toStatus,
  WELL_KNOWN,
  type ProtectedResource,
} from "../../server/access/protected-resource.js";
import { refuseRequest } from "../../mcp/http/refusal.js";
import type { HttpRequest } from "../../mcp/http/sessions.js";

/** Options for access by tokens. */
export interface ListenOidc extends OidcOptions {
  /** The URL that clients connect to. Undefined: where the proxy listens. */
  readonly publicUrl: URL | undefined;
}

/** Whose a request is, and until when its token is valid. */
export type Admission = Pick<HttpRequest, "owner" | "user" | "scope" | "until">;

/** Lets requests in by their tokens. */
export class ListenAccess {
  readonly #tokens: AccessTokens;
  readonly #report: (sentence: string) => void;
  #resource: ProtectedResource | undefined;

  /**
   * Throws SluiceError E_INVALID_ARGUMENT for an option that is wrong.
   * @param report receives why the provider's keys cannot be read.
   */
  constructor({ publicUrl, ...oidc }: ListenOidc, report: (sentence: string) => void) {
    this.#tokens = new AccessTokens(oidc);
    this.#report = report;
    if (publicUrl !== undefined) this.#resource = resourceAt(publicUrl);
  }

  /** Names the address that the proxy listens at, for tokens that are for it. */
  listeningAt(url: string): void {
    this.#resource ??= resourceAt(new URL(url));
  }

  /** Whose a request is, or the response to it: a refusal, or the description of the resource. */
  async admit({
    method,
    path,
    headers,
  }: Pick<HttpRequest, "method" | "path" | "headers">): Promise<Admission | Response> {
    const resource = this.#resource;
    if (resource === undefined) return refuseRequest(undefined, 503, RpcCode.serverError, "The proxy is starting.");
    if (isDescription(path, resource)) return answerMetadata(method, describeResource(resource, this.#tokens));
    const token = bearerIn(headers);
    let verdict: AccessGrant | "invalid_token" | "insufficient_scope" | undefined;
    try {
      verdict = token === null ? undefined : await this.#tokens.read(token, [resource.url]);
    } catch (error) {
      this.#report(`the sign-in provider's keys cannot be read: ${(error as Error).message}`);
      return refuseRequest(undefined, 503, RpcCode.serverError, "Sign-in cannot be checked at the moment: try again.");
    }
    if (typeof verdict === "object") return toAdmission(verdict);
    const said = verdict ?? (headers.has("authorization") ? "invalid_token" : undefined);
    const response = refuseRequest(undefined, toStatus(said), RpcCode.invalidRequest, WANTS_TOKEN);
    response.headers.set("www-authenticate", writeChallenge(resource, this.#tokens, said));
    return response;
  }
}

const WANTS_TOKEN = "This server needs an access token of its provider that is valid and meant for this address.";

function resourceAt(url: URL): ProtectedResource {
  const path = url.pathname.replace(/\/$/, "");
  return {
    // A host without a path is written without the slash (MCP, "Canonical Server URI").
    url: path === "" ? url.origin : url.origin + url.pathname,
    metadataUrl: `${url.origin}/${WELL_KNOWN}${path}`,
    name: "Sluice",
  };
}

/** Whether a path is that of the description, with the resource's path behind it or without (RFC 9728 §3). */
function isDescription(path: string, { metadataUrl }: ProtectedResource): boolean {
  const asked = path.split("?")[0];
  return asked === `/${WELL_KNOWN}` || asked === new URL(metadataUrl).pathname;
}

function answerMetadata(method: string, metadata: object): Response {
  if (method !== "GET" && method !== "HEAD")
    return new Response(null, { status: 405, headers: { allow: "GET, HEAD" } });
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  return new Response(method === "HEAD" ? null : JSON.stringify(metadata), { headers });
}

function toAdmission({ identity, client, expires_at }: AccessGrant): Admission {
  const { user_id, tenant_id = null } = identity;
  const user = JSON.stringify([tenant_id, user_id]);
  const owner = createHash("sha256")
    .update(JSON.stringify([tenant_id, user_id, client]))
    .digest("hex");
  return { owner, user, scope: { tenant_id, user_id }, until: expires_at };
}
