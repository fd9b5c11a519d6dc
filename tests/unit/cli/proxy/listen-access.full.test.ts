/** `sluice proxy --listen --issuer`: MCP clients sign in at a real provider, and each user has artifacts of their own. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { serveFixture } from "../../../e2e/serving.js";
import { CLIENTS, connected } from "../../server/access/signing-in.js";
import {
  accessToken,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "../../tools/auth/authorization-server.js";
import { listed, Room, ROOT, sluice } from "../command.js";
import { started, type Served } from "../serve/serving.js";

const COMMAND = ["--", process.execPath, join(ROOT, "tests/e2e/fixture/stdio.mjs")];

interface Proxied {
  readonly provider: TestAuthorizationServer;
  readonly proxy: Served;
  readonly room: Room;
}

/** A proxy in front of a server, and the provider of its users. */
async function proxied(server: readonly string[] = COMMAND, more: readonly string[] = []): Promise<Proxied> {
  const provider = await startAuthorizationServer({ format: "jwt" });
  const room = await Room.open();
  const said = ["--issuer", provider.issuer, "--require-scope", "files.read", "--store", room.store, ...more];
  const proxy = await started(["proxy", "--listen", "127.0.0.1:0", ...said, ...server]);
  onTestFinished(async () => {
    await proxy[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
    await room[Symbol.asyncDispose]();
  });
  return { provider, proxy, room };
}

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

const post = (url: string, message: object, headers: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body: JSON.stringify(message) });

const PDF = { name: "embedded_blob", arguments: { bytes: 300_000 } };

describe.each(CLIENTS)("%s", (...client) => {
  test("signs in at the provider, and what it stores is its user's", async () => {
    const { proxy, room } = await proxied();
    await using ada = await connected(proxy.url, "ada", client);
    await using bob = await connected(proxy.url, "bob", client);
    const { tools } = await ada.client.listTools();
    const read = tools.find(({ name }) => name.endsWith("artifact_read"))?.name ?? "";
    const stored = await ada.client.callTool(PDF);
    const uri = /artifact:\/\/[\w.-]+/.exec(JSON.stringify(stored))?.[0] ?? "";
    expect(uri).not.toBe("");
    const own = await ada.client.callTool({ name: read, arguments: { uri } });
    const others = await bob.client.callTool({ name: read, arguments: { uri } });
    expect(JSON.stringify(own)).toContain("PDF");
    expect(JSON.stringify(others)).not.toContain("PDF");
    // The file, and the list of references of its result.
    expect((await listed(room.store)).map(({ scope }) => [scope["tenant_id"], scope["user_id"]])).toEqual([
      [null, "ada"],
      [null, "ada"],
    ]);
    expect(JSON.stringify([stored, own, others]) + proxy.said()).not.toMatch(/ada|bob|eyJ/);
  });
});

/** A server behind an address that keeps what it is sent, and answers as it is told. */
async function behind(status = 200): Promise<{ readonly url: string; readonly seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    request.resume();
    const challenge = 'Bearer resource_metadata="https://elsewhere.example/"';
    response.writeHead(status, {
      "content-type": "application/json",
      "www-authenticate": challenge,
      "mcp-session-id": "s1",
    });
    response.end('{"jsonrpc":"2.0","id":0,"result":{}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
}

describe("a server behind an address", () => {
  test("never gets the client's token, but that of the proxy", async () => {
    const { url, seen } = await behind();
    const { provider, proxy } = await proxied(["--url", url, "--header", "Authorization: Bearer the-proxys"]);
    const token = await accessToken(provider, { login: "ada", resource: proxy.url });
    expect((await post(proxy.url, INITIALIZE, { authorization: `Bearer ${token}` })).status).toBe(200);
    expect(seen.length).toBeGreaterThan(0);
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer the-proxys"]));
    expect(JSON.stringify(seen)).not.toContain(token);
  });

  test.each([
    [401, 502],
    [403, 403],
  ])("that refuses the proxy with %i does not send clients to its own provider", async (status, seen) => {
    const { provider, proxy } = await proxied(["--url", (await behind(status)).url]);
    const token = await accessToken(provider, { login: "ada", resource: proxy.url });
    const answer = await post(proxy.url, INITIALIZE, { authorization: `Bearer ${token}` });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([seen, null]);
  });

  test("has sessions that are their owner's alone, though it cannot tell clients apart", async () => {
    await using fixture = await serveFixture();
    const { provider, proxy } = await proxied(["--url", fixture.url]);
    const [ada, bob] = await Promise.all(
      ["ada", "bob"].map(async (login) => ({
        authorization: `Bearer ${await accessToken(provider, { login, resource: proxy.url })}`,
      })),
    );
    const begun = await post(proxy.url, INITIALIZE, ada ?? {});
    await begun.text();
    const session = {
      "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-11-25",
    };
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await post(proxy.url, ping, { ...bob, ...session })).status).toBe(404);
    expect((await fetch(proxy.url, { method: "DELETE", headers: { ...bob, ...session } })).status).toBe(404);
    const stream = await fetch(proxy.url, { headers: { ...bob, ...session, accept: "text/event-stream" } });
    expect(stream.status).toBe(404);
    expect((await post(proxy.url, ping, { ...ada, ...session })).status).toBe(200);
    // A later token of the same user goes on.
    const later = await accessToken(provider, { login: "ada", resource: proxy.url });
    expect((await post(proxy.url, ping, { authorization: `Bearer ${later}`, ...session })).status).toBe(200);
  });
});

