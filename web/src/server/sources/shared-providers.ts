/**
 * Providers that nobody configured: found out once, and the same client in every process that shares the state.
 * @module
 */
import { sha256 } from "#hash";
import type { OAuthManager } from "../../tools/auth/oauth-manager.js";
import type { McpClientIdentity } from "../../tools/auth/mcp-discovery.js";
import type { OAuthStateStore } from "../../tools/auth/oauth-state-store.js";
import type { OAuthProviderConfig } from "../../tools/auth/provider-config.js";

/** Seconds that what was found out is kept for others: a state store may keep it for less. */
const KEPT = 24 * 60 * 60;

/** What providers are found out with. */
export interface SharedProviderTerms {
  readonly manager: OAuthManager;
  readonly states: OAuthStateStore;
  /** Who this program is; undefined: nothing is found out. */
  readonly client: McpClientIdentity | undefined;
}

/** An MCP server whose users have tokens of their own. */
export interface TokenSource {
  /** The source's name. */
  readonly source: string;
  /** The provider's. */
  readonly provider: string;
  /** Where it is. */
  readonly url: string;
}

/**
 * Finds out the providers of MCP servers. A request for consent that begins in one process is answered in another only where
 * both are the same client of the provider.
 */
export class SharedProviders {
  readonly #terms: SharedProviderTerms;

  constructor(terms: SharedProviderTerms) {
    this.#terms = terms;
  }

  /** Sees to it that the manager knows the provider of a source. Throws what `discoverMcpProvider` throws. */
  async ensure(of: TokenSource): Promise<void> {
    const { manager, client } = this.#terms;
    if (client === undefined || (await this.adopt(of))) return;
    const { source, provider, url } = of;
    const key = await keyOf(of, client);
    await manager.ensureProvider(provider, () =>
      manager.discoverProvider({ source, url, client }).then((found) => this.#kept(key, found)),
    );
  }

  /** Takes over what another process found out, and asks nobody. False where there is nothing. Never throws. */
  async adopt(of: TokenSource): Promise<boolean> {
    const { manager, client } = this.#terms;
    if (manager.hasProvider(of.provider)) return true;
    if (client === undefined) return false;
    try {
      const kept = await this.#load(await keyOf(of, client));
      if (kept === null) return false;
      await manager.ensureProvider(of.provider, async () => kept);
      return true;
    } catch {
      // What cannot be read, or is damaged, is found out anew.
      return false;
    }
  }

  /** What others found out in the same moment goes before. */
  async #kept(key: string, found: OAuthProviderConfig): Promise<OAuthProviderConfig> {
    const { states } = this.#terms;
    try {
      const others = await this.#load(key);
      if (others !== null) return others;
      await states.saveOAuthState(key, found, KEPT);
    } catch {
      // It is good for this process all the same.
    }
    return found;
  }

  async #load(key: string): Promise<OAuthProviderConfig | null> {
    return (await this.#terms.states.loadOAuthState(key)) as OAuthProviderConfig | null;
  }
}

/** Another client of ours, as after a new configuration, is another one there too. */
async function keyOf({ source, url }: TokenSource, client: McpClientIdentity): Promise<string> {
  return `provider ${await sha256.whole(new TextEncoder().encode(JSON.stringify([source, url, client])))}`;
}
