/**
 * Where users' tokens are kept (ToolNode 2.1 "TokenStore").
 * @module
 */

/** What one user was given for one provider. All of it is secret. */
export interface StoredToken {
  /** What requests are authorized by. */
  readonly access_token: string;
  /** Null where the provider gave none. */
  readonly refresh_token: string | null;
  /** When the access token ends, in milliseconds since 1970; null where the provider did not say. */
  readonly expires_at: number | null;
  /** When it was given, in milliseconds since 1970. */
  readonly obtained_at: number;
  /** Who gave it to which client: it is used for no others. */
  readonly issued_by: string;
}

/**
 * Keeps tokens for users and providers. Both names are any strings, and no two pairs of them share a place: `user` is the
 * user's id, or the JSON text `["tenant","user"]` where there is a tenant. The manager decides what is still of use: a store
 * gives what it was given, expired or not.
 */
export interface TokenStore {
  /** Keeps a token in place of the one before. */
  store(user: string, provider: string, token: StoredToken): Promise<void>;
  /** What was stored last; null when there is nothing. */
  get(user: string, provider: string): Promise<StoredToken | null>;
  /** Forgets it. Nothing to forget is no error. */
  delete(user: string, provider: string): Promise<void>;
  /**
   * Runs work that only one at a time may do for this user and provider, over all processes that share the store; throws
   * what it throws. Providers that give a new refresh token each time take a second use of the old one for theft. Left out
   * by stores that nobody shares.
   */
  exclusively?<T>(user: string, provider: string, work: () => Promise<T>): Promise<T>;
}

/** Keeps tokens in memory, for one process. Nothing outlives the object, and nothing of it shows in logs. */
export class MemoryTokenStore implements TokenStore {
  readonly #tokens = new Map<string, StoredToken>();

  async store(user: string, provider: string, token: StoredToken): Promise<void> {
    this.#tokens.set(tokenKey(user, provider), { ...token });
  }

  async get(user: string, provider: string): Promise<StoredToken | null> {
    const token = this.#tokens.get(tokenKey(user, provider));
    return token === undefined ? null : { ...token };
  }

  async delete(user: string, provider: string): Promise<void> {
    this.#tokens.delete(tokenKey(user, provider));
  }
}

/** One string for each pair. JSON keeps apart what joining would mix. */
export function tokenKey(user: string, provider: string): string {
  return JSON.stringify([user, provider]);
}
