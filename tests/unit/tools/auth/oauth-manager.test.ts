import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CallbackError, OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import { MemoryTokenStore } from "../../../../web/src/tools/auth/token-store.js";
import { ToolAuthError } from "../../../../web/src/tools/errors.js";
import {
  consent,
  REDIRECT,
  SECRET,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "./authorization-server.js";
import { ask, connect, managerOf, providerAt, TestClock } from "./consenting.js";

let server: TestAuthorizationServer;
beforeAll(async () => {
  server = await startAuthorizationServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** What a callback ends with that must not succeed. */
async function failureOf(answered: Promise<unknown>): Promise<CallbackError> {
  return answered.then(
    () => expect.unreachable(),
    (error: CallbackError) => error,
  );
}

test.each([
  ["public", {}],
  ["confidential", { client_secret: SECRET }],
  ["posting", { client_secret: SECRET, token_endpoint_auth_method: "client_secret_post" }],
] as const)("a user's consent becomes a token of theirs: %s client", async (client_id, config) => {
  const manager = managerOf(server, {}, { client_id, ...config });
  expect(await manager.getToken("ada", "files")).toBeNull();
  const callback = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example" });
  expect(await manager.handleCallback(callback)).toEqual({ user_id: "ada", tenant_id: null, trace_id: "trace of ada" });
  expect(await server.owner((await manager.getToken("ada", "files")) ?? "")).toBe("ada@example");
});

test("works with configured addresses too, and then without the name of the issuer", async () => {
  const { issuer, ...rest } = providerAt(server);
  const urls = { auth_url: `${issuer}/auth?kept=a%26b`, token_url: `${issuer}/token` };
  const manager = new OAuthManager({ providers: { files: { ...rest, ...urls } } });
  const request = await ask(manager, "ada");
  expect(new URL(request.auth_url).searchParams.get("kept")).toBe("a&b");
  await manager.handleCallback(await consent(request.auth_url, { login: "ada@example" }));
  expect(await server.owner((await manager.getToken("ada", "files")) ?? "")).toBe("ada@example");
});

test("what a person is shown says what is asked for, and encodes what it holds", async () => {
  const manager = managerOf(
    server,
    {},
    { scopes: ["openid", "files.read"], auth_params: { prompt: "consent", "a&b": "c=d&e" } },
  );
  const request = await ask(manager, "ada");
  expect(request).toEqual({
    display_name: "Files & more",
    auth_url: expect.any(String),
    scopes: ["openid", "files.read"],
  });
  expect(Object.fromEntries(new URL(request.auth_url).searchParams)).toEqual({
    client_id: "public",
    redirect_uri: REDIRECT,
    response_type: "code",
    scope: "openid files.read",
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: "S256",
    prompt: "consent",
    "a&b": "c=d&e",
  });
});

test("the server checks the proof key: a code alone is worth nothing", async () => {
  const manager = managerOf(server);
  const callback = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example" });
  // Another request's state brings another verifier.
  const other = new URL((await ask(manager, "ada")).auth_url).searchParams.get("state") ?? "";
  callback.searchParams.set("state", other);
  await expect(manager.handleCallback(callback)).rejects.toThrow("no longer accepts the code");
  expect(await manager.getToken("ada", "files")).toBeNull();
});

test("one who declines is told so, and nothing is stored", async () => {
  const manager = managerOf(server);
  const callback = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example", refuses: true });
  expect(callback.searchParams.get("error")).toBe("access_denied");
  await expect(manager.handleCallback(callback)).rejects.toThrow("The request for access to files was declined");
  expect(await manager.getToken("ada", "files")).toBeNull();
});

test("who declines, and whoever answers for somebody else, ends a request whose owner the host can find", async () => {
  const manager = managerOf(server);
  const declined = await consent((await ask(manager, "ada", "acme")).auth_url, { login: "ada@acme", refuses: true });
  const whose = { user_id: "ada", tenant_id: "acme", trace_id: "trace of ada" };
  const failure = await failureOf(manager.handleCallback(declined, { user: { user_id: "ada", tenant_id: "acme" } }));
  expect(failure).toMatchObject({ code: "E_TOOL_AUTH", ...whose });
  const link = (await ask(manager, "eve")).auth_url;
  const misled = await consent(link, { login: "ada@example" });
  expect(await failureOf(manager.handleCallback(misled, { user: "ada" }))).toMatchObject({ user_id: "eve" });
});

test("whose request it was is for the host, and stays out of logs", async () => {
  const manager = managerOf(server);
  const declined = await consent((await ask(manager, "ada@example.com")).auth_url, { login: "ada", refuses: true });
  const failure = await failureOf(manager.handleCallback(declined));
  expect(failure.user_id).toBe("ada@example.com");
  expect(inspect(failure) + JSON.stringify(failure)).not.toContain("ada@example.com");
});

test("a store that fails is told of with whose token it was", async () => {
  const refused = new Error("the disk is full");
  const tokenStore = new MemoryTokenStore();
  tokenStore.store = () => Promise.reject(refused);
  const manager = managerOf(server, { tokenStore });
  const callback = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example" });
  expect(await failureOf(manager.handleCallback(callback))).toBe(refused);
  expect(refused).toMatchObject({ user_id: "ada", tenant_id: null, trace_id: "trace of ada" });
});

test("an answer that nobody asked for says of nobody that it is theirs", async () => {
  const failure = await failureOf(managerOf(server).handleCallback({ state: "made up", code: "x" }));
  expect(failure).toBeInstanceOf(ToolAuthError);
  expect("user_id" in failure).toBe(false);
});

test("an answer counts once, and only one that was asked for", async () => {
  const manager = managerOf(server);
  const callback = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example" });
  await expect(manager.handleCallback({ state: "made up", code: "x" })).rejects.toThrow(ToolAuthError);
  await expect(manager.handleCallback(new URL(REDIRECT))).rejects.toThrow(ToolAuthError);
  const both = await Promise.allSettled([manager.handleCallback(callback), manager.handleCallback(callback)]);
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  await expect(manager.handleCallback(callback)).rejects.toThrow("already answered");
});

test("an answer after ten minutes is too late", async () => {
  const clock = new TestClock();
  const manager = managerOf(server, { clock: clock.read });
  const early = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example" });
  const late = await consent((await ask(manager, "eve")).auth_url, { login: "eve@example" });
  clock.pass(599);
  await manager.handleCallback(early);
  clock.pass(1);
  await expect(manager.handleCallback(late)).rejects.toThrow("has expired");
});

test("an answer that names another issuer is refused", async () => {
  const manager = managerOf(server);
  const asked = server.asked.length;
  const callback = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example" });
  callback.searchParams.set("iss", "https://elsewhere.example");
  await expect(manager.handleCallback(callback)).rejects.toMatchObject({ code: "E_TOOL_AUTH" });
  expect(server.asked.length).toBe(asked);
});

test("the answer may be given by its parts", async () => {
  const manager = managerOf(server);
  const { searchParams } = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example" });
  const [code, state, iss] = ["code", "state", "iss"].map((name) => searchParams.get(name) ?? "");
  await manager.handleCallback({ code: code ?? "", state: state ?? "", iss: iss ?? "" });
  expect(await server.owner((await manager.getToken("ada", "files")) ?? "")).toBe("ada@example");
});

test("a user who is logged in cannot answer another's request", async () => {
  const manager = managerOf(server);
  const link = (await ask(manager, "eve")).auth_url;
  const callback = await consent(link, { login: "ada@example" });
  await expect(manager.handleCallback(callback, { user: "ada" })).rejects.toThrow("belongs to another user");
  expect(await manager.getToken("eve", "files")).toBeNull();
  expect(await manager.getToken("ada", "files")).toBeNull();
});

test("users, tenants and providers never share tokens", async () => {
  const tokenStore = new MemoryTokenStore();
  const manager = new OAuthManager({ providers: { files: providerAt(server), mail: providerAt(server) }, tokenStore });
  await connect(manager, "ada");
  await connect(manager, "eve");
  await connect(manager, "ada", "acme");
  const of = async (user: Parameters<OAuthManager["getToken"]>[0]): Promise<string | null> =>
    server.owner((await manager.getToken(user, "files")) ?? "");
  expect(await of("ada")).toBe("ada@example");
  expect(await of("eve")).toBe("eve@example");
  expect(await of({ tenant_id: "acme", user_id: "ada" })).toBe("ada@acme");
  expect(await manager.getToken({ tenant_id: "other", user_id: "ada" }, "files")).toBeNull();
  expect(await manager.getToken('["acme","ada"]', "files")).toBeNull();
  expect(await manager.getToken("ada", "mail")).toBeNull();
  await manager.forget("ada", "files");
  expect(await manager.getToken("ada", "files")).toBeNull();
  expect(await of("eve")).toBe("eve@example");
  expect(await of({ tenant_id: "acme", user_id: "ada" })).toBe("ada@acme");
});

test("who forgets no longer waits for an answer", async () => {
  const manager = managerOf(server);
  const callback = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example" });
  await manager.forget("ada", "files");
  await expect(manager.handleCallback(callback)).rejects.toThrow(ToolAuthError);
  expect(await manager.getToken("ada", "files")).toBeNull();
});

test("a token of another client or issuer under the same name is not used", async () => {
  const tokenStore = new MemoryTokenStore();
  await connect(managerOf(server, { tokenStore }), "ada");
  expect(await managerOf(server, { tokenStore }).getToken("ada", "files")).not.toBeNull();
  const other = managerOf(server, { tokenStore }, { client_id: "confidential", client_secret: SECRET });
  expect(await other.getToken("ada", "files")).toBeNull();
});

test("a code goes to no other provider than the one that was asked", async () => {
  const manager = managerOf(server);
  const callback = await consent((await ask(manager, "ada")).auth_url, { login: "ada@example" });
  const asked = server.asked.length;
  manager.setProvider("files", providerAt(server, { issuer: "https://elsewhere.example" }));
  await expect(manager.handleCallback(callback)).rejects.toThrow("replaced");
  expect(server.asked.length).toBe(asked);
});

test("an unknown provider, and nobody in particular, are refused with a remedy", async () => {
  const manager = managerOf(server);
  await expect(manager.getToken("ada", "mail")).rejects.toMatchObject({ code: "E_TOOL_CONFIG" });
  await expect(manager.getToken("ada", "constructor")).rejects.toMatchObject({ code: "E_TOOL_CONFIG" });
  await expect(manager.getToken("", "files")).rejects.toThrow("scope.user_id");
  await expect(manager.getToken({ tenant_id: "acme" }, "files")).rejects.toThrow("scope.user_id");
});

test("one who gives up gets the reason, and asks nobody", async () => {
  const manager = managerOf(server);
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  await expect(manager.getToken("ada", "files", { signal })).rejects.toBe(reason);
  await expect(manager.getAuthRequest({ provider: "files", user_id: "ada" }, { signal })).rejects.toBe(reason);
});
