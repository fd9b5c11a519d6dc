/** A real provider signs users in to a real server: its tokens open sessions, and MCP clients connect with them. */
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Room, ROOT } from "../../cli/command.js";
import { begin, serve, type Served } from "../../cli/serve/serving.js";
import {
  accessToken,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "../../tools/auth/authorization-server.js";
import { CLIENTS, connected } from "./signing-in.js";

/** A server of both protocol eras. */
const FIXTURE = [process.execPath, join(ROOT, "tests/e2e/fixture/stdio.mjs")].join(" ");
const SOURCES = [{ name: "fixture", transport: "mcp", connection: FIXTURE }];

/** A provider whose tokens are JWTs, and a server that takes them. */
async function signedIn(
  oidc: object = {},
  options: Parameters<typeof startAuthorizationServer>[0] = {},
): Promise<{ readonly provider: TestAuthorizationServer; readonly server: Served; readonly root: string }> {
  const provider = await startAuthorizationServer({ format: "jwt", ...options });
  const room = await Room.open();
  const config = { sources: SOURCES, auth: { oidc: { issuer: provider.issuer, ...oidc } } };
  const server = await serve(["--config", await room.write("serve.json", JSON.stringify(config))]);
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
    await room[Symbol.asyncDispose]();
  });
  return { provider, server, root: server.url };
}

const beginning = (root: string, token: string): Promise<Response> =>
  fetch(`${root}sessions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: "{}",
  });

test("a token for the server opens a session of its user, and one for another server none", async () => {
  const { provider, root } = await signedIn();
  const session = await begin(root, {
    authorization: `Bearer ${await accessToken(provider, { login: "ada", resource: root })}`,
  });
  expect((await session.ask("sessions/current")).status).toBe(200);
  const other = await accessToken(provider, { login: "ada", resource: "https://other.example/" });
  const refused = await beginning(root, other);
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toBe(
    `Bearer error="invalid_token", resource_metadata="${root}.well-known/oauth-protected-resource"`,
  );
});

test("users see their own files, whatever token they come with", async () => {
  const { provider, root } = await signedIn();
  const open = async (login: string): ReturnType<typeof begin> =>
    begin(root, { authorization: `Bearer ${await accessToken(provider, { login, resource: root })}` });
  const [ada, again, bob] = [await open("ada"), await open("ada"), await open("bob")];
  await ada.ask("files?filename=hers.txt", { method: "POST", headers: { "content-type": "text/plain" }, body: "hers" });
  const namesOf = async ({ ask }: typeof ada): Promise<number> =>
    ((await (await ask("files")).json()) as { files: readonly unknown[] }).files.length;
  expect([await namesOf(ada), await namesOf(again), await namesOf(bob)]).toEqual([1, 1, 0]);
});

test("keys that the provider changes while both run are found, and those it still publishes go on", async () => {
  const { provider, root } = await signedIn();
  const before = await accessToken(provider, { login: "ada", resource: root });
  expect((await beginning(root, before)).status).toBe(201);
  await provider.rotate();
  const after = await accessToken(provider, { login: "ada", resource: root });
  // The keys are read at most every ten seconds.
  await vi.waitFor(async () => expect((await beginning(root, after)).status).toBe(201), {
    timeout: 15_000,
    interval: 500,
  });
  expect((await beginning(root, before)).status).toBe(201);
  await provider.rotate();
  expect(provider.keysRead()).toBe(2);
});

test("a provider that is away is 503 to begin with, and known keys go on without it", async () => {
  const { provider, server, root } = await signedIn();
  const token = await accessToken(provider, { login: "ada", resource: root });
  provider.away = (_, response) => void response.writeHead(500).end();
  const refused = await beginning(root, token);
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { error: { code: "E_STORE_READ", message: "Sign-in cannot be checked at the moment: try again." } },
  ]);
  expect(server.said()).toContain("it answered 500 where 200 was expected");
  provider.away = null;
  await vi.waitFor(async () => expect((await beginning(root, token)).status).toBe(201), {
    timeout: 15_000,
    interval: 500,
  });
  provider.away = (_, response) => void response.writeHead(500).end();
  expect((await beginning(root, token)).status).toBe(201);
});

const CALL = { name: "sha256", arguments: { kind: "pdf", bytes: 1000 } };

describe.each(CLIENTS)("%s", (...client) => {
  test("finds the provider by itself, signs a person in, and calls a tool", async () => {
    const { provider, root } = await signedIn({ scopes: ["files.read"] });
    await using own = await connected(`${root}mcp/fixture`, "ada", client);
    const { content } = await own.client.callTool(CALL);
    expect(content[0]?.text).toMatch(/[0-9a-f]{64}/);
    const [asked] = own.keeping.asked;
    expect(asked?.searchParams.get("resource")).toBe(`${root}mcp/fixture`);
    expect(asked?.searchParams.get("scope")).toContain("files.read");
    expect(provider.keysRead()).toBe(1);
  });

  test("goes on with the token that follows, in the same session", async () => {
    const { root } = await signedIn({ clock_tolerance_seconds: 0, scopes: ["files.read"] }, { lifetime: 3 });
    await using own = await connected(`${root}mcp/fixture`, "ada", client);
    const before = [own.transport.sessionId, own.keeping.kept.tokens?.access_token];
    await new Promise((resolve) => setTimeout(resolve, 4000));
    const { content } = await own.client.callTool(CALL);
    expect(content[0]?.text).toMatch(/[0-9a-f]{64}/);
    expect(own.keeping.asked).toHaveLength(1);
    expect(own.transport.sessionId).toBe(before[0]);
    expect(own.keeping.kept.tokens?.access_token).not.toBe(before[1]);
  });
});
