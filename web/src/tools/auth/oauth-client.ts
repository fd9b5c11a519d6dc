/**
 * One OAuth provider, as its client speaks to it: the protocol is `oauth4webapi`'s. Its endpoints are those of the
 * configuration, or what the provider says itself (RFC 8414, OpenID Connect Discovery).
 * @module
 */
import * as oauth from "oauth4webapi";
import type { Clock } from "../../artifacts/store.js";
import { ToolAuthError } from "../errors.js";
import { isLoopback, isSafeFrom } from "./addresses.js";
import { type CheckedProvider, checkProvider, type OAuthProviderConfig } from "./provider-config.js";
import { asked, type Fetch, isSpent, shortFetch, tokenFetch } from "./provider-request.js";

/** How long discovered metadata is taken for current, in milliseconds. */
const METADATA_AGE = 60 * 60 * 1000;

/** What a provider gave. */
export interface TokenGrant {
  readonly access_token: string;
  /** Null where it gave none. */
  readonly refresh_token: string | null;
  /** Milliseconds; null where it did not say. */
  readonly lifetime: number | null;
}

/** What a client is made with. */
interface OAuthClientOptions {
  readonly name: string;
  readonly config: OAuthProviderConfig;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** Asks one provider. Errors are `ToolNodeError`s; what the caller's signal ended is thrown as its reason. */
export class OAuthClient {
  readonly #name: string;
  readonly #config: CheckedProvider;
  readonly #clock: Clock;
  readonly #ask: Fetch;
  readonly #askToken: Fetch;
  #found: { readonly server: oauth.AuthorizationServer; readonly at: number } | undefined;

  /** Throws a ToolNodeError E_TOOL_CONFIG when the configuration is wrong. */
  constructor({ name, config, fetch, clock }: OAuthClientOptions) {
    this.#name = name;
    this.#config = checkProvider(name, config);
    this.#clock = clock;
    this.#ask = shortFetch(fetch);
    this.#askToken = tokenFetch(fetch);
  }

  /** What a person calls the provider. */
  get displayName(): string {
    return this.#config.display_name ?? this.#name;
  }

  /** What is asked for. */
  get scopes(): readonly string[] {
    return this.#config.scopes;
  }

  /** Who gives tokens to which client: a token from elsewhere is not this client's to use. */
  get identity(): string {
    const { issuer, token_url, client_id } = this.#config;
    return JSON.stringify([issuer ?? token_url, client_id]);
  }

  /** Where a person consents to this request. */
  async consentUrl(state: string, verifier: string, signal?: AbortSignal): Promise<string> {
    const { client_id, redirect_uri, scopes, resource, auth_params } = this.#config;
    const url = await this.#consentPage(signal);
    const challenge = await oauth.calculatePKCECodeChallenge(verifier);
    const parameters = {
      ...auth_params,
      client_id,
      redirect_uri,
      response_type: "code",
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      ...(resource !== undefined && { resource }),
      state,
      code_challenge: challenge,
      code_challenge_method: "S256",
    };
    for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
    return url.href;
  }

