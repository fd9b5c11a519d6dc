/**
 * One OAuth provider: its configuration, and the requests of a client to it.
 *
 * `oauth4webapi` implements the protocol. Endpoints come from the configuration or from the provider's metadata (RFC
 * 8414, OpenID Connect Discovery). Requests are limited in time and answers in size. Errors never quote answers,
 * which may hold codes and tokens.
 * @module
 */
import * as oauth from "oauth4webapi";
import { z } from "zod";
import type { Clock } from "../../artifacts/store.js";
import { chunksIn } from "../../core/value.js";
import { readBounded } from "../../jsonrpc/bytes.js";
import { fromStatus } from "../adapt-error.js";
import { isLoopback, isSafe, isSafeFrom, isSafeRedirect } from "../addresses.js";
import {
  ToolAuthError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
  wrong,
} from "../errors.js";

/** An OAuth 2 provider. Give either `issuer`, and the rest is discovered, or `auth_url` and `token_url`. */
export interface OAuthProviderConfig {
  /** The provider's name. Must equal its key. */
  readonly name?: string;
  /** The name that people see. Defaults to the provider's name. */
  readonly display_name?: string;
  /** The issuer. With the URLs below it is only compared with the callback (RFC 9207). */
  readonly issuer?: string;
  /** The authorization endpoint, where a person consents. */
  readonly auth_url?: string;
  /** The token endpoint. */
  readonly token_url?: string;
  /** The client's id. */
  readonly client_id: string;
  /** The client's secret. Public clients leave it out and are protected by PKCE. */
  readonly client_secret?: string;
  /** How the secret is sent. Defaults to the discovered provider's preference, or else to the request body. */
  readonly token_endpoint_auth_method?: "client_secret_basic" | "client_secret_post";
  /** Where the code is sent: the address where the host calls `handleCallback`. */
  readonly redirect_uri: string;
  /** The scopes to request. Defaults to the provider's default. */
  readonly scopes?: readonly string[];
  /** The URL of the API or MCP server that the tokens are for (RFC 8707). */
  readonly resource?: string;
  /** Further parameters of the consent page, such as `access_type: "offline"`. */
  readonly auth_params?: Readonly<Record<string, string>>;
}

/** Parameters that `auth_params` must not set. */
const RESERVED = new Set(
  (
    "client_id client_secret redirect_uri response_type response_mode scope state resource " +
    "code_challenge code_challenge_method request request_uri"
  ).split(" "),
);

const endpoint = z.string().refine((text) => isUrl(text, isSafe), {
  message: "must be an https: URL without user and password, or http: on this machine",
});
const redirect = z.string().refine((text) => isUrl(text, isSafeRedirect), {
  message: "must be an https: URL, http: on this machine, or an app's own scheme such as com.example.app:",
});
const nonEmpty = z.string().min(1);

const providerSchema = z
  .strictObject({
    name: nonEmpty.optional(),
    display_name: nonEmpty.optional(),
    issuer: endpoint.optional(),
    auth_url: endpoint.optional(),
    token_url: endpoint.optional(),
    client_id: nonEmpty,
    client_secret: nonEmpty.optional(),
    token_endpoint_auth_method: z.enum(["client_secret_basic", "client_secret_post"]).optional(),
    redirect_uri: redirect,
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { message: "must be one scope, without spaces" }))
      .default([]),
    resource: z
      .string()
      .refine((value) => isUrl(value, ({ hash }) => hash === ""), { message: "must be a URL without a fragment" })
      .optional(),
    auth_params: z.record(z.string(), z.string()).default({}),
  })
  .check(({ value, issues }) => {
    const refuse = (key: string, message: string): void => {
      issues.push({ code: "custom", input: undefined, path: [key], message });
    };
    if ((value.auth_url === undefined) !== (value.token_url === undefined)) {
      refuse(
        value.auth_url === undefined ? "auth_url" : "token_url",
        "must be given: auth_url and token_url go together",
      );
    } else if (value.issuer === undefined && value.auth_url === undefined) {
      refuse("issuer", "must be given, or auth_url and token_url instead");
    }
    if (value.token_endpoint_auth_method !== undefined && value.client_secret === undefined) {
      refuse("token_endpoint_auth_method", "says how a client_secret is sent, but there is none");
    }
    for (const key of Object.keys(value.auth_params)) {
      if (RESERVED.has(key)) refuse("auth_params", `must not set ${key}: it is part of the protocol`);
    }
  });

/** A checked configuration. */
type CheckedProvider = z.output<typeof providerSchema>;

/**
 * Checks a provider's configuration.
 *
 * @throws ToolNodeError E_TOOL_CONFIG that names all wrong keys, but no values.
 */
