import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { authorizeFor } from "../../../../web/src/tools/auth/credentials.js";
import { discoverMcpProvider } from "../../../../web/src/tools/auth/mcp-discovery.js";
import { mcpOAuthProvider } from "../../../../web/src/tools/auth/mcp-oauth.js";
import { OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import type { ToolContext } from "../../../../web/src/tools/context.js";
import { ToolAuthError } from "../../../../web/src/tools/errors.js";
import { consent, REDIRECT, startAuthorizationServer, type TestAuthorizationServer } from "./authorization-server.js";

const client = { redirect_uri: REDIRECT, client_name: "Sluice in a test" };

let authorization: TestAuthorizationServer;
let server: Server;
let url: string;
/** What the server says of itself. */
let metadata: () => Record<string, unknown>;
/** Tokens that the server takes no more. */
const revoked = new Set<string>();

beforeAll(async () => {
  authorization = await startAuthorizationServer();
});
afterAll(() => authorization[Symbol.asyncDispose]());

beforeEach(async () => {
  revoked.clear();
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  metadata = ordinary;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Whose token is in headers. */
async function ownerOf(headers: Readonly<Record<string, string>> = {}): Promise<string | null> {
  return authorization.owner(headers["Authorization"]?.replace("Bearer ", "") ?? "");
}

/** An MCP server that wants tokens, and tells each user who they are. */
async function answer(
  request: Parameters<StreamableHTTPServerTransport["handleRequest"]>[0],
  response: ServerResponse,
): Promise<void> {
  if (request.url === "/about") {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(metadata()));
    return;
  }
  const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
  const owner = revoked.has(token) ? null : await authorization.owner(token);
  if (request.url !== "/mcp" || owner === null || (await authorization.audience(token)) !== url) {
    const about = new URL("/about", url).href;
    response
      .writeHead(request.url === "/mcp" ? 401 : 404, { "www-authenticate": `Bearer resource_metadata="${about}"` })
      .end();
    return;
  }
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

/** A host whose users consent when they are asked. */
function hostOf(manager: OAuthManager, user_id: string): { context: ToolContext; asked: string[] } {
  const asked: string[] = [];
  const pause: ToolContext["pause"] = async (_, payload) => {
    asked.push(payload["provider"] as string);
    await manager.handleCallback(await consent(payload["auth_url"] as string, { login: `${user_id}@example` }), {
      user: user_id,
    });
  };
  return { context: { scope: { user_id }, pause }, asked };
}

async function whoami(manager: OAuthManager, context: ToolContext): Promise<unknown> {
  const authProvider = mcpOAuthProvider({ manager, provider: "files", context, client });
  const mcp = new Client({ name: "test", version: "1" });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
  try {
    return (await mcp.callTool({ name: "whoami", arguments: {} })).content;
  } finally {
    await mcp.close();
  }
}

test("a server that nobody configured says where to ask, and each user is asked once", async () => {
  const manager = new OAuthManager({ providers: {} });
  const ada = hostOf(manager, "ada");
  const eve = hostOf(manager, "eve");
  const both = await Promise.all([whoami(manager, ada.context), whoami(manager, eve.context)]);
  expect(both).toEqual([[{ type: "text", text: "ada@example" }], [{ type: "text", text: "eve@example" }]]);
  expect(await whoami(manager, ada.context)).toEqual(both[0]);
  expect([ada.asked, eve.asked]).toEqual([["files"], ["files"]]);
});

test("a token that the server refuses is renewed without asking", async () => {
  const manager = new OAuthManager({ providers: {} });
  const { context, asked } = hostOf(manager, "ada");
  await whoami(manager, context);
  revoked.add((await manager.getToken("ada", "files")) ?? "");
  expect(await whoami(manager, context)).toEqual([{ type: "text", text: "ada@example" }]);
  expect(asked).toEqual(["files"]);
});

test("without anybody to ask the connection fails with the remedy", async () => {
  const manager = new OAuthManager({ providers: {} });
  await expect(whoami(manager, { scope: { user_id: "ada" } })).rejects.toThrow("give the call's context a pause");
});

test("headers for other transports come of the same discovery, once for all who ask", async () => {
  const manager = new OAuthManager({ providers: {} });
  let times = 0;
  const discover = (): ReturnType<typeof discoverMcpProvider> => {
    times += 1;
    return discoverMcpProvider({ source: "files", url, client });
  };
  const config = { name: "files", auth_type: "oauth2_user", auth_config: {} } as const;
  const parts = { manager, discover, variables: (text: string) => text };
  const users = ["ada", "eve"].map((name) => hostOf(manager, name).context);
  const [ada, eve] = await Promise.all(users.map((context) => authorizeFor(config, context, parts)));
  expect([await ownerOf(await ada?.()), await ownerOf(await eve?.())]).toEqual(["ada@example", "eve@example"]);
  expect(times).toBe(1);
});

test("what is found out is a configuration like any other", async () => {
  expect(await discoverMcpProvider({ source: "files", url, client })).toEqual({
    display_name: "files",
    issuer: authorization.issuer,
    client_id: expect.stringMatching(/^[\w-]+$/),
    redirect_uri: REDIRECT,
    scopes: ["files.read", "offline_access"],
    resource: url,
  });
  const asked = await discoverMcpProvider({ source: "files", url, client: { ...client, scopes: ["openid"] } });
  expect(asked.scopes).toEqual(["openid", "offline_access"]);
});

test.each<[string, () => Record<string, unknown>]>([
  ["tokens for another server", () => ({ ...ordinary(), resource: "https://elsewhere.example/mcp" })],
  ["tokens for a neighbour", () => ({ ...ordinary(), resource: new URL("/other", url).href })],
  ["an unsafe provider", () => ({ ...ordinary(), authorization_servers: ["http://elsewhere.example"] })],
  ["a provider that is none", () => ({ ...ordinary(), authorization_servers: [new URL("/nothing", url).href] })],
])("a server that names %s is refused", async (_, says) => {
  metadata = says;
  await expect(discoverMcpProvider({ source: "files", url, client })).rejects.toThrow(ToolAuthError);
});

test("a server elsewhere cannot have this machine asked", async () => {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    const to = input instanceof Request ? input.url : String(input);
    asked.push(new URL(to).hostname);
    if (to.includes("oauth-protected-resource")) {
      return Response.json({ resource: "https://mcp.example/mcp", authorization_servers: [authorization.issuer] });
    }
    return new Response(null, { status: 401 });
  };
  const discovery = discoverMcpProvider({ source: "files", url: "https://mcp.example/mcp", client, fetch });
  await expect(discovery).rejects.toThrow("not safe to ask");
  expect(new Set(asked)).toEqual(new Set(["mcp.example"]));
});

test("a server that cannot be reached, or a caller who gives up, ends it", async () => {
  const port = (server.address() as AddressInfo).port;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const gone = { source: "files", url: `http://127.0.0.1:${port}/mcp`, client };
  await expect(discoverMcpProvider(gone)).rejects.toMatchObject({ code: "E_TOOL_CONNECTION" });
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(discoverMcpProvider({ ...gone, signal })).rejects.toThrow("enough");
});

function ordinary(): Record<string, unknown> {
  return { resource: url, authorization_servers: [authorization.issuer], scopes_supported: ["files.read"] };
}
