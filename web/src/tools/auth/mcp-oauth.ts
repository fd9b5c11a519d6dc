/**
 * OAuth for the MCP SDK's own transports: users' tokens in our store, and consent through the host.
 * @module
 */
import type { AuthProvider } from "@modelcontextprotocol/client";
import { fullScope } from "../../artifacts/scope.js";
import type { ToolContext } from "../context.js";
import { askUser } from "./consent.js";
import { discoverMcpProvider, type McpClientIdentity } from "./mcp-discovery.js";
import type { OAuthManager } from "./oauth-manager.js";
import { tokenOwner } from "./owner.js";

/** What an MCP transport is authorized with. */
export interface McpOAuthOptions {
  /** Keeps the tokens. */
  readonly manager: OAuthManager;
  /** The provider's name; found out from the server where the manager does not know it. */
  readonly provider: string;
  /** Whose tokens are used, and who is asked. */
  readonly context: ToolContext;
  /** Who we are to a provider that is found out; left out: only providers that the manager knows. */
  readonly client?: McpClientIdentity;
}

/**
 * An `authProvider` for `StreamableHTTPClientTransport` and `SSEClientTransport`. A refused request waits for the user's
 * consent, if need be, and is then sent once more by the transport.
 *
 * The SDK's other interface, `OAuthClientProvider`, ends a connection at the redirect and redeems codes itself; here the
 * manager does, with its own checks, and renews once for all who wait.
 */
export function mcpOAuthProvider({ manager, provider, context, client }: McpOAuthOptions): AuthProvider {
  const owner = tokenOwner(fullScope(context.scope));
  const { signal } = context;
  const options = signal === undefined ? {} : { signal };
  let given: string | null = null;
  return {
    token: async () => {
      given = manager.hasProvider(provider) ? await manager.getToken(owner, provider, options) : null;
      return given ?? undefined;
    },
    onUnauthorized: async ({ response, serverUrl, fetchFn }) => {
      if (client !== undefined) {
        const fetch: typeof globalThis.fetch = (input, init) =>
          fetchFn(input instanceof Request ? input.url : input, init);
        const discovery = { source: provider, url: serverUrl, client, refusal: response, fetch, ...options };
        await manager.ensureProvider(provider, () => discoverMcpProvider(discovery));
      }
      if (given !== null) await manager.refused(owner, provider, given);
      if ((await manager.getToken(owner, provider, options)) === null) await askUser(manager, provider, context);
    },
  };
}