describe("a command", () => {
  test("has sessions that are their owner's alone", async () => {
    const { provider, proxy } = await proxied();
    const [ada, bob] = await Promise.all(
      ["ada", "bob"].map(async (login) => ({
        authorization: `Bearer ${await accessToken(provider, { login, resource: proxy.url })}`,
      })),
    );
    const begun = await post(proxy.url, INITIALIZE, ada ?? {});
    await begun.text();
    const session = {
      "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-11-25",
    };
    expect((await fetch(proxy.url, { method: "DELETE", headers: { ...bob, ...session } })).status).toBe(404);
    const ping = await post(proxy.url, { jsonrpc: "2.0", id: 1, method: "ping" }, { ...ada, ...session });
    expect(ping.status).toBe(200);
  });

  test("is told of where tokens come from, and takes none that is for somebody else or lacks a scope", async () => {
    const { provider, proxy } = await proxied();
    const root = new URL("/", proxy.url).href;
    const challenge = `resource_metadata="${root}.well-known/oauth-protected-resource/mcp", scope="files.read"`;
    const none = await post(proxy.url, INITIALIZE, {});
    expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, `Bearer ${challenge}`]);
    for (const path of ["oauth-protected-resource", "oauth-protected-resource/mcp"]) {
      expect(await (await fetch(`${root}.well-known/${path}`)).json()).toEqual({
        resource: proxy.url,
        authorization_servers: [provider.issuer],
        bearer_methods_supported: ["header"],
        resource_name: "Sluice",
        scopes_supported: ["files.read"],
      });
    }
    expect((await fetch(`${root}.well-known/oauth-protected-resource/other`)).status).toBe(401);
    const others = await accessToken(provider, { login: "ada", resource: `${root}other` });
    const refused = await post(proxy.url, INITIALIZE, { authorization: `Bearer ${others}` });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      `Bearer error="invalid_token", ${challenge}`,
    ]);
    const without = await accessToken(provider, { login: "ada", resource: proxy.url, scope: "openid" });
    const lacking = await post(proxy.url, INITIALIZE, { authorization: `Bearer ${without}` });
    expect([lacking.status, lacking.headers.get("www-authenticate")]).toEqual([
      403,
      `Bearer error="insufficient_scope", ${challenge}`,
    ]);
  });
});

test.each([
  [["--issuer", "https://login.example"], "--issuer goes with --listen: only there clients send tokens"],
  [["--audience", "x"], "--audience goes with --issuer"],
  [["--listen", "127.0.0.1:0", "--issuer", "http://login.example"], "--issuer must be an https: URL"],
  [["--listen", "127.0.0.1:0", "--issuer", "https://login.example/?a=b"], "--issuer must be an https: URL"],
  [["--listen", "0.0.0.0:0", "--issuer", "https://login.example"], "needs --public-url"],
  [
    ["--listen", "127.0.0.1:0", "--issuer", "https://login.example", "--require-scope", "a b"],
    "--require-scope takes one scope",
  ],
])("%j is refused: %s", async (args, sentence) => {
  const { code, stderr } = await sluice(["proxy", ...args, "--", "true"]);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
});
