import type { RequestListener } from "node:http";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ToolNode } from "../../../../web/src/tools.js";
import { authorizeFor } from "../../../../web/src/tools/auth/credentials.js";
import { discoverMcpProvider } from "../../../../web/src/tools/auth/mcp-discovery.js";
import { OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import { MemoryTokenStore } from "../../../../web/src/tools/auth/token-store.js";
import { ToolAuthError, ToolNodeError } from "../../../../web/src/tools/errors.js";
import type { ToolContext } from "../../../../web/src/tools/context.js";
import { serveForTest } from "../serve.js";
import { consent, REDIRECT, startAuthorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { type ProtectedMcp, startProtectedMcp } from "./protected-mcp.js";

describe("discovery", () => {
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
  ): ReturnType<typeof discoverMcpProvider> =>
    discoverMcpProvider({ source: "files", url: server.url, client, ...more });

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

  test("a server without a configured provider says where to ask, and each user is asked once", async () => {
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
    await expect(discovered({ url: "https://mcp.example/mcp", fetch })).rejects.toThrow("not safe: ");
    expect(new Set(asked)).toEqual(new Set(["mcp.example"]));
  });

  test("a server that cannot be reached, or a caller who gives up, ends it", async () => {
    await server[Symbol.asyncDispose]();
    await expect(discovered()).rejects.toMatchObject({ code: "E_TOOL_CONNECTION" });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(discovered({ signal })).rejects.toThrow("enough");
  });
});

describe("a hostile provider", () => {
  /** In everything that must not be shown. */
  const CANARY = "canary-2f6c";

  /** A manager whose token endpoint answers so, and what comes of a callback there. */
  async function callbackAt(
    answer: RequestListener,
  ): Promise<{ error: unknown; manager: OAuthManager; tokenStore: MemoryTokenStore }> {
    const issuer = await serveForTest(answer);
    const tokenStore = new MemoryTokenStore();
    const provider = {
      auth_url: `${issuer}/auth`,
      token_url: `${issuer}/token`,
      client_id: "c",
      client_secret: `secret-${CANARY}`,
      redirect_uri: REDIRECT,
    };
    const manager = new OAuthManager({ providers: { files: provider }, tokenStore });
    const { auth_url } = await manager.getAuthRequest({ provider: "files", user_id: "ada" });
    const state = new URL(auth_url).searchParams.get("state") ?? "";
    const error: unknown = await manager.handleCallback({ state, code: `code-${CANARY}` }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return { error, manager, tokenStore };
  }

  const json = (status: number, body: unknown): RequestListener => {
    return (_, response) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const bearer = { access_token: `token-${CANARY}`, token_type: "bearer" };

  test.each<[string, string, RequestListener]>([
    ["no JSON", "E_TOOL_AUTH", (_, response) => void response.end(`<p>${CANARY}`)],
    ["an array", "E_TOOL_AUTH", json(200, [CANARY])],
    ["nothing", "E_TOOL_AUTH", (_, response) => void response.end()],
    ["no token", "E_TOOL_AUTH", json(200, { ...bearer, access_token: undefined, other: CANARY })],
    ["a token of another kind", "E_TOOL_AUTH", json(200, { ...bearer, token_type: "mac" })],
    ["a token that must be proved", "E_TOOL_AUTH", json(200, { ...bearer, token_type: "DPoP" })],
    ["a token that ends a header", "E_TOOL_AUTH", json(200, { ...bearer, access_token: `${CANARY}\r\nX-Admin: 1` })],
    ["a life of no time", "E_TOOL_AUTH", json(200, { ...bearer, expires_in: CANARY })],
    ["a negative life", "E_TOOL_AUTH", json(200, { ...bearer, expires_in: -1 })],
    ["an error in its own words", "E_TOOL_AUTH", json(400, { error: CANARY, error_description: CANARY })],
    ["an error that says OK", "E_TOOL_AUTH", json(200, { error: "invalid_grant", error_description: CANARY })],
    [
      "a challenge",
      "E_TOOL_AUTH",
      (_, response) => void response.writeHead(401, { "www-authenticate": `Basic realm="${CANARY}"` }).end(),
    ],
    ["a redirect", "E_TOOL_AUTH", (_, response) => void response.writeHead(307, { location: `/${CANARY}` }).end()],
    ["no content", "E_TOOL_SERVER", (_, response) => void response.writeHead(204).end()],
    ["a failure", "E_TOOL_SERVER", json(500, { error: CANARY })],
    ["a wish for fewer requests", "E_TOOL_RATE_LIMIT", json(429, { error: CANARY })],
    ["no answer", "E_TOOL_CONNECTION", (_, response) => void response.destroy()],
    [
      "half an answer",
      "E_TOOL_CONNECTION",
      (_, response) => {
        response.writeHead(200, { "content-length": "100" }).write('{"access_token":');
        setImmediate(() => response.destroy());
      },
    ],
    [
      "too much",
      "E_TOOL_CONNECTION",
      (_, response) => void response.end(JSON.stringify({ ...bearer, more: "x".repeat(300_000) })),
    ],
    ["too deep", "E_TOOL_AUTH", (_, response) => void response.end(`{"access_token":${"[".repeat(100_000)}`)],
  ])("a provider that answers with %s is an error without what it said", async (_, code, answer) => {
    const { error, manager } = await callbackAt(answer);
    expect(error).toBeInstanceOf(ToolNodeError);
    expect(error).toMatchObject({ code });
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain(CANARY);
    expect(JSON.stringify([error, (error as ToolNodeError).toJSON()])).not.toContain(CANARY);
    expect(await manager.getToken("ada", "files")).toBeNull();
  });

  test("an answer never ends: giving up ends it", async () => {
    const control = new AbortController();
    const issuer = await serveForTest((_, response) => {
      response.writeHead(200).write("{");
      control.abort(new Error("enough"));
    });
    const provider = { auth_url: `${issuer}/a`, token_url: `${issuer}/t`, client_id: "c", redirect_uri: REDIRECT };
    const manager = new OAuthManager({ providers: { files: provider } });
    const { auth_url } = await manager.getAuthRequest({ provider: "files", user_id: "ada" });
    const state = new URL(auth_url).searchParams.get("state") ?? "";
    await expect(manager.handleCallback({ state, code: "c" }, { signal: control.signal })).rejects.toThrow("enough");
  });

  test("nothing that is public shows a secret", async () => {
    const { error, manager, tokenStore } = await callbackAt(
      json(200, { ...bearer, refresh_token: `refresh-${CANARY}` }),
    );
    expect(error).toBeUndefined();
    expect(await manager.getToken("ada", "files")).toBe(`token-${CANARY}`);
    await manager.getAuthRequest({ provider: "files", user_id: "ada" });
    for (const shown of [manager, tokenStore]) {
      expect(inspect(shown, { depth: null, showHidden: true })).not.toContain(CANARY);
      expect(JSON.stringify(shown)).toBe("{}");
    }
  });

  test.each<[string, (issuer: string) => Record<string, unknown>]>([
    ["another issuer", () => ({ issuer: "https://elsewhere.example" })],
    ["no token endpoint", (issuer) => ({ issuer, authorization_endpoint: `${issuer}/a` })],
    ["no authorization endpoint", (issuer) => ({ issuer, token_endpoint: `${issuer}/t` })],
    [
      "a script to consent with",
      (issuer) => ({ issuer, token_endpoint: `${issuer}/t`, authorization_endpoint: "javascript:alert(1)" }),
    ],
    [
      "an unsafe token endpoint",
      (issuer) => ({ issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: "http://a.example/t" }),
    ],
    [
      "no proof keys",
      (issuer) => ({
        issuer,
        authorization_endpoint: `${issuer}/a`,
        token_endpoint: `${issuer}/t`,
        code_challenge_methods_supported: ["plain"],
      }),
    ],
  ])("discovered metadata with %s is refused", async (_, metadata) => {
    let issuer = "";
    issuer = await serveForTest((request, response) => json(200, metadata(issuer))(request, response));
    const manager = new OAuthManager({ providers: { files: { issuer, client_id: "c", redirect_uri: REDIRECT } } });
    await expect(manager.getAuthRequest({ provider: "files", user_id: "ada" })).rejects.toMatchObject({
      code: "E_TOOL_AUTH",
    });
  });

  test("metadata is fetched once an hour, and a failure is not remembered", async () => {
    let now = 0;
    const asked: (string | undefined)[] = [];
    let isDown = true;
    let issuer = "";
    issuer = await serveForTest((request, response) => {
      asked.push(request.url);
      const found = { issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` };
      if (isDown || request.url?.includes("oauth-authorization-server") === true) response.writeHead(404).end();
      else json(200, found)(request, response);
    });
    const clock = (): number => now;
    const manager = new OAuthManager({
      providers: { files: { issuer, client_id: "c", redirect_uri: REDIRECT } },
      clock,
    });
    const ask = (): Promise<unknown> => manager.getAuthRequest({ provider: "files", user_id: "ada" });
    await expect(ask()).rejects.toBeInstanceOf(ToolNodeError);
    isDown = false;
    await ask();
    await ask();
    const both = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
    expect(asked).toEqual([...both, ...both]);
    now = 3_600_000;
    await ask();
    expect(asked.length).toBe(6);
  });

  test.each([
    "/.well-known/oauth-authorization-server/tenant",
    "/.well-known/openid-configuration/tenant",
    "/tenant/.well-known/openid-configuration",
  ])("metadata of an issuer with a path is found at %s", async (place) => {
    let issuer = "";
    const origin = await serveForTest((request, response) => {
      const found = { issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` };
      if (request.url === place) json(200, found)(request, response);
      else response.writeHead(404).end();
    });
    issuer = `${origin}/tenant`;
    const manager = new OAuthManager({ providers: { files: { issuer, client_id: "c", redirect_uri: REDIRECT } } });
    const { auth_url } = await manager.getAuthRequest({ provider: "files", user_id: "ada" });
    expect(auth_url.startsWith(`${issuer}/a?`)).toBe(true);
  });

  test.each<[string, RequestListener]>([
    ["without a type", json(200, { access_token: "good", expires_in: 3600 })],
    ["whose type is null", json(200, { access_token: "good", token_type: null })],
    [
      "as a form",
      (_, response) =>
        void response
          .writeHead(200, { "content-type": "application/x-www-form-urlencoded; charset=utf-8" })
          .end("access_token=good&scope=repo%2Cgist&token_type=bearer&expires_in=3600"),
    ],
  ])("a token %s is a bearer token", async (_, answer) => {
    const { error, manager } = await callbackAt(answer);
    expect(error).toBeUndefined();
    expect(await manager.getToken("ada", "files")).toBe("good");
  });

  test.each<[string, RequestListener]>([
    [
      "JSON",
      json(200, { error: "bad_verification_code", error_description: "The code passed is incorrect or expired." }),
    ],
    [
      "a form",
      (_, response) =>
        void response
          .writeHead(200, { "content-type": "application/x-www-form-urlencoded" })
          .end("error=bad_verification_code&error_description=The+code+passed+is+incorrect+or+expired."),
    ],
  ])("an error of GitHub's, which says 200, is that error: %s", async (_, answer) => {
    const { error, manager } = await callbackAt(answer);
    expect(error).toMatchObject({ code: "E_TOOL_AUTH" });
    expect(String(error)).toContain("no longer accepts the code (bad_verification_code)");
    expect(await manager.getToken("ada", "files")).toBeNull();
  });
});
