/**
 * A server whose users come with access tokens of an OpenID Connect provider: they begin sessions with them, and MCP clients,
 * which know of no sessions, connect to `mcp/{source}` with them (MCP 2025-11-25 and 2026-07-28, "Authorization").
 * @module
 */
import { createHash } from "node:crypto";
import type { Hono } from "hono";
import { z } from "zod";
import type { ServeEnv } from "../http/context.js";
import { refusal } from "../http/answers.js";
import { nothingThere, signInUnknown } from "../http/refusals.js";
import { answerJson, declareOperation, mountRoutes } from "../http/operation.js";
import type { Identity, ServedSession } from "../session.js";
import { beginRefusal, beginSession, type BeginDeps } from "../sessions/session-begin.js";
import { bearerIn, type AccessGrant, type AccessTokens, type TokenRefusal } from "./access-tokens.js";
import {
  writeChallenge,
  METADATA,
  describeResource,
  toStatus,
  WELL_KNOWN,
  type ProtectedResource,
} from "./protected-resource.js";

/** What tokens are checked by, and for which server. */
interface OidcAccessDeps {
  readonly tokens: AccessTokens;
  /** The public URL of the server's root. Ends with `/`. */
  readonly root: URL;
  /** The path of all routes. */
  readonly base: string;
  /** The names of the sources that MCP clients can connect to. */
  readonly sources: ReadonlySet<string>;
}

/** Milliseconds that a session of an MCP client outlives its token, so that the client can renew it and go on. */
const RENEWAL = 30 * 60 * 1000;

/** The session of an MCP client, and until when its token is valid. */
export interface AccessSession {
  readonly session: ServedSession;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** What is needed to begin the session of an MCP client. */
export interface AccessSessionDeps extends BeginDeps {
  readonly limits: BeginDeps["limits"] & { readonly sessionSeconds: number };
}

/** Lets users in by access tokens. */
export class OidcAccess {
  readonly #deps: OidcAccessDeps;

  constructor(deps: OidcAccessDeps) {
    this.#deps = deps;
  }

  /**
   * Whom a request is from, or the response that refuses it.
   *
   * @throws SluiceError E_STORE_READ if that cannot be found out.
   */
  async identity(request: Request): Promise<Identity | Response> {
    const grant = await this.#grant(request, this.#root);
    return grant instanceof Response ? grant : grant.identity;
  }

  /**
   * The session of an MCP client, which is begun at its first request: one for each user and client program, whatever
   * token it comes with. The response if the request is refused; null if it is for no source.
   *
   * @throws SluiceError E_STORE_… if the token cannot be checked, or no session can be begun.
   */
  async session(request: Request, deps: AccessSessionDeps): Promise<AccessSession | Response | null> {
    const { base, tokens } = this.#deps;
    const [, source = ""] = /^mcp\/([^/]+)$/.exec(new URL(request.url).pathname.slice(base.length)) ?? [];
    const resource = this.#sourceAt(source);
    if (resource === null) return null;
    const grant = await this.#grant(request, resource);
    if (grant instanceof Response) return grant;
    const { sessions } = deps.state;
    const id = sessionId(tokens.issuer, grant);
    const known = await deps.readiness.unlessAway("state", sessions.find(id));
    const life = deps.limits.sessionSeconds * 1000;
    const now = Date.now();
    const least = Math.min(grant.expires_at + RENEWAL / 2, now + life / 2);
    if (known !== null && known.expires_at >= least) return { session: known, until: grant.expires_at };
    const tooMany = known === null ? await beginRefusal(grant.identity, deps) : null;
    if (tooMany !== null) return tooMany;
    const expires_at = Math.min(grant.expires_at + RENEWAL, now + life);
    const session = { id, identity: grant.identity, begun_at: known?.begun_at ?? now, expires_at };
    await beginSession(session, deps);
    return { session, until: grant.expires_at };
  }

  /** Routes for the descriptions of resources (RFC 9728 §3). */
  routes(): Hono<ServeEnv> {
    const common = { tag: "server", isOpen: true, answers: { 200: answerJson(METADATA, "The description.") } } as const;
    const { tokens } = this.#deps;
    return mountRoutes({
      "/": {
        get: declareOperation({
          ...common,
          id: "describeResource",
          summary: "Tell where access tokens for the server come from",
          handle: () => describeResource(this.#root, tokens),
        }),
      },
      "/mcp/:source": {
        get: declareOperation({
          ...common,
          id: "describeMcpResource",
          summary: "Tell where access tokens for a source come from",
          path: z.object({ source: z.string().describe("A source with `has_mcp`.") }),
          refusals: [404],
          handle: (_, { path }) => {
            const resource = this.#sourceAt(encodeURIComponent(path.source));
            return resource === null ? nothingThere() : describeResource(resource, tokens);
          },
        }),
      },
    });
  }

  get #root(): ProtectedResource {
    const { root } = this.#deps;
    return { url: root.href, metadataUrl: new URL(WELL_KNOWN, root).href, name: "Sluice" };
  }

  /** @param name as it stands in addresses. */
  #sourceAt(name: string): ProtectedResource | null {
    const { root, sources } = this.#deps;
    const source = decodeName(name);
    if (source === null || !sources.has(source)) return null;
    const path = `mcp/${encodeURIComponent(source)}`;
    return {
      url: new URL(path, root).href,
      metadataUrl: new URL(`${WELL_KNOWN}/${path}`, root).href,
      name: `Sluice: ${source}`,
    };
  }

  async #grant({ headers }: Request, resource: ProtectedResource): Promise<AccessGrant | Response> {
    const { tokens, root } = this.#deps;
    const token = bearerIn(headers);
    // A host without a path is written with and without the slash.
    const resources = [resource.url, root.href, root.href.replace(/\/$/, "")];
    const verdict = token === null ? undefined : await this.#read(token, resources);
    if (typeof verdict === "object") return verdict;
    const isSent = headers.has("authorization");
    return refuseToken(writeChallenge(resource, tokens, verdict ?? (isSent ? "invalid_token" : undefined)), verdict);
  }

  async #read(token: string, resources: readonly string[]): Promise<AccessGrant | TokenRefusal> {
    try {
      return await this.#deps.tokens.read(token, resources);
    } catch (error) {
      throw signInUnknown(error);
    }
  }
}

function refuseToken(challenge: string, verdict: TokenRefusal | undefined): Response {
  const headers = { "WWW-Authenticate": challenge };
  if (verdict === "insufficient_scope") return refusal(toStatus(verdict), "E_FORBIDDEN", LACKS_SCOPE, headers);
  return refusal(401, "E_SESSION", WANTS_TOKEN, headers);
}

const WANTS_TOKEN =
  "You are not signed in: send an access token of this server's provider that is valid and meant for this address.";
const LACKS_SCOPE = "The access token lacks a scope that this server needs: ask the provider for one that has it.";

/** The same for the same user and program. It is never sent, and it opens nothing. */
function sessionId(issuer: string, { identity, client }: AccessGrant): string {
  const { tenant_id = null, user_id } = identity;
  const hash = createHash("sha256").update(JSON.stringify([issuer, tenant_id, user_id, client]));
  return `access-${hash.digest("hex").slice(0, 40)}`;
}

function decodeName(name: string): string | null {
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}