export function checkProvider(name: string, config: OAuthProviderConfig): CheckedProvider {
  const { success, data, error } = providerSchema.safeParse(config, { jitless: true });
  if (!success) {
    throw wrongConfig(error.issues.map(({ path, message }) => `${["providers", name, ...path].join(".")}: ${message}`));
  }
  if (data.name !== undefined && data.name !== name) {
    throw wrongConfig([`providers.${name}.name: must be ${JSON.stringify(name)}, the same as its key, or left out`]);
  }
  return data;
}

function wrongConfig(sentences: readonly string[]): ToolNodeError {
  return wrong(`${sentences.join("; ")}.`);
}

function isUrl(text: string, holds: (url: URL) => boolean): boolean {
  return URL.canParse(text) && holds(new URL(text));
}

/** Milliseconds that discovered metadata is cached. */
const METADATA_AGE = 60 * 60 * 1000;

/** Tokens from a provider. */
export interface TokenGrant {
  readonly access_token: string;
  /** Null if there is none. */
  readonly refresh_token: string | null;
  /** Lifetime of the access token in milliseconds, or null. */
  readonly lifetime: number | null;
}

/** Options of a client. */
interface OAuthClientOptions {
  readonly name: string;
  readonly config: OAuthProviderConfig;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** A client of one provider. Methods throw `ToolNodeError`s, or the reason of an aborted signal. */
export class OAuthClient {
  readonly #name: string;
  readonly #config: CheckedProvider;
  readonly #clock: Clock;
  readonly #ask: Fetch;
  readonly #askToken: Fetch;
  #found: { readonly server: oauth.AuthorizationServer; readonly at: number } | undefined;

  /** Throws a ToolNodeError E_TOOL_CONFIG for a wrong configuration. */
  constructor({ name, config, fetch, clock }: OAuthClientOptions) {
    this.#name = name;
    this.#config = checkProvider(name, config);
    this.#clock = clock;
    this.#ask = shortFetch(fetch);
    this.#askToken = tokenFetch(fetch);
  }

  /** The provider's name for people. */
  get displayName(): string {
    return this.#config.display_name ?? this.#name;
  }

  /** The requested scopes. */
  get scopes(): readonly string[] {
    return this.#config.scopes;
  }

  /** Identifies the issuer and the client. Tokens with another identity are not used. */
  get identity(): string {
    const { issuer, token_url, client_id } = this.#config;
    return JSON.stringify([issuer ?? token_url, client_id]);
  }

  /** The URL where a person consents. */
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

