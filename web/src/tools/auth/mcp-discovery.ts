/**
 * Finds the OAuth provider of an MCP server (MCP "Authorization"; RFC 9728, 8414, 7591).
 * @module
 */
import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  registerClient,
  resourceUrlFromServerUrl,
  type OAuthServerInfo,
} from "@modelcontextprotocol/client";
import { MESSAGE_HEADERS } from "../../mcp/http/headers.js";
import { ToolAuthError } from "../errors.js";
import { isLoopback, isSafeFrom } from "../addresses.js";
import { toOAuthFailure, type Fetch, type OAuthProviderConfig, requestProvider, shortFetch } from "./oauth-client.js";
import { checkOptionNames } from "../../errors/arguments.js";

/** A request that every MCP server answers or rejects. */
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** How this client identifies itself to providers that do not know it. */
export interface McpClientIdentity {
  /** Where codes are sent: the address where the host calls `handleCallback`. */
  readonly redirect_uri: string;
  /**
   * The client's id, if it is registered with the provider. Otherwise it registers itself, if the provider allows
   * that.
   */
  readonly client_id?: string;
  /** The secret for `client_id`. Public clients have none. */
  readonly client_secret?: string;
  /**
   * The name that users see.
   * @defaultValue `"Sluice"`
   */
  readonly client_name?: string;
  /** The URL of the client's metadata, for providers that accept it as a client id. */
  readonly client_metadata_url?: string;
  /** The scopes to request. Defaults to those that the server asks for. */
  readonly scopes?: readonly string[];
}

/** What discovery needs. */
export interface McpDiscovery {
  /** The source's name, for errors. */
  readonly source: string;
  /** The server's URL. */
  readonly url: string | URL;
  /** The identity of this client. */
  readonly client: McpClientIdentity;
  /** Defaults to the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** The server's rejection of a request, if there was one. It names the metadata. */
  readonly refusal?: Response;
  /** Cancels the discovery. */
  readonly signal?: AbortSignal | undefined;
  /** The end of the message if the provider accepts no unknown clients: what the reader can do. */
  readonly remedy?: string;
}

/**
 * Finds the provider of an MCP server and registers this client there if necessary. A server on another machine
 * cannot refer to this one.
 *
 * @throws ToolAuthError if the server names no provider, or the provider accepts no unknown clients; other
 *   ToolNodeErrors if they cannot be reached; the signal's reason.
 */
export async function discoverMcpProvider(discovery: McpDiscovery): Promise<OAuthProviderConfig> {
  checkOptionNames(discovery, "discoverMcpProvider", [
    "client",
    "fetch",
    "refusal",
    "remedy",
    "signal",
    "source",
    "url",
  ]);
  const { source, signal } = discovery;
  return requestProvider(
    source,
    signal,
    (requestSignal) => findProvider(discovery, guardFetch(discovery, requestSignal)),
    toKnownError,
  );
}

