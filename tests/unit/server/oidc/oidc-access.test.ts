/** A server that takes access tokens tells where they come from, wherever it is mounted. */
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/node.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { newKey, provider, tokenOf } from "./provider.js";

const store = new MemoryArtifactStore();

/** A source that answers with whose session it was asked in. */
const mcp = {
  names: new Set(["lab", "a b/c"]),
  answer: async (_: string, __: Request, { id, identity }: { id: string; identity: object }) =>
    Response.json({ id, identity }),
  end: async () => undefined,
};

function served(options: Partial<ConstructorParameters<typeof SluiceServer>[0]>): SluiceServer {
  const oidc = { issuer: "https://login.example" };
  const server = new SluiceServer({ store, mcp, oidc, publicUrl: "https://sluice.example", ...options });
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
    for (const [source, resource] of [
      ["lab", `${root}mcp/lab`],
      ["a%20b%2Fc", `${root}mcp/a%20b%2Fc`],
    ] as const) {
      const refused = await ask(server, `${below}/mcp/${source}`, { method: "POST" });
      const described = `${root}.well-known/oauth-protected-resource/mcp/${source}`;
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
        401,
        `Bearer resource_metadata="${described}"`,
      ]);
      const answer = await ask(server, `${below}/${described.slice(root.length)}`);
      expect(await answer.json()).toMatchObject({ resource, authorization_servers: ["https://login.example"] });
    }
  });
});

test("one user has one session for each program, whatever token they come with, and it ends some time after the last", async () => {
  const key = await newKey("k1");
  const at = await provider([key]);
  const server = served({ oidc: { issuer: at.issuer } });
  const as = async (claims: object): Promise<{ id: string; identity: object }> => {
    const token = await tokenOf(at, key, { claims: { aud: "https://sluice.example/mcp/lab", ...claims } });
    const answer = await ask(server, "/mcp/lab", { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { id: string; identity: object };
  };
  const [first, again] = [await as({ jti: "1" }), await as({ jti: "2" })];
  expect(again).toEqual(first);
  expect(first.identity).toEqual({ user_id: "ada", tenant_id: null });
  const others = [await as({ sub: "bob" }), await as({ client_id: "other" }), await as({ client_id: undefined })];
  expect(new Set([first, ...others].map(({ id }) => id)).size).toBe(4);
});

test("without oidc nothing is described, and the challenge is that of sessions", async () => {
  const server = new SluiceServer({ store, mcp });
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
