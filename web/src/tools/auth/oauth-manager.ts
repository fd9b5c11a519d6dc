/**
 * Users' consent to act for them, and the tokens that come of it (ToolNode 2.1 §3 `OAuthManager`).
 * @module
 */
import { generateRandomCodeVerifier, generateRandomState } from "oauth4webapi";
import { fullScope } from "../../artifacts/scope.js";
import type { Clock } from "../../artifacts/store.js";
import { untilLate } from "../../core/abort.js";
import { ToolAuthError, ToolTimeoutError } from "../errors.js";
import { wrong } from "../problem.js";
import { discoverMcpProvider, type McpDiscovery } from "./mcp-discovery.js";
import { OAuthClient } from "./oauth-client.js";
import { checkedStateStore, MemoryOAuthStates, type OAuthStateStore } from "./oauth-state-store.js";
import { type OAuthUser, ownerKey, tokenOwner } from "./owner.js";
import { PendingRequests, type TakenRequest } from "./pending-requests.js";
import type { OAuthProviderConfig } from "./provider-config.js";
import type { Fetch } from "./provider-request.js";
import { MemoryTokenStore, type TokenStore } from "./token-store.js";
import { Turns } from "./turns.js";
import { UserTokens } from "./user-tokens.js";

/** How long a caller waits for a token to be renewed, the store's work included, in milliseconds. */
const MAX_WAIT = 60_000;

/** Options of an {@link OAuthManager}. */
export interface OAuthManagerOptions {
  /** Providers by name; as a rule a source's tokens are those of the provider with the source's name. */
  readonly providers: Readonly<Record<string, OAuthProviderConfig>>;
  /** Where tokens are kept; in memory when left out. */
  readonly tokenStore?: TokenStore;
  /**
   * Where requests for consent wait for their answers: a state store that processes share, so that any of them can take the
   * answer. In memory when left out.
   */
  readonly stateStore?: OAuthStateStore;
  /** What tokens and requests expire by; `Date.now` when left out. */
  readonly clock?: Clock;
  /** How providers are asked; the global one when left out. */
  readonly fetch?: Fetch;
}

/** Whose consent is asked for, and for what. */
export interface ConsentQuestion {
  /** The provider's name. */
  readonly provider: string;
  /** The person. */
  readonly user_id: string;
  /** Where users belong to tenants. */
  readonly tenant_id?: string | null;
  /** Given back with the answer, and with what goes wrong: what waits for it. */
  readonly trace_id?: string | null;
}

/** What a person is shown. */
export interface AuthRequest {
  /** Who is to give access. */
  readonly display_name: string;
  /** Where the person consents; holds the request's state. */
  readonly auth_url: string;
  /** What is asked for. */
  readonly scopes: readonly string[];
}

/**
 * Asks users for consent (authorization code with PKCE), keeps their tokens and renews them before they end. Shows
 * nothing of them in logs. Errors are `ToolNodeError`s without secrets; what a caller's signal ended is thrown as its reason.
 *
 * @example
 * const manager = new OAuthManager({ providers: { github: { auth_url, token_url, client_id, redirect_uri } } });
 * const { auth_url } = await manager.getAuthRequest({ provider: "github", user_id: "ada" });
 * // … in the host's callback endpoint, for the user who is logged in there; throws where the person declined:
 * await manager.handleCallback(new URL(request.url, base), { user: "ada" });
 * const token = await manager.getToken("ada", "github");
 */
export class OAuthManager {
  readonly #clients = new Map<string, OAuthClient>();
  readonly #clock: Clock;
  readonly #fetch: Fetch;
  readonly #pending: PendingRequests;
  readonly #tokens: UserTokens;
  readonly #finding = new Turns();

  /** Throws a ToolNodeError E_TOOL_CONFIG that names what is wrong with a provider, or the state store. */
  constructor({
    providers,
    tokenStore = new MemoryTokenStore(),
    stateStore,
    clock = Date.now,
    fetch,
  }: OAuthManagerOptions) {
    this.#clock = clock;
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#pending = new PendingRequests(checkedStateStore(stateStore ?? new MemoryOAuthStates(clock)), clock);
    this.#tokens = new UserTokens(tokenStore, clock);
    for (const [name, config] of Object.entries(providers)) this.setProvider(name, config);
  }

