/**
 * Users' consent and the tokens that it gives.
 * @module
 */
import { generateRandomCodeVerifier, generateRandomState } from "oauth4webapi";
import { fullScope } from "../../artifacts/scope.js";
import type { Clock } from "../../artifacts/store.js";
import { untilLate } from "../../core/abort.js";
import { ToolAuthError, ToolTimeoutError, wrong } from "../errors.js";
import { discoverMcpProvider, type McpDiscovery } from "./mcp-discovery.js";
import { type Fetch, OAuthClient, type OAuthProviderConfig } from "./oauth-client.js";
import {
  checkStateStore,
  MemoryOAuthStates,
  type OAuthStateStore,
  PendingRequests,
  type TakenRequest,
} from "./pending-requests.js";
import { MemoryTokenStore, type OAuthUser, ownerKey, tokenOwner, type TokenStore } from "./token-store.js";
import { KeyedQueue } from "../../core/keyed-work.js";
import { UserTokens } from "./tokens.js";
import { checkOptionNames } from "../../errors/arguments.js";

/** Milliseconds that a caller waits for a token to be renewed, including the store. */
const MAX_WAIT = 60_000;

/** Options of an {@link OAuthManager}. */
export interface OAuthManagerOptions {
  /** Providers by name. A source uses the provider with its own name unless configured otherwise. */
  readonly providers: Readonly<Record<string, OAuthProviderConfig>>;
  /** Where tokens are stored. Defaults to memory. */
  readonly tokenStore?: TokenStore;
  /**
   * Where requests for consent are stored until they are answered. Share a state store between processes so that any
   * of them can take the answer. Defaults to memory.
   */
  readonly stateStore?: OAuthStateStore;
  /** The clock for expiry. Defaults to `Date.now`. */
  readonly clock?: Clock;
  /** Defaults to the global `fetch`. */
  readonly fetch?: Fetch;
}

/** Who is asked for consent, and for which provider. */
interface ConsentQuestion {
  /** The provider's name. */
  readonly provider: string;
  /** The user's id. */
  readonly user_id: string;
  /** The user's tenant, if there are tenants. */
  readonly tenant_id?: string | null;
  /** Returned with the answer and with errors, so that you can find what waits for it. */
  readonly trace_id?: string | null;
}

/** What to show to the user. */
export interface AuthRequest {
  /** The provider's name. */
  readonly display_name: string;
  /** Where the user consents. Contains the request's state. */
  readonly auth_url: string;
  /** The requested scopes. */
  readonly scopes: readonly string[];
}

/**
 * Asks users for consent (authorization code with PKCE), stores their tokens, and renews them before they expire.
 * Logs never show them. Methods throw `ToolNodeError`s without secrets, or the reason of an aborted signal.
 *
 * @example
 * const manager = new OAuthManager({ providers: { github: { auth_url, token_url, client_id, redirect_uri } } });
 * const { auth_url } = await manager.getAuthRequest({ provider: "github", user_id: "ada" });
 * // … in the host's callback endpoint, for the user who is logged in there; throws if the user declined:
 * await manager.handleCallback(new URL(request.url, base), { user: "ada" });
 * const token = await manager.getToken("ada", "github");
 */
export class OAuthManager {
  readonly #clients = new Map<string, OAuthClient>();
  readonly #clock: Clock;
  readonly #fetch: Fetch;
  readonly #pending: PendingRequests;
  readonly #tokens: UserTokens;
  readonly #finding = new KeyedQueue();

  /** Throws a ToolNodeError E_TOOL_CONFIG for a wrong provider or state store. */
  constructor(options: OAuthManagerOptions) {
    checkOptionNames(options, "an OAuthManager", ["clock", "fetch", "providers", "stateStore", "tokenStore"]);
    const { providers, tokenStore = new MemoryTokenStore(), stateStore, clock = Date.now, fetch } = options;
    this.#clock = clock;
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#pending = new PendingRequests(checkStateStore(stateStore ?? new MemoryOAuthStates(clock)), clock);
    this.#tokens = new UserTokens(tokenStore, clock);
    for (const [name, config] of Object.entries(providers)) this.setProvider(name, config);
  }

  /** Whether a provider is known. */
  hasProvider(name: string): boolean {
    return this.#clients.has(name);
  }

