import type { RequestListener } from "node:http";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import { MemoryTokenStore } from "../../../../web/src/tools/auth/token-store.js";
import { ToolNodeError } from "../../../../web/src/tools/errors.js";
import { serveForTest } from "../serve.js";
import { REDIRECT } from "./authorization-server.js";

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
  expect(JSON.stringify([error, (error as ToolNodeError).toDict()])).not.toContain(CANARY);
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
  const { error, manager, tokenStore } = await callbackAt(json(200, { ...bearer, refresh_token: `refresh-${CANARY}` }));
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
  const manager = new OAuthManager({ providers: { files: { issuer, client_id: "c", redirect_uri: REDIRECT } }, clock });
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
  expect(String(error)).toContain("does not take the code any more (bad_verification_code)");
  expect(await manager.getToken("ada", "files")).toBeNull();
});
