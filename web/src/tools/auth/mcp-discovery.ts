/**
 * The OAuth provider of an MCP server, found out from the server (MCP "Authorization"; RFC 9728, 8414, 7591).
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
import { ToolAuthError } from "../errors.js";
import { isLoopback, isSafeFrom } from "./addresses.js";
import { asked, failureOf, type Fetch, shortFetch } from "./provider-request.js";
import type { OAuthProviderConfig } from "./provider-config.js";

/** What every MCP server answers, or refuses. */
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** Who we are to providers that never heard of us. */
export interface McpClientIdentity {
  /** Where codes are sent: an address of the host that calls `handleCallback`. */
  readonly redirect_uri: string;
  /** What users are told that we are; Sluice when left out. */
  readonly client_name?: string;
  /** Where our description is published, for providers that take its URL as client id. */
  readonly client_metadata_url?: string;
  /** What is asked for; what the server says that it needs when left out. */
  readonly scopes?: readonly string[];
}

/** What is needed to find out a server's provider. */
export interface McpDiscovery {
  /** The source's name, for errors. */
  readonly source: string;
  /** Where the server is. */
  readonly url: string | URL;
  /** Who we are. */
  readonly client: McpClientIdentity;
  /** The global one when left out. */
  readonly fetch?: Fetch | undefined;
  /** The server's refusal, where there was one already: it says where to look. */
  readonly refusal?: Response;
  /** Gives up. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds out who gives tokens for an MCP server, and makes us known there. A server elsewhere names nothing on this machine.
 *
 * @throws ToolAuthError when the server tells of no provider, or the provider takes no unknown clients; other ToolNodeErrors
 * when they cannot be asked; the signal's reason.
 */
export async function discoverMcpProvider(discovery: McpDiscovery): Promise<OAuthProviderConfig> {
  const { source, signal } = discovery;
  return asked(source, signal, (asking) => found(discovery, guardedFetch(discovery, asking)), known);
}

async function found(discovery: McpDiscovery, fetch: Fetch): Promise<OAuthProviderConfig> {
  const { source, url, client } = discovery;
  const challenge = extractWWWAuthenticateParams(discovery.refusal ?? (await refusalOf(url, fetch)));
  const { resourceMetadataUrl } = challenge;
  const info = await discoverOAuthServerInfo(url, {
    fetchFn: fetch,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  });
  const { authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (metadata === undefined)
    throw new ToolAuthError(`The server of ${source} tells of no OAuth provider: ${CONFIGURE}`);
  const resource = resourceMetadata?.resource;
  if (resource !== undefined && !isOwnResource(resource, url)) {
    throw new ToolAuthError(
      `The server of ${source} says that its tokens are for another server: nothing was asked for.`,
    );
  }
  const scopes = wanted(client.scopes ?? challenge.scope?.split(" ") ?? resourceMetadata?.scopes_supported ?? [], info);
  return {
    display_name: source,
    issuer: metadata.issuer,
    redirect_uri: client.redirect_uri,
    scopes,
    ...(resource !== undefined && { resource }),
    ...(await madeKnown(discovery, info, scopes, fetch)),
  };
}

const CONFIGURE = "configure one in the providers of the OAuthManager.";

function isOwnResource(resource: string, server: string | URL): boolean {
  return (
    URL.canParse(resource) &&
    checkResourceAllowed({ requestedResource: resourceUrlFromServerUrl(server), configuredResource: resource })
  );
}

/** With what lets tokens be renewed, where the provider knows that. */
function wanted(scopes: readonly string[], { authorizationServerMetadata }: OAuthServerInfo): readonly string[] {
  const offline = authorizationServerMetadata?.scopes_supported?.includes("offline_access") === true;
  return [
    ...new Set([
      ...scopes.filter((scope) => scope !== ""),
      ...(offline && scopes.length > 0 ? ["offline_access"] : []),
    ]),
  ];
}

async function madeKnown(
  { source, client }: McpDiscovery,
  { authorizationServerUrl, authorizationServerMetadata: metadata }: OAuthServerInfo,
  scopes: readonly string[],
  fetch: Fetch,
): Promise<Pick<OAuthProviderConfig, "client_id" | "client_secret" | "token_endpoint_auth_method">> {
  const { client_metadata_url, redirect_uri, client_name = "Sluice" } = client;
  const takesUrls = metadata?.client_id_metadata_document_supported === true;
  if (takesUrls && client_metadata_url !== undefined) return { client_id: client_metadata_url };
  if (metadata?.registration_endpoint === undefined) {
    throw new ToolAuthError(
      `The OAuth provider of ${source} takes no clients that it does not know: register there, and ${CONFIGURE}`,
    );
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
  // The way of the earlier eras, which the later one keeps for providers that take no URLs.
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

async function refusalOf(url: string | URL, fetch: Fetch): Promise<Response> {
  const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: PING });
}

/** Asks only where secrets are safe, and on this machine only for a server on it. Answers are short, and come in time. */
function guardedFetch({ url, source, fetch = globalThis.fetch }: McpDiscovery, signal: AbortSignal): Fetch {
  const short = shortFetch(fetch);
  const isLocal = isLoopback(new URL(url));
  return (input, init) => {
    const to = new URL(input instanceof Request ? input.url : input);
    if (!isSafeFrom(to, isLocal)) {
      throw new ToolAuthError(
        `The server of ${source} names a place that is not safe to ask: it must be an https: URL.`,
      );
    }
    return short(input, { ...init, signal });
  };
}

// What the SDK throws quotes what was answered.
function known(error: unknown, source: string): Error {
  if (error instanceof ToolAuthError) return error;
  if (error instanceof TypeError) return failureOf(error, source);
  return new ToolAuthError(
    `The OAuth provider of ${source} cannot be found out: it refused us, or what is said of it is wrong. You can ${CONFIGURE}`,
  );
}
