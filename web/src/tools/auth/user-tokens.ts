/**
 * The tokens of users, renewed in time.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import type { OAuthClient, TokenGrant } from "./oauth-client.js";
import { tokenKey, type StoredToken, type TokenStore } from "./token-store.js";
import { Turns } from "./turns.js";

/** How long before its end a token is renewed, in milliseconds; half of its life where that is shorter. */
const MARGIN = 60_000;

interface Renewal {
  readonly done: Promise<string | null>;
  readonly control: AbortController;
}

/** Tokens in a store. What is done for one user and provider is done one after the other. */
export class UserTokens {
  readonly #store: TokenStore;
  readonly #clock: Clock;
  readonly #turns = new Turns();
  readonly #renewals = new Map<string, Renewal>();

  constructor(store: TokenStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** An access token that is good for a while; null where there is none and none can be had without the user. */
  async current(owner: string, provider: string, client: OAuthClient): Promise<string | null> {
    const token = await this.#stored(owner, provider, client);
    if (token === null) return null;
    return this.#isDue(token) ? this.#renewed(owner, provider, client) : token.access_token;
  }

  /** Keeps what a user's consent gave, in place of what was there; false, and it is not kept, where it is not wanted by then. */
  async keep(
    owner: string,
    provider: string,
    client: OAuthClient,
    grant: TokenGrant,
    isWanted: () => Promise<boolean>,
  ): Promise<boolean> {
    return this.#inTurn(owner, provider, async () => {
      if (!(await isWanted())) return false;
      await this.#store.store(owner, provider, this.#tokenOf(client, grant, null));
      return true;
    });
  }

  /** Forgets a token, and what a renewal on its way brings. */
  async forget(owner: string, provider: string): Promise<void> {
    const key = tokenKey(owner, provider);
    this.#renewals.get(key)?.control.abort();
    this.#renewals.delete(key);
    await this.#inTurn(owner, provider, () => this.#store.delete(owner, provider));
  }

  /** Lets an access token be over. */
  async refused(owner: string, provider: string, accessToken: string): Promise<void> {
    await this.#inTurn(owner, provider, async () => {
      const token = await this.#store.get(owner, provider);
      if (token?.access_token !== accessToken) return;
      if (token.refresh_token === null) await this.#store.delete(owner, provider);
      else await this.#store.store(owner, provider, { ...token, expires_at: 0 });
    });
  }

  /** One renewal at a time, whoever asks for it. */
  #renewed(owner: string, provider: string, client: OAuthClient): Promise<string | null> {
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
    // Another process may have been faster, and a second use of the old refresh token looks like theft.
    const token = await this.#stored(owner, provider, client);
    const isForgotten = (): boolean => signal.aborted;
    if (token === null || isForgotten()) return null;
    if (!this.#isDue(token)) return token.access_token;
    const rest = this.#isGood(token) ? token.access_token : null;
    if (token.refresh_token === null) return rest;
    try {
      const grant = await client.refresh(token.refresh_token, signal);
      if (isForgotten()) return null;
      if (grant === null) await this.#store.delete(owner, provider);
      else await this.#store.store(owner, provider, this.#tokenOf(client, grant, token.refresh_token));
      return grant?.access_token ?? null;
    } catch (error) {
      if (isForgotten()) return null;
      // The provider may be back before the token ends.
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

  async #stored(owner: string, provider: string, client: OAuthClient): Promise<StoredToken | null> {
    const token = await this.#store.get(owner, provider);
    return token?.issued_by === client.identity ? token : null;
  }

  #tokenOf({ identity }: OAuthClient, grant: TokenGrant, refreshToken: string | null): StoredToken {
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
