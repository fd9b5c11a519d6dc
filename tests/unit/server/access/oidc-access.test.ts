/** A server that takes access tokens tells where they come from, wherever it is mounted. */
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/node.js";
import { memoryState, SluiceServer } from "../../../../web/src/serve.js";
import { newKey, provider, tokenOf } from "./provider.js";

const store = new MemoryArtifactStore();

const sources = [{ name: "lab", transport: "mcp", connection: "node lab.js" }] as const;

function served(options: Partial<ConstructorParameters<typeof SluiceServer>[0]>): SluiceServer {
  const oidc = { issuer: "https://login.example" };
  const server = new SluiceServer({ store, sources, oidc, publicUrl: "https://sluice.example", ...options });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

const ask = (server: SluiceServer, path: string, init?: RequestInit): Promise<Response> =>
  server.fetch(new Request(`https://sluice.example${path}`, init));

describe.each([
  ["/", "https://sluice.example", "https://sluice.example/", ""],
  ["/sluice/", "https://sluice.example", "https://sluice.example/sluice/", "/sluice"],
  ["/", "https://sluice.example/behind", "https://sluice.example/behind/", ""],
  ["/x/", "https://sluice.example/behind/x/", "https://sluice.example/behind/x/", "/x"],
])("below %s, known as %s", (base, publicUrl, root, below) => {
  test("resources are described where the challenge says", async () => {
    const server = served({ base, publicUrl });
    const refused = await ask(server, `${below}/mcp/lab`, { method: "POST" });
    const described = `${root}.well-known/oauth-protected-resource/mcp/lab`;
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      `Bearer resource_metadata="${described}"`,
    ]);
    const answer = await ask(server, `${below}/${described.slice(root.length)}`);
    const resource = `${root}mcp/lab`;
    expect(await answer.json()).toMatchObject({ resource, authorization_servers: ["https://login.example"] });
  });
});

test("one user has one session for each program, whatever token they come with, and it ends some time after the last", async () => {
  const key = await newKey("k1");
  const at = await provider([key]);
  const state = memoryState();
  const server = served({ oidc: { issuer: at.issuer }, state });
  const comesAs = async (claims: object): Promise<void> => {
    const token = await tokenOf(at, key, { claims: { aud: "https://sluice.example/mcp/lab", ...claims } });
    const answer = await ask(server, "/mcp/lab", { headers: { authorization: `Bearer ${token}` } });
    // It said nothing of MCP.
    expect(answer.status).toBe(400);
  };
  const sessionsOf = (user_id: string) => state.sessions.ofUser({ user_id, tenant_id: null });
  await comesAs({ jti: "1" });
  const first = await sessionsOf("ada");
  await comesAs({ jti: "2" });
  expect([first.length, await sessionsOf("ada")]).toEqual([1, first]);
  for (const claims of [{ sub: "bob" }, { client_id: "other" }, { client_id: undefined }]) await comesAs(claims);
  expect([(await sessionsOf("ada")).length, (await sessionsOf("bob")).length]).toEqual([3, 1]);
});

test("without oidc nothing is described, and the challenge is that of sessions", async () => {
  const server = new SluiceServer({ store, sources });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const own = (path: string): Promise<Response> => server.fetch(new Request(`http://127.0.0.1${path}`));
  expect((await own("/.well-known/oauth-protected-resource")).status).toBe(401);
  expect((await own("/mcp/lab")).headers.get("www-authenticate")).toBe('Bearer realm="sluice"');
});

test.each([
  [{ publicUrl: undefined }, "publicUrl"],
  [{ authenticate: () => null }, "authenticate"],
  [{ oidc: { issuer: "http://login.example" } }, "oidc.issuer"],
])("%o is refused", (options, path) => {
  expect(() => served(options as object)).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT", path }));
});
