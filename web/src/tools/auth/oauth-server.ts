/**
 * Where an OAuth provider is asked what: as configured, or as the provider says itself (RFC 8414, OpenID Connect Discovery).
 * @module
 */
import * as oauth from "oauth4webapi";
import type { Clock } from "../../artifacts/store.js";
import { ToolAuthError } from "../errors.js";
import { isLoopback, isSafeFrom } from "./addresses.js";
import { shortFetch, type Fetch } from "./answer.js";
import { asked } from "./asking.js";
import { failureOf } from "./failures.js";
import type { CheckedProvider } from "./provider-config.js";

/** How long discovered metadata is taken for current, in milliseconds. */
const METADATA_AGE = 60 * 60 * 1000;

/** A provider's endpoints. Errors as of `OAuthClient`. */
export class OAuthServer {
  readonly #name: string;
  readonly #config: CheckedProvider;
  readonly #clock: Clock;
  readonly #ask: Fetch;
  #found: { readonly server: oauth.AuthorizationServer; readonly at: number } | undefined;

  constructor(name: string, config: CheckedProvider, fetch: Fetch, clock: Clock) {
    this.#name = name;
    this.#config = config;
    this.#clock = clock;
    this.#ask = shortFetch(fetch);
  }

  /** All that is known of it; asked for once an hour where it is not configured. */
  async metadata(signal: AbortSignal | undefined): Promise<oauth.AuthorizationServer> {
    const { issuer, auth_url, token_url } = this.#config;
    if (auth_url !== undefined && token_url !== undefined) {
      return { issuer: issuer ?? token_url, authorization_endpoint: auth_url, token_endpoint: token_url };
    }
    const now = this.#clock();
    if (this.#found !== undefined && now - this.#found.at < METADATA_AGE) return this.#found.server;
    const server = await asked(
      this.#name,
      signal,
      (asking) => this.#discover(new URL(issuer as string), asking),
      failureOf,
    );
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
    const options = this.transport<"GET", undefined>(this.#ask, signal);
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
  async consentPage(signal?: AbortSignal): Promise<URL> {
    const { authorization_endpoint } = await this.metadata(signal);
    if (authorization_endpoint !== undefined && this.#isUsable(authorization_endpoint))
      return new URL(authorization_endpoint);
    throw this.#unusable("authorization endpoint");
  }

  /** How the library is to send requests. */
  transport<Method, Body>(fetch: Fetch, signal: AbortSignal): oauth.HttpRequestOptions<Method, Body> {
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
