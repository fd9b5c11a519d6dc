/**
 * A manager in front of the tests' authorization server, and what all its tests do.
 * @module
 */
import {
  OAuthManager,
  type AuthRequest,
  type OAuthManagerOptions,
} from "../../../../web/src/tools/auth/oauth-manager.js";
import type { OAuthProviderConfig } from "../../../../web/src/tools/auth/oauth-client.js";
import { MemoryTokenStore, type TokenStore } from "../../../../web/src/tools/auth/token-store.js";
import { KeyedQueue } from "../../../../web/src/core/keyed-work.js";
import { consent, REDIRECT, type TestAuthorizationServer } from "./authorization-server.js";

/** The provider `files`, for a public client, unless something else is said. */
export function providerAt(
  server: TestAuthorizationServer,
  config: Partial<OAuthProviderConfig> = {},
): OAuthProviderConfig {
  return {
    display_name: "Files & more",
    issuer: server.issuer,
    client_id: "public",
    redirect_uri: REDIRECT,
    scopes: ["openid", "offline_access"],
    auth_params: { prompt: "consent" },
    ...config,
  };
}

/** A manager with that provider. */
export function managerOf(
  server: TestAuthorizationServer,
  options: Partial<OAuthManagerOptions> = {},
  config: Partial<OAuthProviderConfig> = {},
): OAuthManager {
  return new OAuthManager({ providers: { files: providerAt(server, config) }, ...options });
}

/** Asks for consent and gives it. */
export async function connect(manager: OAuthManager, user_id: string, tenant_id: string | null = null): Promise<void> {
  const request = await ask(manager, user_id, tenant_id);
  await manager.handleCallback(await consent(request.auth_url, { login: `${user_id}@${tenant_id ?? "example"}` }));
}

/** Asks for consent. */
export function ask(manager: OAuthManager, user_id: string, tenant_id: string | null = null): Promise<AuthRequest> {
  return manager.getAuthRequest({ provider: "files", user_id, tenant_id, trace_id: `trace of ${user_id}` });
}

/** A clock that tests turn. Starts with the real time: the server has no other. */
export class TestClock {
  now = Date.now();

  readonly read = (): number => this.now;

  pass(seconds: number): void {
    this.now += seconds * 1000;
  }
}

/** As one for many processes would be. */
export class SharedTokenStore extends MemoryTokenStore implements TokenStore {
  readonly #turns = new KeyedQueue();

  exclusively<T>(user: string, provider: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.take(JSON.stringify([user, provider]), work);
  }
}
