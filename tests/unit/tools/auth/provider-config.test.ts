/** Providers of sign-in in the configuration, and where their tokens are kept. */
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLoopback, isSafe, isSafeRedirect } from "../../../../web/src/tools/addresses.js";
import { type AuthConfig, authorizeFor } from "../../../../web/src/tools/auth/credentials.js";
import { checkProvider, type OAuthProviderConfig } from "../../../../web/src/tools/auth/oauth-client.js";
import { OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import { MemoryTokenStore } from "../../../../web/src/tools/auth/token-store.js";
import { ToolAuthError } from "../../../../web/src/tools/errors.js";
import type { ToolContext } from "../../../../web/src/tools/context.js";
import { consent, startAuthorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { connect, managerOf, SharedTokenStore, TestClock } from "./consenting.js";
import { describeTokenStore, tokenNamed } from "./token-store-contract.js";

describe("configurations of providers", () => {
  const urls = { auth_url: "https://a.example/auth", token_url: "https://a.example/token" };
  const valid: OAuthProviderConfig = { ...urls, client_id: "c", redirect_uri: "https://host.example/callback" };

  test.each<[string, Partial<OAuthProviderConfig>]>([
    ["addresses", {}],
    [
      "all fields of the seed",
      { name: "files", display_name: "Files", client_secret: "x", scopes: ["repo", "user:email"] },
    ],
    ["an app's own scheme", { redirect_uri: "com.example.app:/callback" }],
    [
      "this machine",
      { auth_url: "http://localhost:1/a", token_url: "http://127.0.0.1:1/t", redirect_uri: "http://[::1]:1/c" },
    ],
    ["an issuer besides", { issuer: "https://a.example" }],
    ["a resource", { resource: "https://api.example/mcp" }],
  ])("takes %s", (_, config) => {
    expect(checkProvider("files", { ...valid, ...config })).toMatchObject(config);
  });

  test.each<[string, unknown]>([
    ["providers.files.client_id", { ...valid, client_id: undefined }],
    ["providers.files.client_id", { ...valid, client_id: "" }],
    ["providers.files.client_secret", { ...valid, client_secret: "" }],
    ["providers.files.auth_url", { ...valid, auth_url: "http://a.example/auth" }],
    ["providers.files.auth_url", { ...valid, auth_url: "javascript:alert(1)" }],
    ["providers.files.auth_url", { ...valid, auth_url: undefined }],
    ["providers.files.token_url", { ...valid, token_url: undefined }],
    ["providers.files.token_url", { ...valid, token_url: "https://user:hunter2@a.example/token" }],
    ["providers.files.token_url", { ...valid, token_url: "http://127.0.0.1.evil.example/token" }],
    ["providers.files.issuer", { ...valid, auth_url: undefined, token_url: undefined }],
    ["providers.files.issuer", { ...valid, issuer: "a.example" }],
    ["providers.files.redirect_uri", { ...valid, redirect_uri: "http://host.example/callback" }],
    ["providers.files.redirect_uri", { ...valid, redirect_uri: "javascript:alert(1)" }],
    ["providers.files.redirect_uri", { ...valid, redirect_uri: "data:text/html,x" }],
    ["providers.files.scopes.1", { ...valid, scopes: ["a", "b c"] }],
    ["providers.files.auth_params", { ...valid, auth_params: { state: "x" } }],
    ["providers.files.token_endpoint_auth_method", { ...valid, token_endpoint_auth_method: "client_secret_post" }],
    ["providers.files.name", { ...valid, name: "mail" }],
    ["clientSecret", { ...valid, clientSecret: "hunter2" }],
    ["providers.files", null],
  ])("names %s where that is wrong, and no value", (place, config) => {
    const make = (): unknown => new OAuthManager({ providers: { files: config as OAuthProviderConfig } });
    expect(make).toThrow(expect.objectContaining({ code: "E_TOOL_CONFIG", message: expect.stringContaining(place) }));
    expect(make).toThrow(expect.objectContaining({ message: expect.not.stringMatching(/hunter2|alert/) }));
  });

  /** Whether a URL is this machine, safe to ask, and safe to be sent back to. */
  function judged(text: string): boolean[] {
    return [isLoopback, isSafe, isSafeRedirect].map((judge) => judge(new URL(text)));
  }

  test("tells this machine from names that look like it", () => {
    expect(judged("http://127.1/")).toEqual([true, true, true]);
    expect(judged("http://localhost.example/")).toEqual([false, false, false]);
    expect(judged("http://127.0.0.1.example/")).toEqual([false, false, false]);
    expect(judged("https://a.example/")).toEqual([false, true, true]);
    expect(judged("https://localhost@a.example/")).toEqual([false, false, false]);
    expect(judged("file:///etc/passwd")).toEqual([false, false, false]);
    expect(judged("com.example.app:/x")).toEqual([false, false, true]);
  });

  describeTokenStore("MemoryTokenStore", async () => new MemoryTokenStore());
  describeTokenStore("a store that several managers share", async () => new SharedTokenStore());

  test("a memory store shows nothing of what it keeps", async () => {
    const store = new MemoryTokenStore();
    await store.store("ada", "files", tokenNamed("1"));
    expect(inspect(store, { showHidden: true, depth: null })).not.toMatch(/access|refresh/);
    expect(JSON.stringify(store)).toBe("{}");
  });
});

describe("credentials", () => {
  const config = (auth_type: AuthConfig["auth_type"], auth_config: Record<string, string> = {}): AuthConfig => ({
    name: "files",
    auth_type,
    auth_config,
  });
  const ofUser = config("oauth2_user");

  let server: TestAuthorizationServer;
  beforeAll(async () => {
    server = await startAuthorizationServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each<[AuthConfig, Record<string, string>]>([
    [config("none"), {}],
    [config("api_key", { api_key: "k" }), { "X-API-Key": "k" }],
    [config("api_key", { api_key: "two words", header: "Authorization" }), { Authorization: "two words" }],
    [config("bearer", { token: "t" }), { Authorization: "Bearer t" }],
  ])("%o gives its headers", async (auth, headers) => {
    const authorize = await authorizeFor(auth, {}, {});
    expect(await authorize()).toEqual(headers);
    Object.assign(await authorize(), { changed: "by a caller" });
    expect(await authorize()).toEqual(headers);
  });

  test.each([
    config("api_key"),
    config("api_key", { api_key: "" }),
    config("bearer"),
    config("bearer", { token: "hunter2\r\nX-Admin: 1" }),
    config("bearer", { token: "hunter2\n" }),
    config("bearer", { token: "hunter2\0" }),
    config("bearer", { token: "hunter2 \u{1f511}" }),
    config("api_key", { api_key: "hunter2", header: "X-Key: 1\r\nX-Admin" }),
    config("api_key", { api_key: "hunter2", header: "" }),
    config("api_key", { api_key: "hunter2", header: "Content-Length" }),
    config("oauth2_user"),
  ])("%o is refused without showing a value", async (auth) => {
    const error: unknown = await authorizeFor(auth, { scope: { user_id: "ada" } }, {}).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "E_TOOL_CONFIG", message: expect.not.stringContaining("hunter2") });
  });

  test("a user's consent is asked for through the host, and the call goes on with the token", async () => {
    const manager = managerOf(server);
    const asked: unknown[] = [];
    const context: ToolContext = {
      scope: { user_id: "ada", tenant_id: "acme", session_id: "s", trace_id: "t" },
      pause: async (reason, payload) => {
        asked.push([reason, payload]);
        const callback = await consent(payload["auth_url"] as string, { login: "ada@acme" });
        expect(await manager.handleCallback(callback)).toEqual({ user_id: "ada", tenant_id: "acme", trace_id: "t" });
      },
    };
    const authorize = await authorizeFor(ofUser, context, { manager });
    const { Authorization = "" } = await authorize();
    expect(await server.owner(Authorization.replace("Bearer ", ""))).toBe("ada@acme");
    const payload = {
      pause_type: "oauth",
      provider: "files",
      display_name: "Files & more",
      auth_url: expect.stringContaining(server.issuer),
      scopes: ["openid", "offline_access"],
    };
    expect(asked).toEqual([["external_event", payload]]);
    await authorizeFor(ofUser, context, { manager });
    expect(asked.length).toBe(1);
  });

  test("the provider may have another name than the source", async () => {
    const manager = managerOf(server);
    await connect(manager, "ada");
    const other = { ...config("oauth2_user", { provider: "files" }), name: "drive" };
    const authorize = await authorizeFor(other, { scope: { user_id: "ada" } }, { manager });
    expect(await authorize()).toEqual({ Authorization: `Bearer ${await manager.getToken("ada", "files")}` });
  });

  test.each<[string, ToolContext]>([
    ["nobody is named", { pause: async () => undefined }],
    ["nobody can be asked", { scope: { user_id: "ada" } }],
    ["the pause ends without consent", { scope: { user_id: "ada" }, pause: async () => undefined }],
  ])("without a token the call is refused where %s", async (_, context) => {
    await expect(authorizeFor(ofUser, context, { manager: managerOf(server) })).rejects.toThrow(ToolAuthError);
  });

  test("what the host throws while it waits is thrown, and so is the reason of one who gives up", async () => {
    const manager = managerOf(server);
    const scope = { user_id: "ada" };
    const stopped = new Error("the planner stopped");
    const pause = async (): Promise<void> => {
      throw stopped;
    };
    await expect(authorizeFor(ofUser, { scope, pause }, { manager })).rejects.toBe(stopped);
    const control = new AbortController();
    const endless = (): Promise<void> => {
      queueMicrotask(() => control.abort(stopped));
      return new Promise(() => undefined);
    };
    const context = { scope, pause: endless, signal: control.signal };
    await expect(authorizeFor(ofUser, context, { manager })).rejects.toBe(stopped);
  });

  test("requests are authorized by what holds when they are made", async () => {
    const clock = new TestClock();
    const manager = managerOf(server, { clock: clock.read });
    await connect(manager, "ada");
    const authorize = await authorizeFor(ofUser, { scope: { user_id: "ada" } }, { manager });
    const before = await authorize();
    clock.pass(3600);
    const after = await authorize();
    expect(after).not.toEqual(before);
    expect(await server.owner(after["Authorization"]?.replace("Bearer ", "") ?? "")).toBe("ada@example");
    await manager.forget("ada", "files");
    await expect(authorize()).rejects.toThrow(ToolAuthError);
  });

  test("however many calls were refused with one token, it is renewed once", async () => {
    const manager = managerOf(server);
    await connect(manager, "ada");
    const before = await manager.getToken("ada", "files");
    const parts = { manager };
    const calls = await Promise.all(
      Array.from({ length: 20 }, () => authorizeFor(ofUser, { scope: { user_id: "ada" } }, parts)),
    );
    const asked = server.asked.length;
    for (const call of calls) {
      await call.refused?.();
      expect(await call()).not.toEqual({ Authorization: `Bearer ${before}` });
    }
    expect(server.asked.length).toBe(asked + 1);
  });
});
