/** Providers of sign-in in the configuration, and where their tokens are kept. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { isLoopback, isSafe, isSafeRedirect } from "../../../../web/src/tools/addresses.js";
import { checkProvider, type OAuthProviderConfig } from "../../../../web/src/tools/auth/oauth-client.js";
import { OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import { MemoryTokenStore } from "../../../../web/src/tools/auth/token-store.js";
import { SharedTokenStore } from "./consenting.js";
import { describeTokenStore, tokenNamed } from "./token-store-contract.js";

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