  /** Whether there is a provider of that name. */
  hasProvider(name: string): boolean {
    return this.#clients.has(name);
  }

  /** Adds a provider that was found out later, or replaces one. Throws as the constructor. */
  setProvider(name: string, config: OAuthProviderConfig): void {
    this.#clients.set(name, new OAuthClient({ name, config, fetch: this.#fetch, clock: this.#clock }));
  }

  /** Adds a provider that nobody configured, found out by `find`: once, however many need it at the same time. */
  async ensureProvider(name: string, find: () => Promise<OAuthProviderConfig>): Promise<void> {
    await this.#finding.take(name, async () => {
      if (!this.hasProvider(name)) this.setProvider(name, await find());
    });
  }

  /** Finds out the provider of an MCP server, and adds nothing: see {@link discoverMcpProvider}. */
  discoverProvider(discovery: McpDiscovery): Promise<OAuthProviderConfig> {
    return discoverMcpProvider(discovery);
  }

  /**
   * A token that is good for at least a little while; null where the user has to be asked. Renewed when it is about to end,
   * once, however many ask for it.
   */
  async getToken(
    user: OAuthUser,
    provider: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<string | null> {
    const client = this.#clientOf(provider);
    const owner = ownerKey(tokenOwner(user));
    return untilLate(() => this.#tokens.current(owner, provider, client), {
      most: MAX_WAIT,
      late: () => new ToolTimeoutError(`The token for ${provider} was not renewed within ${MAX_WAIT / 1000} s.`),
      signal: options.signal,
    });
  }

  /** Begins a request for consent, which waits ten minutes for its answer. Throws what the state store fails with, too. */
  async getAuthRequest(
    question: ConsentQuestion,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<AuthRequest> {
    const { provider } = question;
    const client = this.#clientOf(provider);
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
   * Takes the answer to a request for consent: call it in the endpoint that `redirect_uri` names. Each request can be
   * answered once.
   *
   * @param options - `user`: who is logged in where the answer arrived. Give it wherever that is known: without it, somebody
   * who is sent another's link would hand that other person a token of their own.
   * @throws a `CallbackError` for an answer that gives no token, also where the person declined: ToolAuthError as a rule, and
   * whatever the provider or a store fails with. Nothing is stored then. The reason of the signal. Where the state store fails
   * before the request was taken it says not whose it was: the request waits on, and the same answer may come again.
   */
  async handleCallback(
    callback: OAuthCallback,
    options: { readonly user?: OAuthUser; readonly signal?: AbortSignal } = {},
  ): Promise<CallbackAnswer> {
    const parameters = parametersOf(callback);
    const state = parameters.get("state") ?? "";
    const { pending, isForgotten } = await this.#taken(state, options.signal);
    const answer = { ...pending.owner, trace_id: pending.trace_id };
    try {
      if (isForgotten) throw forgotten();
      if (options.user !== undefined && ownerKey(tokenOwner(options.user)) !== ownerKey(pending.owner)) {
        throw new ToolAuthError("The OAuth request is another user's: nothing was stored. Ask for consent again.");
      }
      await this.#redeem(parameters, state, pending, options.signal);
    } catch (error) {
      // The reason of a signal may be that of many.
      if (options.signal?.aborted !== true) sayWhose(error, answer);
      throw error;
    }
    return answer;
  }

  /**
   * Forgets what a user gave, also what is on its way, in whichever process that began. The provider is not told. Throws what
   * the stores fail with: the token is still there then, and where the token store failed, what is on its way is forgotten all
   * the same. To call it again does no harm.
   */
  async forget(user: OAuthUser, provider: string): Promise<void> {
    const owner = tokenOwner(user);
    await inTime((signal) => this.#pending.forget(owner, provider, signal), undefined);
    await this.#tokens.forget(ownerKey(owner), provider);
  }

  /** Says that a source refused a token: it is not given out again, but renewed or asked for anew. */
  async refused(user: OAuthUser, provider: string, accessToken: string): Promise<void> {
    await this.#tokens.refused(ownerKey(tokenOwner(user)), provider, accessToken);
  }

  /** The request that is answered, and whether its user forgot the provider. A store that fails leaves it as it is. */
  async #taken(
    state: string,
    signal?: AbortSignal,
  ): Promise<{ readonly pending: TakenRequest; readonly isForgotten: boolean }> {
    const asked = await inTime((until) => this.#pending.look(state, until), signal);
    const isForgotten = asked !== null && (await inTime((until) => this.#pending.isForgotten(asked, until), signal));
    const pending = asked && (await inTime((until) => this.#pending.take(state, until), signal));
    if (pending !== null) return { pending, isForgotten };
    throw new ToolAuthError("The OAuth request is unknown, too old or was answered before: ask for consent again.");
  }

  async #redeem(
    parameters: URLSearchParams,
    state: string,
    pending: TakenRequest,
    signal?: AbortSignal,
  ): Promise<void> {
    const { owner, provider, identity, verifier } = pending;
    const client = this.#clientOf(provider);
    if (client.identity !== identity) {
      throw new ToolAuthError(
        `The OAuth provider ${provider} was replaced by another meanwhile: ask for consent again.`,
      );
    }
    const grant = await client.redeem(parameters, state, verifier, signal);
    // The user may have forgotten the provider since then.
    const isWanted = async (): Promise<boolean> =>
      !(await inTime((until) => this.#pending.isForgotten(pending, until), signal));
    if (!(await this.#tokens.keep(ownerKey(owner), provider, client, grant, isWanted))) throw forgotten();
  }

  #clientOf(provider: string): OAuthClient {
    const client = this.#clients.get(provider);
    if (client !== undefined) return client;
    throw wrong(
      `There is no OAuth provider ${JSON.stringify(provider)}: name it in the providers of the OAuthManager.`,
    );
  }
}

/** Waits for the state store, but not forever. The work gets a signal that says that nobody waits any more. */
function inTime<T>(work: (until: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const late = (): Error =>
    new ToolTimeoutError(`The state store did not answer within ${MAX_WAIT / 1000} s: try again.`);
  return untilLate(work, { most: MAX_WAIT, late, signal });
}

function forgotten(): ToolAuthError {
  return new ToolAuthError(
    "The access that was asked for was given up meanwhile: nothing was stored. Ask for consent again.",
  );
}

/** What came back from the consent page: the parameters of the query, or the whole URL. */
export type OAuthCallback =
  | URL
  | {
      /** Which request is answered. */
      readonly state: string;
      /** What tokens are given for. */
      readonly code?: string;
      /** Who answers (RFC 9207); some providers insist on it. */
      readonly iss?: string;
      /** Why there is no code. */
      readonly error?: string;
    };

/** Whose request was answered. */
export interface CallbackAnswer {
  /** The person. */
  readonly user_id: string;
  /** The tenant; null where there are none. */
  readonly tenant_id: string | null;
  /** What waits for the answer, as it was given with the question. */
  readonly trace_id: string | null;
}

/**
 * What `handleCallback` throws, as a rule a `ToolNodeError`. Where it is known whose request was answered the error says so,
 * in properties that logs do not show; else they are left out. What the caller's own signal ended says nothing of it.
 */
export type CallbackError = Error & Partial<CallbackAnswer>;

/** Has an error say whose request it answers: whoever waits for it has to be told. Logs do not show it, nor does JSON. */
function sayWhose(error: unknown, answer: CallbackAnswer): void {
  if (!(error instanceof Error) || !Object.isExtensible(error)) return;
  for (const [name, value] of Object.entries(answer)) {
    Object.defineProperty(error, name, { value, enumerable: false, configurable: true });
  }
}

/** The parameters of an answer, however it was given. */
function parametersOf(callback: OAuthCallback): URLSearchParams {
  if (callback instanceof URL) return new URLSearchParams(callback.searchParams);
  const { state, code, iss, error } = callback;
  const given = Object.entries({ state, code, iss, error }).filter(([, value]) => typeof value === "string");
  return new URLSearchParams(given as [string, string][]);
}
