/**
 * An MCP server that wants tokens of a provider, and says which.
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { TestAuthorizationServer } from "./authorization-server.js";

/** A server that listens; its tool `whoami` tells users who they are. */
export interface ProtectedMcp extends AsyncDisposable {
  readonly url: string;
  /** What it says of itself, which tests change. */
  metadata: Record<string, unknown>;
  /** Tokens that it takes no more. */
  readonly revoked: Set<string>;
}

/** Starts a server that takes the tokens which `authorization` gives for it. */
export async function startProtectedMcp(authorization: TestAuthorizationServer): Promise<ProtectedMcp> {
  const revoked = new Set<string>();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const about = new URL("/about", url).href;

  const ownerOf = async (token: string): Promise<string | null> =>
    revoked.has(token) || (await authorization.audience(token)) !== url ? null : authorization.owner(token);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/about") {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(started.metadata));
      return;
    }
    const owner =
      request.url === "/mcp" ? await ownerOf(request.headers.authorization?.replace("Bearer ", "") ?? "") : null;
    if (owner !== null) return toolsFor(owner, request, response);
    const status = request.url === "/mcp" ? 401 : 404;
    response.writeHead(status, { "www-authenticate": `Bearer resource_metadata="${about}"` }).end();
  }

  const started: ProtectedMcp = {
    url,
    metadata: { resource: url, authorization_servers: [authorization.issuer], scopes_supported: ["files.read"] },
    revoked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return started;
}

async function toolsFor(owner: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const mcp = new McpServer({ name: "files", version: "1" });
  mcp.registerTool("whoami", {}, () => ({ content: [{ type: "text", text: owner }] }));
  // As its types would have it, a server without sessions says so by a key that is there.
  const options = { sessionIdGenerator: undefined, enableJsonResponse: true } as unknown as {
    enableJsonResponse: boolean;
  };
  const transport = new StreamableHTTPServerTransport(options);
  await mcp.connect(transport);
  await transport.handleRequest(request, response);
}
