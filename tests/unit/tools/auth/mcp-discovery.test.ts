import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { authorizeFor } from "../../../../web/src/tools/auth/credentials.js";
import { discoverMcpProvider } from "../../../../web/src/tools/auth/mcp-discovery.js";
import { OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import type { ToolContext } from "../../../../web/src/tools/options.js";
import { ToolAuthError } from "../../../../web/src/tools/errors.js";
import { ToolNode } from "../../../../web/src/tools.js";
import { consent, REDIRECT, startAuthorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { startProtectedMcp, type ProtectedMcp } from "./protected-mcp.js";

const client = { redirect_uri: REDIRECT, client_name: "Sluice in a test" };

let authorization: TestAuthorizationServer;
let server: ProtectedMcp;

beforeAll(async () => {
  authorization = await startAuthorizationServer();
});
afterAll(() => authorization[Symbol.asyncDispose]());

beforeEach(async () => {
  server = await startProtectedMcp(authorization);
});
afterEach(() => server[Symbol.asyncDispose]());

const discovered = (
  more: Partial<Parameters<typeof discoverMcpProvider>[0]> = {},
): ReturnType<typeof discoverMcpProvider> => discoverMcpProvider({ source: "files", url: server.url, client, ...more });

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
  const node = new ToolNode(
    { name: "files", transport: "mcp", connection: server.url, auth_type: "oauth2_user" },
    { authManager: manager, oauthClient: client },
  );
  try {
    await node.connect(context);
    return (await node.call("files.whoami", {}, context)).value;
  } finally {
    await node.close();
  }
}

test("a server that nobody configured says where to ask, and each user is asked once", async () => {
  const manager = new OAuthManager({ providers: {} });
  const ada = hostOf(manager, "ada");
  const eve = hostOf(manager, "eve");
  const both = await Promise.all([whoami(manager, ada.context), whoami(manager, eve.context)]);
  expect(both).toEqual(["ada@example", "eve@example"]);
  expect(await whoami(manager, ada.context)).toEqual(both[0]);
  expect([ada.asked, eve.asked]).toEqual([["files"], ["files"]]);
});

test("a token that the server refuses is renewed without asking", async () => {
  const manager = new OAuthManager({ providers: {} });
  const { context, asked } = hostOf(manager, "ada");
  await whoami(manager, context);
  server.revoked.add((await manager.getToken("ada", "files")) ?? "");
  expect(await whoami(manager, context)).toEqual("ada@example");
  expect(asked).toEqual(["files"]);
});

test("without anybody to ask the connection fails with the remedy", async () => {
  const manager = new OAuthManager({ providers: {} });
  await expect(whoami(manager, { scope: { user_id: "ada" } })).rejects.toThrow("give the call's context a pause");
});

test("it is found out once for all who ask", async () => {
  const manager = new OAuthManager({ providers: {} });
  let times = 0;
  const discover = (): ReturnType<typeof discoverMcpProvider> => {
    times += 1;
    return discovered();
  };
  const config = { name: "files", auth_type: "oauth2_user", auth_config: {} } as const;
  const owner = async (user_id: string): Promise<string | null> => {
    const parts = { manager, discover };
    const authorize = await authorizeFor(config, hostOf(manager, user_id).context, parts);
    return authorization.owner((await authorize())["Authorization"]?.replace("Bearer ", "") ?? "");
  };
  expect(await Promise.all([owner("ada"), owner("eve")])).toEqual(["ada@example", "eve@example"]);
  expect(times).toBe(1);
});

test("what is found out is a configuration like any other", async () => {
  expect(await discovered()).toEqual({
    display_name: "files",
    issuer: authorization.issuer,
    client_id: expect.stringMatching(/^[\w-]+$/),
    redirect_uri: REDIRECT,
    scopes: ["files.read", "offline_access"],
    resource: server.url,
  });
  const asked = await discovered({ client: { ...client, scopes: ["openid"] } });
  expect(asked.scopes).toEqual(["openid", "offline_access"]);
});

test("a server that refused us already is not asked again", async () => {
  const refusal = await fetch(server.url);
  const asked: string[] = [];
  const noted: typeof globalThis.fetch = (input, init) => {
    asked.push(input instanceof Request ? input.url : String(input));
    return fetch(input, init);
  };
  expect(await discovered({ refusal, fetch: noted })).toMatchObject({ resource: server.url });
  expect(asked).toContain(new URL("/about", server.url).href);
  expect(asked).not.toContain(server.url);
});

test.each<[string, () => Record<string, unknown>]>([
  ["tokens for another server", () => ({ resource: "https://elsewhere.example/mcp" })],
  ["tokens for a neighbour", () => ({ resource: new URL("/other", server.url).href })],
  ["an unsafe provider", () => ({ authorization_servers: ["http://elsewhere.example"] })],
  ["a provider that is none", () => ({ authorization_servers: [new URL("/nothing", server.url).href] })],
])("a server that names %s is refused", async (_, says) => {
  Object.assign(server.metadata, says());
  await expect(discovered()).rejects.toThrow(ToolAuthError);
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
  await expect(discovered({ url: "https://mcp.example/mcp", fetch })).rejects.toThrow("not safe to ask");
  expect(new Set(asked)).toEqual(new Set(["mcp.example"]));
});

test("a server that cannot be reached, or a caller who gives up, ends it", async () => {
  await server[Symbol.asyncDispose]();
  await expect(discovered()).rejects.toMatchObject({ code: "E_TOOL_CONNECTION" });
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(discovered({ signal })).rejects.toThrow("enough");
});