async function findProvider(discovery: McpDiscovery, fetch: Fetch): Promise<OAuthProviderConfig> {
  const { source, url, client } = discovery;
  const challenge = extractWWWAuthenticateParams(discovery.refusal ?? (await requestRefusal(url, fetch)));
  const { resourceMetadataUrl } = challenge;
  const info = await discoverOAuthServerInfo(url, {
    fetchFn: fetch,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  });
  const { authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (metadata === undefined)
    throw new ToolAuthError(`The server of ${source} does not name an OAuth provider: ${CONFIGURE}`);
  const resource = resourceMetadata?.resource;
  if (resource !== undefined && !isOwnResource(resource, url)) {
    throw new ToolAuthError(
      `The server of ${source} says that its tokens are for another server, so no token was requested.`,
    );
  }
  const scopes = addOfflineAccess(
    client.scopes ?? challenge.scope?.split(" ") ?? resourceMetadata?.scopes_supported ?? [],
    info,
  );
  return {
    display_name: source,
    issuer: metadata.issuer,
    redirect_uri: client.redirect_uri,
    scopes,
    ...(resource !== undefined && { resource }),
    ...(await prepareClient(discovery, info, scopes, fetch)),
  };
}

const CONFIGURE = "configure one in the providers of the OAuthManager.";

function isOwnResource(resource: string, server: string | URL): boolean {
  return (
    URL.canParse(resource) &&
    checkResourceAllowed({ requestedResource: resourceUrlFromServerUrl(server), configuredResource: resource })
  );
}

/** Adds `offline_access` if the provider supports it, so that tokens can be renewed. */
function addOfflineAccess(
  scopes: readonly string[],
  { authorizationServerMetadata }: OAuthServerInfo,
): readonly string[] {
  const offline = authorizationServerMetadata?.scopes_supported?.includes("offline_access") === true;
  return [
    ...new Set([
      ...scopes.filter((scope) => scope !== ""),
      ...(offline && scopes.length > 0 ? ["offline_access"] : []),
    ]),
  ];
}

async function prepareClient(
  { source, client, remedy = `register there, and ${CONFIGURE}` }: McpDiscovery,
  { authorizationServerUrl, authorizationServerMetadata: metadata }: OAuthServerInfo,
  scopes: readonly string[],
  fetch: Fetch,
): Promise<Pick<OAuthProviderConfig, "client_id" | "client_secret" | "token_endpoint_auth_method">> {
  const { client_id: own, client_secret: secret, client_metadata_url, redirect_uri, client_name = "Sluice" } = client;
  if (own !== undefined) return { client_id: own, ...(secret !== undefined && { client_secret: secret }) };
  const takesUrls = metadata?.client_id_metadata_document_supported === true;
  if (takesUrls && client_metadata_url !== undefined) return { client_id: client_metadata_url };
  if (metadata?.registration_endpoint === undefined) {
    throw new ToolAuthError(`The OAuth provider of ${source} only takes registered clients: ${remedy}`);
  }
  const clientMetadata = {
    client_name,
    redirect_uris: [redirect_uri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: isLoopback(new URL(redirect_uri)) || !redirect_uri.startsWith("http") ? "native" : "web",
  };
  const scope = scopes.join(" ");
  // Dynamic registration, from before 2026-07-28: still the way for providers that do not accept metadata URLs.
  // oxlint-disable-next-line typescript/no-deprecated
  const registered = await registerClient(authorizationServerUrl, {
    metadata,
    clientMetadata,
    fetchFn: fetch,
    ...(scope !== "" && { scope }),
  });
  const { client_id, client_secret, token_endpoint_auth_method: method } = registered;
  if (client_secret === undefined || method === "none") return { client_id };
  const sent = method === "client_secret_post" ? "client_secret_post" : "client_secret_basic";
  return { client_id, client_secret, token_endpoint_auth_method: sent };
}

async function requestRefusal(url: string | URL, fetch: Fetch): Promise<Response> {
  return fetch(url, { method: "POST", headers: MESSAGE_HEADERS, body: PING });
}

/**
 * A `fetch` for safe addresses only; addresses on this machine are safe only if the server is on it too. Answers are
 * limited in size and time.
 */
function guardFetch({ url, source, fetch = globalThis.fetch }: McpDiscovery, signal: AbortSignal): Fetch {
  const short = shortFetch(fetch);
  const isLocal = isLoopback(new URL(url));
  return (input, init) => {
    const to = new URL(input instanceof Request ? input.url : input);
    if (!isSafeFrom(to, isLocal)) {
      throw new ToolAuthError(`The server of ${source} names an address that is not safe: it must be an https: URL.`);
    }
    return short(input, { ...init, signal });
  };
}

// Errors of the SDK quote the answer, so they are replaced.
function toKnownError(error: unknown, source: string): Error {
  if (error instanceof ToolAuthError) return error;
  if (error instanceof TypeError) return toOAuthFailure(error, source);
  return new ToolAuthError(
    `The OAuth provider of ${source} could not be discovered: it refused the request, or its description is wrong. You can ${CONFIGURE}`,
  );
}
