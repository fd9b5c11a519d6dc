/**
 * Access tokens of users, which are stored and renewed, and of clients with credentials of their own (RFC 6749 §4.4).
 * @module
 */
import * as oauth from "oauth4webapi";
import type { Clock } from "../../artifacts/store.js";
import { isLoopback } from "../addresses.js";
import { KeyedQueue, SingleFlight } from "../../core/keyed-work.js";
import { type Fetch, toGrant, type OAuthClient, requestProvider, tokenFetch, type TokenGrant } from "./oauth-client.js";
import { type StoredToken, tokenKey, type TokenStore } from "./token-store.js";

/** Milliseconds before its end at which a token is renewed, or half of its lifetime if that is shorter. */
const MARGIN = 60_000;

interface Renewal {
  readonly done: Promise<string | null>;
  readonly control: AbortController;
}

/** Users' tokens in a store. Operations for the same user and provider run one after the other. */
export class UserTokens {
  readonly #store: TokenStore;
  readonly #clock: Clock;
  readonly #turns = new KeyedQueue();
  readonly #renewals = new Map<string, Renewal>();

  constructor(store: TokenStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns an access token that is valid for a while. Null if the user has to be asked. */
  async current(owner: string, provider: string, client: OAuthClient): Promise<string | null> {
    const token = await this.#readStored(owner, provider, client);
    if (token === null) return null;
    return this.#isDue(token) ? this.#renewOnce(owner, provider, client) : token.access_token;
  }

  /** Stores the tokens from a user's consent. Returns false, and stores nothing, if they are no longer wanted. */
  async keep(
    owner: string,
    provider: string,
    client: OAuthClient,
    grant: TokenGrant,
    isWanted: () => Promise<boolean>,
  ): Promise<boolean> {
    return this.#inTurn(owner, provider, async () => {
      if (!(await isWanted())) return false;
      await this.#store.store(owner, provider, this.#toToken(client, grant, null));
      return true;
    });
  }

  /** Deletes a token and cancels a renewal under way. */
  async forget(owner: string, provider: string): Promise<void> {
    const key = tokenKey(owner, provider);
    this.#renewals.get(key)?.control.abort();
    this.#renewals.delete(key);
    await this.#inTurn(owner, provider, () => this.#store.delete(owner, provider));
  }

  /** Marks an access token as expired. */
  async refused(owner: string, provider: string, accessToken: string): Promise<void> {
    await this.#inTurn(owner, provider, async () => {
      const token = await this.#store.get(owner, provider);
      if (token?.access_token !== accessToken) return;
      if (token.refresh_token === null) await this.#store.delete(owner, provider);
      else await this.#store.store(owner, provider, { ...token, expires_at: 0 });
    });
  }

  /** Concurrent callers share one renewal. */
  #renewOnce(owner: string, provider: string, client: OAuthClient): Promise<string | null> {
    const key = tokenKey(owner, provider);
    const known = this.#renewals.get(key);
    if (known !== undefined) return known.done;
    const control = new AbortController();
    const work = (): Promise<string | null> => this.#renew(owner, provider, client, control.signal);
    const done = this.#inTurn(owner, provider, work).finally(() => {
      if (this.#renewals.get(key)?.control === control) this.#renewals.delete(key);
    });
    this.#renewals.set(key, { done, control });
    return done;
  }

  async #renew(owner: string, provider: string, client: OAuthClient, signal: AbortSignal): Promise<string | null> {
    // Another process may have renewed it, and a second use of the refresh token looks like theft.
    const token = await this.#readStored(owner, provider, client);
    const isForgotten = (): boolean => signal.aborted;
    if (token === null || isForgotten()) return null;
    if (!this.#isDue(token)) return token.access_token;
    const rest = this.#isGood(token) ? token.access_token : null;
    if (token.refresh_token === null) return rest;
    try {
      const grant = await client.refresh(token.refresh_token, signal);
      if (isForgotten()) return null;
      if (grant === null) await this.#store.delete(owner, provider);
      else await this.#store.store(owner, provider, this.#toToken(client, grant, token.refresh_token));
      return grant?.access_token ?? null;
    } catch (error) {
      if (isForgotten()) return null;
      // The token is still valid, and the provider may recover before it expires.
      if (rest !== null && this.#isGood(token)) return rest;
      throw error;
    }
  }

  #inTurn<T>(owner: string, provider: string, work: () => Promise<T>): Promise<T> {
    const store = this.#store;
    return this.#turns.take(tokenKey(owner, provider), () =>
      store.exclusively === undefined ? work() : store.exclusively(owner, provider, work),
    );
  }

  async #readStored(owner: string, provider: string, client: OAuthClient): Promise<StoredToken | null> {
    const token = await this.#store.get(owner, provider);
    return token?.issued_by === client.identity ? token : null;
  }

  #toToken({ identity }: OAuthClient, grant: TokenGrant, refreshToken: string | null): StoredToken {
    const now = this.#clock();
    const { access_token, lifetime, refresh_token } = grant;
    return {
      access_token,
      refresh_token: refresh_token ?? refreshToken,
      expires_at: lifetime === null ? null : now + lifetime,
      obtained_at: now,
      issued_by: identity,
    };
  }

  #isGood({ expires_at }: StoredToken): boolean {
    return expires_at === null || this.#clock() < expires_at;
  }

  #isDue({ expires_at, obtained_at }: StoredToken): boolean {
    if (expires_at === null) return false;
    const margin = Math.min(MARGIN, Math.max(0, expires_at - obtained_at) / 2);
    return this.#clock() >= expires_at - margin;
  }
}