  /** Exchanges the code of a callback for tokens. */
  async redeem(callback: URLSearchParams, state: string, verifier: string, signal?: AbortSignal): Promise<TokenGrant> {
    const server = await this.#metadata(signal);
    const work = async (requestSignal: AbortSignal): Promise<TokenGrant> => {
      const parameters = new URLSearchParams(callback);
      // Without a configured issuer, `iss` would be compared with a placeholder.
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
        this.#request(requestSignal),
      );
      return toGrant(await oauth.processAuthorizationCodeResponse(server, this.#client, response), this.#name);
    };
    return requestProvider(this.#name, signal, work);
  }

  /** Renews tokens. Null if the refresh token is no longer valid. */
  async refresh(refreshToken: string, signal?: AbortSignal): Promise<TokenGrant | null> {
    const server = await this.#metadata(signal);
    const work = async (requestSignal: AbortSignal): Promise<TokenGrant | null> => {
      const client = this.#client;
      const request = this.#request(requestSignal);
      const response = await oauth.refreshTokenGrantRequest(
        server,
        client,
        this.#authentication(server),
        refreshToken,
        request,
      );
      try {
        return toGrant(await oauth.processRefreshTokenResponse(server, client, response), this.#name);
      } catch (error) {
        if (isSpent(error)) return null;
        throw error;
      }
    };
    return requestProvider(this.#name, signal, work);
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

  /** The provider's metadata: configured, or discovered and cached for an hour. */
  async #metadata(signal: AbortSignal | undefined): Promise<oauth.AuthorizationServer> {
    const { issuer, auth_url, token_url } = this.#config;
    if (auth_url !== undefined && token_url !== undefined) {
      return { issuer: issuer ?? token_url, authorization_endpoint: auth_url, token_endpoint: token_url };
    }
    const now = this.#clock();
    if (this.#found !== undefined && now - this.#found.at < METADATA_AGE) return this.#found.server;
    const server = await requestProvider(this.#name, signal, (requestSignal) =>
      this.#discover(new URL(issuer as string), requestSignal),
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
      throw new ToolAuthError(`The OAuth provider ${this.#name} does not support PKCE with S256, which is required.`);
    }
    return server;
  }

  /** The metadata from the first of three places that answers, in the order of the MCP specification. */
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
    return new ToolAuthError(`The OAuth provider ${this.#name} names no safe ${what}: it must be an https: URL.`);
  }

  /** The authorization endpoint. */
  async #consentPage(signal?: AbortSignal): Promise<URL> {
    const { authorization_endpoint } = await this.#metadata(signal);
    if (authorization_endpoint !== undefined && this.#isUsable(authorization_endpoint))
      return new URL(authorization_endpoint);
    throw this.#unusable("authorization endpoint");
  }

  /** Request options for the library. */
  #transport<Method, Body>(fetch: Fetch, signal: AbortSignal): oauth.HttpRequestOptions<Method, Body> {
    const given = fetch as NonNullable<oauth.HttpRequestOptions<Method, Body>[typeof oauth.customFetch]>;
    return { signal, [oauth.customFetch]: given, [oauth.allowInsecureRequests]: this.#isLocal };
  }

  /** Whether the configured provider is on this machine, where http is allowed. */
  get #isLocal(): boolean {
    const { issuer, token_url = issuer } = this.#config;
    return token_url !== undefined && isLoopback(new URL(token_url));
  }

  /** Whether a discovered address may be used. A provider elsewhere cannot refer to this machine. */
  #isUsable(address: string): boolean {
    return URL.canParse(address) && isSafeFrom(new URL(address), this.#isLocal);
  }
}

/** Checks the tokens in an answer. */
export function toGrant(answer: oauth.TokenEndpointResponse, name: string): TokenGrant {
  const { access_token, token_type, refresh_token, expires_in } = answer;
  // `fetch` would show an invalid header value in its error.
  if (token_type !== "bearer" || !/^[\x21-\x7e]+$/.test(access_token)) {
    throw new ToolAuthError(`The OAuth provider ${name} gave a token that cannot be sent as a bearer token.`);
  }
  return {
    access_token,
    refresh_token: refresh_token ?? null,
    lifetime: expires_in === undefined ? null : expires_in * 1000,
  };
}

/** Time limit of a request in milliseconds. */
const MAX_WAIT = 30_000;

/**
 * Sends a request. Throws the reason of the caller's signal, a ToolTimeoutError, or what `failure` makes of other
 * errors.
 */
export async function requestProvider<T>(
  provider: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  failure: (error: unknown, provider: string) => Error = toOAuthFailure,
): Promise<T> {
  signal?.throwIfAborted();
  const late = AbortSignal.timeout(MAX_WAIT);
  try {
    return await work(signal === undefined ? late : AbortSignal.any([signal, late]));
  } catch (error) {
    signal?.throwIfAborted();
    if (!late.aborted) throw failure(error, provider);
    const sentence = `The OAuth provider of ${provider} did not answer within ${MAX_WAIT / 1000} s: try again later.`;
    throw new ToolTimeoutError(sentence, { neverSent: true });
  }
}

/** Maximum bytes of an answer. */
const MAX_ANSWER = 256 * 1024;

/** Members that are read from a token answer. The ID token is not: the host knows the user. */
const TOKEN_MEMBERS = ["access_token", "token_type", "expires_in", "refresh_token", "scope", "error"] as const;

/** The type of the global `fetch`. */
export type Fetch = typeof globalThis.fetch;

/** A `fetch` that reads the whole answer. Throws a TypeError if it is too long or breaks off. */
export function shortFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const bytes = await readBounded(chunksIn(response), MAX_ANSWER);
    if (bytes === undefined) throw new TypeError("the answer is too long");
    // In browsers an unfollowed redirect has no status. None of our requests should be redirected.
    if (response.status < 200 || [204, 205, 304].includes(response.status)) return new Response(null, { status: 502 });
    return new Response(bytes, { status: response.status, headers: response.headers });
  };
}

/** A `fetch` for the token endpoint. Keeps only the members that are read, and gives errors an error status. */
export function tokenFetch(fetch: Fetch): Fetch {
  const short = shortFetch(fetch);
  return async (input, init) => {
    const response = await short(input, init);
    const members = await readMembers(response);
    if (members === undefined) return new Response("", response);
    // Some providers send null for missing members.
    const read = Object.fromEntries(
      TOKEN_MEMBERS.map((name) => [name, members[name]]).filter(
        ([, value]) => typeof value === "string" || typeof value === "number",
      ),
    );
    // Some providers answer errors with 200.
    const isWrong = typeof read["error"] === "string" && response.status < 300;
    const status = isWrong ? 400 : response.status;
    // RFC 6749 §5.1 requires a type. Providers that leave it out use bearer tokens.
    if (typeof read["access_token"] === "string") read["token_type"] ??= "bearer";
    const headers = new Headers(response.headers);
    headers.set("content-type", "application/json");
    return new Response(JSON.stringify(read), { status, headers });
  };
}

/** The members of an answer in JSON or as a form, which GitHub sends. Undefined for anything else. */
async function readMembers(response: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (/^application\/x-www-form-urlencoded\b/i.test(response.headers.get("content-type") ?? "")) {
    const { expires_in, ...members } = Object.fromEntries(new URLSearchParams(await response.text()));
    return { ...members, ...(expires_in !== undefined && { expires_in: Number(expires_in) }) };
  }
  const body: unknown = await response.json().catch(() => null);
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : undefined;
}

/** Error codes of RFC 6749, its companions and GitHub. Others are not quoted. */
const KNOWN_ERRORS = new Set(
  (
    "access_denied invalid_client invalid_grant invalid_request invalid_scope invalid_target server_error " +
    "temporarily_unavailable unauthorized_client unsupported_grant_type unsupported_response_type " +
    "consent_required interaction_required login_required application_suspended bad_refresh_token " +
    "bad_verification_code incorrect_client_credentials redirect_uri_mismatch unverified_user_email"
  ).split(" "),
);

/** Codes for an authorization code that is no longer valid. */
const SPENT_CODE = new Set<string | undefined>(["invalid_grant", "bad_verification_code"]);

/** Codes for a refresh token that is no longer valid, from RFC 6749 and from providers. */
const SPENT = new Set(["invalid_grant", "bad_refresh_token", "invalid_refresh_token"]);

/** Whether a refresh token is no longer valid, so that the person has to consent again. */
function isSpent(error: unknown): boolean {
  return error instanceof oauth.ResponseBodyError && SPENT.has(error.error);
}

/**
 * The error for callers. It says that the source got no request. It has no cause, since that holds answers, and no
 * status where it would be taken for the source's own.
 */
export function toOAuthFailure(error: unknown, provider: string): ToolNodeError {
  if (error instanceof ToolNodeError) return error;
  if (error instanceof oauth.AuthorizationResponseError) return refusal(error.error, provider);
  if (error instanceof oauth.ResponseBodyError) return ofAnswer(error.response, provider, error.error);
  if (error instanceof oauth.WWWAuthenticateChallengeError) return ofAnswer(error.response, provider);
  if (error instanceof oauth.OperationProcessingError) {
    if (error.cause instanceof Response) return ofAnswer(error.cause, provider);
    const code = error.code ?? "no code";
    return toAuthError(`The OAuth provider ${provider} answered in a way that the specification forbids (${code}).`);
  }
  if (error instanceof oauth.UnsupportedOperationError) {
    return toAuthError(
      `The OAuth provider ${provider} gives an unsupported kind of token: only bearer tokens are supported.`,
    );
  }
  return new ToolConnectionError(
    `The OAuth provider ${provider} cannot be reached: check the network connection and try again.`,
    UNSENT,
  );
}

const UNSENT = { neverSent: true } as const;

function refusal(reason: string, provider: string): ToolAuthError {
  if (reason === "access_denied")
    return toAuthError(`The request for access to ${provider} was declined: nothing was stored.`);
  return toAuthError(`The OAuth provider ${provider} refused the request${nameReason(reason)}.`);
}

function ofAnswer({ status, headers }: Response, provider: string, reason?: string): ToolNodeError {
  const said = nameReason(reason);
  const { retryAfterSeconds } = fromStatus(status, headers, { source: provider });
  const details = { ...UNSENT, status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  if (status === 429) return new ToolRateLimitError(`The OAuth provider ${provider} asks for fewer requests.`, details);
  if (status >= 500)
    return new ToolServerError(`The OAuth provider ${provider} failed${said}: try again later.`, details);
  if (SPENT_CODE.has(reason)) {
    return toAuthError(
      `The OAuth provider ${provider} no longer accepts the code${said}: ask the user for consent again.`,
    );
  }
  const remedy = "check its addresses, client_id, client_secret and redirect_uri";
  return toAuthError(`The OAuth provider ${provider} refused this client${said}: ${remedy}.`);
}

function toAuthError(sentence: string): ToolAuthError {
  return new ToolAuthError(sentence, UNSENT);
}

function nameReason(reason: string | undefined): string {
  return reason !== undefined && KNOWN_ERRORS.has(reason) ? ` (${reason})` : "";
}