  /** Adds or replaces a provider. Throws like the constructor. */
  setProvider(name: string, config: OAuthProviderConfig): void {
    this.#clients.set(name, new OAuthClient({ name, config, fetch: this.#fetch, clock: this.#clock }));
  }

  /** Adds a provider that `find` returns, unless it is known. Concurrent callers share one search. */
  async ensureProvider(name: string, find: () => Promise<OAuthProviderConfig>): Promise<void> {
    await this.#finding.take(name, async () => {
      if (!this.hasProvider(name)) this.setProvider(name, await find());
    });
  }

  /**
   * Finds the provider of an MCP server without adding it, and registers this client there if necessary. A server on another
   * machine cannot refer to this one.
   *
   * @throws ToolAuthError if the server names no provider, or the provider accepts no unknown clients; other
   *   ToolNodeErrors if they cannot be reached; the signal's reason.
   */
  discoverProvider(discovery: McpDiscovery): Promise<OAuthProviderConfig> {
    return discoverMcpProvider(discovery);
  }

  /**
   * Returns a token that is valid for at least a short while, or null if the user has to be asked. Renews it shortly
   * before it expires; concurrent callers share one renewal.
   */
  async getToken(
    user: OAuthUser,
    provider: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<string | null> {
    const client = this.#findClient(provider);
    const owner = ownerKey(tokenOwner(user));
    return untilLate(() => this.#tokens.current(owner, provider, client), {
      most: MAX_WAIT,
      late: () => new ToolTimeoutError(`The token for ${provider} was not renewed within ${MAX_WAIT / 1000} s.`),
      signal: options.signal,
    });
  }

  /** Starts a request for consent, which can be answered for ten minutes. Also throws errors of the state store. */
  async getAuthRequest(
    question: ConsentQuestion,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<AuthRequest> {
    const { provider } = question;
    const client = this.#findClient(provider);
    const owner = tokenOwner(question);
    const { trace_id } = fullScope({ trace_id: question.trace_id ?? null });
    const state = generateRandomState();
    const verifier = generateRandomCodeVerifier();
    const auth_url = await client.consentUrl(state, verifier, options.signal);
    const request = { owner, trace_id, provider, identity: client.identity, verifier };
    await inTime((signal) => this.#pending.add(state, request, signal), options.signal);
    return { display_name: client.displayName, auth_url, scopes: [...client.scopes] };
  }

  /**
   * Handles the answer to a request for consent. Call it in the endpoint that `redirect_uri` names. Each request can
   * be answered once.
   *
   * @param options - `user`: who is logged in where the answer arrived. Always pass it if you know it: otherwise
   *   a person who follows another user's link gives that user their own token.
   * @throws a `CallbackError` if there is no token, also if the user declined: usually a ToolAuthError, or an error
   *   of the provider or a store. Nothing is stored then. If the state store failed early, the error has no user, and
   *   the same answer can be sent again.
   * @throws the signal's reason.
   */
  async handleCallback(
    callback: OAuthCallback,
    options: { readonly user?: OAuthUser; readonly signal?: AbortSignal } = {},
  ): Promise<CallbackAnswer> {
    const parameters = readParameters(callback);
    const state = parameters.get("state") ?? "";
    const { pending, isForgotten } = await this.#take(state, options.signal);
    const answer = { ...pending.owner, trace_id: pending.trace_id };
    try {
      if (isForgotten) throw forgotten();
      if (options.user !== undefined && ownerKey(tokenOwner(options.user)) !== ownerKey(pending.owner)) {
        throw new ToolAuthError(
          "The OAuth request belongs to another user, so nothing was stored: ask for consent again.",
        );
      }
      await this.#redeem(parameters, state, pending, options.signal);
    } catch (error) {
      // Other calls may share the signal, and so its reason: it must not be changed.
      if (options.signal?.aborted !== true) sayWhose(error, answer);
      throw error;
    }
    return answer;
  }

  /**
   * Deletes a user's token and cancels pending requests and renewals in all processes. The provider is not told.
   * Throws errors of the stores: the token then still exists. Can be repeated.
   */
  async forget(user: OAuthUser, provider: string): Promise<void> {
    const owner = tokenOwner(user);
    await inTime((signal) => this.#pending.forget(owner, provider, signal), undefined);
    await this.#tokens.forget(ownerKey(owner), provider);
  }

  /** Reports that a source rejected a token. It is not used again, but renewed or requested again. */
  async refused(user: OAuthUser, provider: string, accessToken: string): Promise<void> {
    await this.#tokens.refused(ownerKey(tokenOwner(user)), provider, accessToken);
  }

  /** The answered request, and whether its user has called `forget` since. Nothing changes if the store fails. */
  async #take(
    state: string,
    signal?: AbortSignal,
  ): Promise<{ readonly pending: TakenRequest; readonly isForgotten: boolean }> {
    const asked = await inTime((until) => this.#pending.look(state, until), signal);
    const isForgotten = asked !== null && (await inTime((until) => this.#pending.isForgotten(asked, until), signal));
    const pending = asked && (await inTime((until) => this.#pending.take(state, until), signal));
    if (pending !== null) return { pending, isForgotten };
    throw new ToolAuthError(
      "The OAuth request is unknown, has expired or was already answered: ask for consent again.",
    );
  }

  async #redeem(
    parameters: URLSearchParams,
    state: string,
    pending: TakenRequest,
    signal?: AbortSignal,
  ): Promise<void> {
    const { owner, provider, identity, verifier } = pending;
    const client = this.#findClient(provider);
    if (client.identity !== identity) {
      throw new ToolAuthError(`The OAuth provider ${provider} was replaced in the meantime: ask for consent again.`);
    }
    const grant = await client.redeem(parameters, state, verifier, signal);
    // `forget` may have been called since.
    const isWanted = async (): Promise<boolean> =>
      !(await inTime((until) => this.#pending.isForgotten(pending, until), signal));
    if (!(await this.#tokens.keep(ownerKey(owner), provider, client, grant, isWanted))) throw forgotten();
  }

  #findClient(provider: string): OAuthClient {
    const client = this.#clients.get(provider);
    if (client !== undefined) return client;
    throw wrong(
      `There is no OAuth provider ${JSON.stringify(provider)}: name it in the providers of the OAuthManager.`,
    );
  }
}

/** Limits the time of the state store. The signal of the work is aborted when its caller stops waiting. */
function inTime<T>(work: (until: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const late = (): Error =>
    new ToolTimeoutError(`The state store did not answer within ${MAX_WAIT / 1000} s: try again.`);
  return untilLate(work, { most: MAX_WAIT, late, signal });
}

function forgotten(): ToolAuthError {
  return new ToolAuthError(
    "The request for access was cancelled in the meantime, so nothing was stored: ask for consent again.",
  );
}

/** The callback of the consent page: the query parameters, or the whole URL. */
type OAuthCallback =
  | URL
  | {
      /** The request that is answered. */
      readonly state: string;
      /** The code to exchange for tokens. */
      readonly code?: string;
      /** The issuer (RFC 9207). Some providers require it. */
      readonly iss?: string;
      /** Why there is no code. */
      readonly error?: string;
    };

/** The user whose request was answered. */
interface CallbackAnswer {
  /** The user's id. */
  readonly user_id: string;
  /** The user's tenant, or null. */
  readonly tenant_id: string | null;
  /** The `trace_id` of the request. */
  readonly trace_id: string | null;
}

/**
 * An error of `handleCallback`, usually a `ToolNodeError`. If the request is known, it has the properties of the
 * answer, which logs do not show. The reason of the caller's own signal never has them.
 */
export type CallbackError = Error & Partial<CallbackAnswer>;

/** Adds the properties of the answer to an error, non-enumerable so that logs and JSON do not show them. */
function sayWhose(error: unknown, answer: CallbackAnswer): void {
  if (!(error instanceof Error) || !Object.isExtensible(error)) return;
  for (const [name, value] of Object.entries(answer)) {
    Object.defineProperty(error, name, { value, enumerable: false, configurable: true });
  }
}

/** The parameters of a callback. */
function readParameters(callback: OAuthCallback): URLSearchParams {
  if (callback instanceof URL) return new URLSearchParams(callback.searchParams);
  const { state, code, iss, error } = callback;
  const given = Object.entries({ state, code, iss, error }).filter(([, value]) => typeof value === "string");
  return new URLSearchParams(given as [string, string][]);
}
