/**
 * Where users' tokens are stored, and whose they are.
 * @module
 */
import { fullScope } from "../../artifacts/scope.js";
import type { ArtifactScope } from "../../artifacts/store.js";
import { ToolAuthError } from "../errors.js";
import type { ToolContext } from "../context.js";

/** A user's token for a provider. All of it is secret. */
export interface StoredToken {
  /** Authorizes requests. */
  readonly access_token: string;
  /** Null if the provider gave none. */
  readonly refresh_token: string | null;
  /** When the access token expires, in milliseconds since 1970, or null. */
  readonly expires_at: number | null;
  /** When it was issued, in milliseconds since 1970. */
  readonly obtained_at: number;
  /** The issuer and the client. It is not used for any other. */
  readonly issued_by: string;
}

/**
 * Stores tokens by user and provider. Both can be any strings, and each pair has its own place. `user` is the user's
 * id, or the JSON text `["tenant","user"]` if there is a tenant. Return tokens even if they have expired: the manager
 * decides.
 */
export interface TokenStore {
  /** Stores a token, replacing an earlier one. */
  store(user: string, provider: string, token: StoredToken): Promise<void>;
  /** Returns the stored token, or null. */
  get(user: string, provider: string): Promise<StoredToken | null>;
  /** Deletes the token, if there is one. */
  delete(user: string, provider: string): Promise<void>;
  /**
   * Runs work that must not run concurrently for the same user and provider, in all processes that share the store.
   * Throws what the work throws. Providers that rotate refresh tokens treat a second use of the old one as theft.
   * Optional for stores that are not shared.
   */
  exclusively?<T>(user: string, provider: string, work: () => Promise<T>): Promise<T>;
}

/** Stores tokens in the memory of one process. Logs do not show them. */
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

/** A unique string for each pair. */
export function tokenKey(user: string, provider: string): string {
  return JSON.stringify([user, provider]);
}

/** A user: an id, or an id within a tenant. */
export type OAuthUser = string | Pick<ArtifactScope, "tenant_id" | "user_id">;

/** A user with both fields. */
export interface TokenOwner {
  /** Null if there are no tenants. */
  readonly tenant_id: string | null;
  /** Never empty. */
  readonly user_id: string;
}

/**
 * Normalises a user.
 *
 * @throws ToolAuthError if no user is named; SluiceError E_INVALID_ARGUMENT if a field is not a string.
 */
export function tokenOwner(user: OAuthUser): TokenOwner {
  const { tenant_id, user_id } = fullScope(typeof user === "string" ? { user_id: user } : toScope(user));
  if (user_id === null || user_id === "") {
    throw new ToolAuthError(
      "Tokens belong to a user, but no user is named: set scope.user_id in the context of the call.",
    );
  }
  return { tenant_id, user_id };
}

// Only these two fields of a scope name the user.
function toScope({ tenant_id, user_id }: Exclude<OAuthUser, string>): ArtifactScope {
  return { tenant_id: tenant_id ?? null, user_id: user_id ?? null };
}

/** The key of a caller, who may be anonymous. */
export function userKey({ scope }: Pick<ToolContext, "scope">): string {
  const { tenant_id, user_id } = fullScope(scope);
  return JSON.stringify([tenant_id, user_id]);
}

/**
 * The user's key in a store: the id, or JSON with the tenant. Unique: an id that looks like JSON is written as JSON
 * too.
 */
export function ownerKey({ tenant_id, user_id }: TokenOwner): string {
  return tenant_id === null && !user_id.startsWith("[") ? user_id : JSON.stringify([tenant_id, user_id]);
}