  /** Turns what came back into tokens. */
  async redeem(callback: URLSearchParams, state: string, verifier: string, signal?: AbortSignal): Promise<TokenGrant> {
    const server = await this.#metadata(signal);
    const work = async (asking: AbortSignal): Promise<TokenGrant> => {
      const parameters = new URLSearchParams(callback);
      // Nothing to compare it with: it would be compared with the place that stands in for the issuer's name.
      if (this.#config.issuer === undefined) parameters.delete("iss");
      const valid = oauth.validateAuthResponse(server, this.#client, parameters, state);
      const { redirect_uri } = this.#config;
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        this.#client,
        this.#authentication(server),
        valid,
        redirect_uri,
        verifier,
        this.#request(asking),
      );
      return grantOf(await oauth.processAuthorizationCodeResponse(server, this.#client, response), this.#name);
    };
    return asked(this.#name, signal, work);
  }

  /** New tokens for a refresh token; null when that is of no use any more. */
  async refresh(refreshToken: string, signal?: AbortSignal): Promise<TokenGrant | null> {
    const server = await this.#metadata(signal);
    const work = async (asking: AbortSignal): Promise<TokenGrant | null> => {
      const client = this.#client;
      const request = this.#request(asking);
      const response = await oauth.refreshTokenGrantRequest(
        server,
        client,
        this.#authentication(server),
        refreshToken,
        request,
      );
      try {
        return grantOf(await oauth.processRefreshTokenResponse(server, client, response), this.#name);
      } catch (error) {
        if (isSpent(error)) return null;
        throw error;
      }
    };
    return asked(this.#name, signal, work);
  }

  get #client(): oauth.Client {
    return { client_id: this.#config.client_id };
  }

  #request(signal: AbortSignal): oauth.TokenEndpointRequestOptions {
    const { resource } = this.#config;
    return {
      ...this.#transport(this.#askToken, signal),
      ...(resource !== undefined && { additionalParameters: { resource } }),
    };
  }

  #authentication(server: oauth.AuthorizationServer): oauth.ClientAuth {
    const { client_secret, token_endpoint_auth_method } = this.#config;
    if (client_secret === undefined) return oauth.None();
    const offered = server.token_endpoint_auth_methods_supported;
    const preferred =
      offered === undefined || offered.includes("client_secret_basic") ? "client_secret_basic" : "client_secret_post";
    const discovered = this.#config.token_url === undefined ? preferred : "client_secret_post";
    return (token_endpoint_auth_method ?? discovered) === "client_secret_basic"
      ? oauth.ClientSecretBasic(client_secret)
      : oauth.ClientSecretPost(client_secret);
  }

  /** All that is known of the provider; asked for once an hour where it is not configured. */
  async #metadata(signal: AbortSignal | undefined): Promise<oauth.AuthorizationServer> {
    const { issuer, auth_url, token_url } = this.#config;
    if (auth_url !== undefined && token_url !== undefined) {
      return { issuer: issuer ?? token_url, authorization_endpoint: auth_url, token_endpoint: token_url };
    }
    const now = this.#clock();
    if (this.#found !== undefined && now - this.#found.at < METADATA_AGE) return this.#found.server;
    const server = await asked(this.#name, signal, (asking) => this.#discover(new URL(issuer as string), asking));
    this.#found = { server, at: now };
    return server;
  }

  async #discover(issuer: URL, signal: AbortSignal): Promise<oauth.AuthorizationServer> {
    const response = await this.#answer(issuer, signal);
    const server = await oauth.processDiscoveryResponse(issuer, response);
    if (server.token_endpoint === undefined || !this.#isUsable(server.token_endpoint))
      throw this.#unusable("token endpoint");
    if (server.code_challenge_methods_supported?.includes("S256") === false) {
      throw new ToolAuthError(
        `The OAuth provider ${this.#name} does not support PKCE with S256, and codes are not safe without.`,
      );
    }
    return server;
  }

  /** From the first of the three places that answers, in the order of MCP's specification. */
  async #answer(issuer: URL, signal: AbortSignal): Promise<Response> {
    const options = this.#transport<"GET", undefined>(this.#ask, signal);
    const first = await oauth.discoveryRequest(issuer, { ...options, algorithm: "oauth2" });
    if (first.ok) return first;
    if (issuer.pathname !== "/") {
      const inserted = new URL(`/.well-known/openid-configuration${issuer.pathname.replace(/\/$/, "")}`, issuer);
      const second = await this.#ask(inserted, { headers: { accept: "application/json" }, redirect: "manual", signal });
      if (second.ok) return second;
    }
    return oauth.discoveryRequest(issuer, { ...options, algorithm: "oidc" });
  }

  #unusable(what: string): ToolAuthError {
    return new ToolAuthError(
      `The OAuth provider ${this.#name} names no ${what} that is safe to use: it must be an https: URL.`,
    );
  }

  /** Where a person consents. */
  async #consentPage(signal?: AbortSignal): Promise<URL> {
    const { authorization_endpoint } = await this.#metadata(signal);
    if (authorization_endpoint !== undefined && this.#isUsable(authorization_endpoint))
      return new URL(authorization_endpoint);
    throw this.#unusable("authorization endpoint");
  }

  /** How the library is to send requests. */
  #transport<Method, Body>(fetch: Fetch, signal: AbortSignal): oauth.HttpRequestOptions<Method, Body> {
    const given = fetch as NonNullable<oauth.HttpRequestOptions<Method, Body>[typeof oauth.customFetch]>;
    return { signal, [oauth.customFetch]: given, [oauth.allowInsecureRequests]: this.#isLocal };
  }

  /** Whether the provider was configured to be on this machine, where http is as good. */
  get #isLocal(): boolean {
    const { issuer, token_url = issuer } = this.#config;
    return token_url !== undefined && isLoopback(new URL(token_url));
  }

  /** Whether an address that was discovered may be used: what was configured elsewhere names nothing on this machine. */
  #isUsable(address: string): boolean {
    return URL.canParse(address) && isSafeFrom(new URL(address), this.#isLocal);
  }
}

function grantOf(answer: oauth.TokenEndpointResponse, name: string): TokenGrant {
  const { access_token, token_type, refresh_token, expires_in } = answer;
  // What is no header's value would be shown by the error that `fetch` throws for it.
  if (token_type !== "bearer" || !/^[\x21-\x7e]+$/.test(access_token)) {
    throw new ToolAuthError(`The OAuth provider ${name} gave a token that cannot be sent as a bearer token.`);
  }
  return {
    access_token,
    refresh_token: refresh_token ?? null,
    lifetime: expires_in === undefined ? null : expires_in * 1000,
  };
}