/** A client with credentials of its own. */
interface Client {
  /** The token endpoint. Must be a safe address. */
  readonly token_url: URL;
  readonly client_id: string;
  readonly client_secret: string;
  /** Null for the provider's default. */
  readonly scope: string | null;
}

/** Milliseconds before its end at which a token is no longer used, or a tenth of its lifetime if that is shorter. */
const CLIENT_MARGIN = 60_000;

interface CachedToken {
  readonly token: string;
  readonly until: number;
}

/** Client tokens of one source, in memory. Methods throw `ToolNodeError`s that never quote the provider. */
export class ClientTokens {
  readonly #source: string;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #kept = new Map<string, CachedToken>();
  readonly #requests = new SingleFlight<string>();

  constructor(source: string, fetch: Fetch, clock: Clock = Date.now) {
    this.#source = source;
    this.#fetch = tokenFetch(fetch);
    this.#clock = clock;
  }

  /** Returns a valid token. Concurrent callers share one request. */
  async token(client: Client, signal?: AbortSignal): Promise<string> {
    const key = toKey(client);
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#clock() < kept.until) return kept.token;
    return this.#requests.join(key, signal, async (requestSignal) => {
      const { access_token: token, lifetime } = await this.#ask(client, requestSignal);
      const until = lifetime === null ? Infinity : this.#clock() + lifetime - Math.min(CLIENT_MARGIN, lifetime / 10);
      this.#kept.set(key, { token, until });
      return token;
    });
  }

  /** Reports that a token was rejected, so that a new one is requested next. */
  refused(token: string): void {
    for (const [key, kept] of this.#kept) if (kept.token === token) this.#kept.delete(key);
  }

  #ask(client: Client, signal: AbortSignal): Promise<TokenGrant> {
    const { client_secret: secret } = client;
    return requestProvider(this.#source, signal, async (requestSignal) => {
      try {
        return await this.#grant(client, oauth.ClientSecretPost(secret), requestSignal);
      } catch (error) {
        // It is unknown which of the two methods the provider supports.
        if (!isUnknownClient(error)) throw error;
        return this.#grant(client, oauth.ClientSecretBasic(secret), requestSignal);
      }
    });
  }

  async #grant(
    { token_url, client_id, scope }: Client,
    way: oauth.ClientAuth,
    signal: AbortSignal,
  ): Promise<TokenGrant> {
    const server = { issuer: token_url.href, token_endpoint: token_url.href };
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      { client_id },
      way,
      scope === null ? {} : { scope },
      { signal, [oauth.customFetch]: this.#fetch, [oauth.allowInsecureRequests]: isLoopback(token_url) },
    );
    return toGrant(await oauth.processClientCredentialsResponse(server, { client_id }, response), this.#source);
  }
}

function toKey({ token_url, client_id, client_secret, scope }: Client): string {
  return JSON.stringify([token_url.href, client_id, client_secret, scope]);
}

function isUnknownClient(error: unknown): boolean {
  return (
    (error instanceof oauth.ResponseBodyError && error.error === "invalid_client") ||
    error instanceof oauth.WWWAuthenticateChallengeError
  );
}
