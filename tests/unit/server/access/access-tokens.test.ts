/** Which access tokens are let in, whatever an attacker makes of them, and how often the provider is asked. */
import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import { CompactSign, exportSPKI } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { AccessTokens, bearerIn, type OidcOptions } from "../../../../web/src/server/access/access-tokens.js";
import { ProviderAway } from "../../../../web/src/server/access/provider-keys.js";
import { newKey, provider, tokenOf, type Key, type Signing, type TestProvider } from "./provider.js";

const ROOT = ["https://sluice.example/"];

let key: Key;
let other: Key;
beforeAll(async () => {
  [key, other] = [await newKey("k1"), await newKey("k2")];
});

interface Checked {
  readonly at: TestProvider;
  readonly tokens: AccessTokens;
  /** Milliseconds that pass. */
  readonly wait: (milliseconds: number) => void;
}

async function checking(more: Partial<OidcOptions> = {}, keys: readonly Key[] = [key]): Promise<Checked> {
  const at = await provider(keys);
  let now = 0;
  const clock = (): number => Date.now() + now;
  const tokens = new AccessTokens({ issuer: at.issuer, ...more }, { clock });
  return { at, tokens, wait: (milliseconds) => void (now += milliseconds) };
}

/** What becomes of a token that is signed by the provider's key. */
async function verdictOf(signing: Signing, more: Partial<OidcOptions> = {}): Promise<unknown> {
  const { at, tokens } = await checking(more);
  return tokens.read(await tokenOf(at, key, signing), ROOT);
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a good token", () => {
  test("says who its user is, whose program it is, and until when", async () => {
    const { at, tokens } = await checking();
    const exp = Math.floor(Date.now() / 1000) + 600;
    expect(await tokens.read(await tokenOf(at, key, { claims: { exp } }), ROOT)).toEqual({
      identity: { user_id: "ada", tenant_id: null },
      client: "app",
      expires_at: (exp + 30) * 1000,
    });
  });

  test.each([
    ["of a list of audiences", { claims: { aud: ["https://elsewhere.example", "https://sluice.example/"] } }, {}],
    ["for a configured audience", { claims: { aud: "api://sluice" } }, { audience: ["api://sluice"] }],
    ["without a type, as from before RFC 9068", { header: { typ: undefined } }, {}],
    ["of the type JWT", { header: { typ: "JWT" } }, {}],
    ["of Keycloak's, which once had a nonce", { claims: { typ: "Bearer", nonce: "n" }, header: { typ: "JWT" } }, {}],
    ["of Cognito's", { claims: { token_use: "access" }, header: { typ: undefined } }, {}],
    ["within the tolerance of clocks", { claims: { exp: Math.floor(Date.now() / 1000) - 20 } }, {}],
    ["with scopes in a list", { claims: { scp: ["a", "b"] } }, { scopes: ["a", "b"] }],
    ["with scopes in a text", { claims: { scope: "b c a" } }, { scopes: ["a", "b"] }],
    ["without the key's id, where there is one key", { header: { kid: undefined } }, {}],
  ] as const)("may be %s", async (_, signing, more) => {
    expect(await verdictOf(signing, more as Partial<OidcOptions>)).toMatchObject({ identity: { user_id: "ada" } });
  });

  test("names user and organisation in the claims that were configured", async () => {
    const claims = { org: "acme", email: "ada@acme.example", email_verified: true };
    expect(await verdictOf({ claims }, { userClaim: "email", tenantClaim: "org" })).toMatchObject({
      identity: { user_id: "ada@acme.example", tenant_id: "acme" },
    });
  });

  test.each(["ES256", "EdDSA", "PS256"])("may be signed by %s", async (alg) => {
    const own = await newKey("own", alg);
    const { at, tokens } = await checking({}, [own]);
    expect(await tokens.read(await tokenOf(at, own, { header: { alg } }), ROOT)).toMatchObject({ client: "app" });
  });
});

describe("refused is a token", () => {
  const now = Math.floor(Date.now() / 1000);

  const REFUSED: readonly (readonly [string, Signing, Partial<OidcOptions>?])[] = [
    ["of another issuer", { claims: { iss: "https://elsewhere.example" } }],
    ["whose issuer differs by a slash", { claims: { iss: "http://127.0.0.1/" } }],
    ["without an issuer", { claims: { iss: undefined } }],
    ["for another audience", { claims: { aud: "https://elsewhere.example" } }],
    ["whose audience begins like ours", { claims: { aud: "https://sluice.example/mcp/other" } }],
    ["whose audience is written otherwise", { claims: { aud: "HTTPS://SLUICE.EXAMPLE/" } }],
    ["for nobody", { claims: { aud: undefined } }],
    ["for a list in a list", { claims: { aud: [["https://sluice.example/"]] } }],
    ["that has expired", { claims: { exp: now - 60 } }],
    ["that never expires", { claims: { exp: undefined } }],
    ["whose end is a text", { claims: { exp: String(now + 60) } }],
    ["that is not valid yet", { claims: { nbf: now + 60 } }],
    ["from the future", { claims: { iat: now + 60 } }],
    ["without a user", { claims: { sub: undefined } }],
    ["of a user without a name", { claims: { sub: "" } }],
    ["of a user with too long a name", { claims: { sub: "a".repeat(1025) } }],
    ["of a user who is a number", { claims: { sub: 7 } }],
    ["of a user who is a list", { claims: { sub: ["ada"] } }],
    ["of no organisation, where one is wanted", {}, { tenantClaim: "org" }],
    ["of an organisation that is an object", { claims: { org: { id: "acme" } } }, { tenantClaim: "org" }],
    ["whose organisation is inherited", {}, { tenantClaim: "constructor" }],
    ["with an address that nobody verified", { claims: { email: "a@b.example" } }, { userClaim: "email" }],
    [
      "with an address that a text calls verified",
      { claims: { email: "a@b.example", email_verified: "true" } },
      { userClaim: "email" },
    ],
    ["that is an ID token", { claims: { nonce: "n" }, header: { typ: "JWT" } }],
    ["that is an ID token of a code", { claims: { at_hash: "h" }, header: { typ: "JWT" } }],
    ["that is an ID token of Keycloak's", { claims: { typ: "ID" }, header: { typ: "JWT" } }],
    ["that is an ID token of Cognito's", { claims: { token_use: "id" }, header: { typ: undefined } }],
    ["that is a refresh token", { claims: { typ: "Refresh" }, header: { typ: "JWT" } }],
    ["of another type", { header: { typ: "logout+jwt" } }],
    ["of a type like ours", { header: { typ: "at+jwt;x" } }],
    ["with another algorithm than was allowed", {}, { algorithms: ["ES256"] }],
  ];
  test.each(REFUSED.map(([what, signing, more = {}]) => [what, signing, more] as const))(
    "%s",
    async (_, signing, more) => {
      expect(await verdictOf(signing, more)).toBe("invalid_token");
    },
  );

  test("that lacks a scope: it has to come with more", async () => {
    expect(await verdictOf({ claims: { scope: "a ab" } }, { scopes: ["a", "b"] })).toBe("insufficient_scope");
    expect(await verdictOf({ claims: { scope: { b: 1 } } }, { scopes: ["b"] })).toBe("insufficient_scope");
  });

  test("without a signature, whatever its algorithm is called", async () => {
    const { at, tokens } = await checking();
    const [, payload = ""] = (await tokenOf(at, key)).split(".");
    for (const alg of ["none", "None", "NONE", "nOnE", "", null, undefined, 0]) {
      for (const signature of ["", "AA"]) {
        const token = `${encoded({ alg, typ: "at+jwt", kid: "k1" })}.${payload}.${signature}`;
        expect([alg, await tokens.read(token, ROOT)]).toEqual([alg, "invalid_token"]);
      }
    }
    expect(at.asked).toEqual([]);
  });

  test("that is signed with the public key as if it were a password", async () => {
    const { at, tokens } = await checking();
    const [, payload = ""] = (await tokenOf(at, key)).split(".");
    for (const alg of ["HS256", "HS384", "HS512"]) {
      for (const secret of [await exportSPKI(key.publicKey), JSON.stringify(key.jwk), key.jwk.n ?? ""]) {
        const signed = `${encoded({ alg, typ: "at+jwt", kid: "k1" })}.${payload}`;
        const mac = createHmac(`sha${alg.slice(2)}`, secret)
          .update(signed)
          .digest("base64url");
        expect(await tokens.read(`${signed}.${mac}`, ROOT)).toBe("invalid_token");
      }
    }
  });

  test("that brings its own key, or says where it is: nothing is asked for there", async () => {
    const { at, tokens } = await checking();
    const elsewhere = await provider([other]);
    const own = {
      jwk: other.jwk,
      jku: `${elsewhere.issuer}/jwks`,
      x5u: `${elsewhere.issuer}/cert`,
      x5c: ["AAAA"],
      x5t: "AAAA",
    };
    for (const kid of ["k1", "k2", undefined]) {
      const header = { kid, ...own };
      expect(await tokens.read(await tokenOf(at, other, { header }), ROOT)).toBe("invalid_token");
    }
    expect(elsewhere.asked).toEqual([]);
  });

  test("whose text was changed, or is no token at all", async () => {
    const { at, tokens } = await checking();
    const good = await tokenOf(at, key);
    const [header = "", , signature = ""] = good.split(".");
    const claims = { iss: at.issuer, aud: "https://sluice.example/", sub: "eve", exp: now + 60 };
    for (const token of [
      `${header}.${encoded(claims)}.${signature}`,
      `${good}x`,
      `${good}.x`,
      good.slice(0, -4),
      `${header}..${signature}`,
      `${encoded({ alg: "RS256", kid: "k1", crit: ["x"], x: 1 })}.${good.split(".")[1]}.${signature}`,
      `${encoded({ alg: "RS256", kid: "k1", crit: ["b64"], b64: false })}.${good.split(".")[1]}.${signature}`,
      `${encoded([])}.${encoded({})}.${signature}`,
      "...",
      ".",
      "",
      "a.b.c",
    ]) {
      expect([token, await tokens.read(token, ROOT)]).toEqual([token, "invalid_token"]);
    }
  });

  test("that is long or nested deeply, without much work", async () => {
    const { at, tokens } = await checking();
    const begun = performance.now();
    expect(await tokens.read(await tokenOf(at, key, { claims: { x: "x".repeat(100_000) } }), ROOT)).toBe(
      "invalid_token",
    );
    expect(at.asked).toEqual([]);
    const said = { iss: at.issuer, aud: ROOT[0], sub: "ada", exp: now + 600 };
    const nested = JSON.stringify(said).replace("}", `,"x":${"[".repeat(5000)}${"]".repeat(5000)}}`);
    const signing = new CompactSign(new TextEncoder().encode(nested)).setProtectedHeader({ alg: "RS256", kid: "k1" });
    const deep = await signing.sign(key.privateKey);
    expect(deep.length).toBeLessThan(16_000);
    expect(await tokens.read(deep, ROOT)).toMatchObject({ identity: { user_id: "ada" } });
    const unsigned = `${encoded({ alg: "RS256" })}.${Buffer.from("[".repeat(12_000)).toString("base64url")}.AAAA`;
    expect(await tokens.read(unsigned, ROOT)).toBe("invalid_token");
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  test("without a key's id, where there are several keys", async () => {
    const { at, tokens } = await checking({}, [key, other]);
    expect(await tokens.read(await tokenOf(at, key, { header: { kid: undefined } }), ROOT)).toBe("invalid_token");
  });
});

describe("the provider", () => {
  test("is asked once for many tokens, at the same time too", async () => {
    const { at, tokens } = await checking();
    const token = await tokenOf(at, key);
    await Promise.all(Array.from({ length: 50 }, () => tokens.read(token, ROOT)));
    await tokens.read(token, ROOT);
    expect(at.asked).toEqual(["/.well-known/openid-configuration", "/jwks"]);
  });

  test("is not asked more often for keys that nobody knows: a flood costs it nothing", async () => {
    const { at, tokens, wait } = await checking();
    const flood = async (): Promise<void> => {
      const all = Array.from({ length: 100 }, async (_, index) =>
        tokens.read(await tokenOf(at, other, { header: { kid: `unknown-${index}` } }), ROOT),
      );
      expect(new Set(await Promise.all(all))).toEqual(new Set(["invalid_token"]));
    };
    await flood();
    expect(at.asked.filter((path) => path === "/jwks")).toHaveLength(1);
    wait(10_000);
    await flood();
    expect(at.asked.filter((path) => path === "/jwks")).toHaveLength(2);
  });

  test("is asked again for a new key, and no longer takes what a withdrawn one signed", async () => {
    const { at, tokens, wait } = await checking();
    const before = await tokenOf(at, key);
    expect(await tokens.read(before, ROOT)).toMatchObject({ client: "app" });
    at.keys.splice(0, 1, other.jwk);
    wait(10_000);
    expect(await tokens.read(await tokenOf(at, other), ROOT)).toMatchObject({ client: "app" });
    expect(await tokens.read(before, ROOT)).toBe("invalid_token");
  });

  test("that withdraws a key is noticed within ten minutes without a new one", async () => {
    const { at, tokens, wait } = await checking();
    const token = await tokenOf(at, key);
    await tokens.read(token, ROOT);
    at.keys.splice(0, 1, other.jwk);
    expect(await tokens.read(token, ROOT)).toMatchObject({ client: "app" });
    wait(10 * 60_000);
    expect(await tokens.read(token, ROOT)).toBe("invalid_token");
  });

  test("that is away does not matter for a day, if its keys are known", async () => {
    const { at, tokens, wait } = await checking();
    const lasting = { claims: { exp: Math.floor(Date.now() / 1000) + 100 * 3600 } };
    const token = await tokenOf(at, key, lasting);
    await tokens.read(token, ROOT);
    at.instead = (_, response) => void response.writeHead(503).end();
    wait(23 * 3600_000);
    expect(await tokens.read(token, ROOT)).toMatchObject({ client: "app" });
    wait(2 * 3600_000);
    await expect(tokens.read(token, ROOT)).rejects.toThrow("it answered 503 where 200 was expected");
    at.instead = null;
    wait(10_000);
    expect(await tokens.read(token, ROOT)).toMatchObject({ client: "app" });
  });

  test.each<readonly [string, (at: TestProvider) => void, string]>([
    ["is another one", (at) => (at.description["issuer"] = `${at.issuer}/`), 'names another "issuer"'],
    ["has no keys", (at) => delete at.description["jwks_uri"], "no jwks_uri"],
    ["has only secret keys", (at) => at.keys.splice(0, 1, { kty: "oct", k: "AAAA", kid: "k1" }), "no public key"],
    ["gives no list of keys", (at) => at.keys.splice(0), "no public key"],
    [
      "names keys elsewhere without encryption",
      (at) => (at.description["jwks_uri"] = "http://169.254.169.254/"),
      "no https: URL",
    ],
    ["names keys in a file", (at) => (at.description["jwks_uri"] = "file:///etc/passwd"), "no https: URL"],
    [
      "names keys with a password",
      (at) => (at.description["jwks_uri"] = "https://a:b@elsewhere.example/"),
      "no https: URL",
    ],
    [
      "sends us elsewhere",
      (at) => (at.instead = (_, to) => void to.writeHead(302, { location: "http://127.0.0.1:1/" }).end()),
      "it answered 302",
    ],
    ["answers with a page", (at) => (at.instead = (_, to) => void to.end("<html>")), "other than JSON"],
    ["breaks off", (at) => (at.instead = (_, to) => void to.destroy()), "it cannot be reached"],
    [
      "answers without end",
      (at) =>
        (at.instead = (_, to) => {
          const timer = setInterval(() => to.write(" ".repeat(65_536)), 1);
          to.once("close", () => clearInterval(timer));
        }),
      "its answer is too long",
    ],
    [
      "answers a byte at a time",
      (at) =>
        (at.instead = (_, to) => {
          const timer = setInterval(() => to.write(" "), 100);
          to.once("close", () => clearInterval(timer));
        }),
      "within 5 s",
    ],
    ["does not answer", (at) => (at.instead = () => undefined), "within 5 s"],
  ])("that %s is told to whoever runs the server", async (_, spoil, sentence) => {
    const { at, tokens } = await checking();
    const token = await tokenOf(at, key);
    spoil(at);
    const failure: unknown = await tokens.read(token, ROOT).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderAway);
    expect((failure as Error).message).toContain(sentence);
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(token.slice(0, 20));
  });

  test("elsewhere cannot make us ask this machine for keys", async () => {
    const seen: string[] = [];
    const issuer = "https://login.example";
    const jwks = [
      "https://127.0.0.1/jwks",
      "https://localhost/jwks",
      "https://10.0.0.1/",
      "https://[::1]/",
      "https://169.254.169.254/latest",
    ];
    for (const jwks_uri of jwks) {
      const fetch = async (url: unknown): Promise<Response> => {
        seen.push(String(url));
        return Response.json({ issuer, jwks_uri });
      };
      const tokens = new AccessTokens({ issuer }, { fetch });
      await expect(tokens.read(await tokenOf({ issuer }, key), ROOT)).rejects.toThrow("in a private network");
    }
    expect(new Set(seen)).toEqual(new Set(["https://login.example/.well-known/openid-configuration"]));
  });

  test("with a path describes itself in one of three places", async () => {
    const at = await provider([key], "/realms/acme");
    const tokens = new AccessTokens({ issuer: at.issuer });
    expect(await tokens.read(await tokenOf(at, key), ROOT)).toMatchObject({ client: "app" });
    at.asked.splice(0);
    at.description = {};
    at.instead = (_, response) => void response.writeHead(404).end();
    await expect(new AccessTokens({ issuer: at.issuer }).read(await tokenOf(at, key), ROOT)).rejects.toThrow("404");
    expect(at.asked).toEqual([
      "/realms/acme/.well-known/openid-configuration",
      "/.well-known/oauth-authorization-server/realms/acme",
      "/.well-known/openid-configuration/realms/acme",
    ]);
  });

  test("may have its keys where the configuration says, without a description", async () => {
    const at = await provider([key]);
    const tokens = new AccessTokens({ issuer: at.issuer, jwksUrl: `${at.issuer}/jwks` });
    expect(await tokens.read(await tokenOf(at, key), ROOT)).toMatchObject({ client: "app" });
    expect(at.asked).toEqual(["/jwks"]);
  });
});

test.each([
  ["Bearer abc", "abc"],
  ["bearer  abc", "abc"],
  ["Bearer abc, Bearer def", null],
  ["Basic abc", null],
  ["Bearer", null],
  ["Bearer a b", null],
  ["Bearer abc\u00a0", null],
  ["", null],
])("the header %j has the token %j", (authorization, token) => {
  expect(bearerIn(new Headers({ authorization: authorization.replace("\u00a0", "%A0") }))).toBe(token);
});

test.each([
  ["issuer", "http://login.example"],
  ["issuer", "https://login.example/?x=1"],
  ["issuer", "https://ada:secret@login.example"],
  ["issuer", "login"],
  ["algorithms", ["HS256"]],
  ["algorithms", ["none"]],
  ["algorithms", []],
  ["scopes", ['a"b']],
  ["scopes", ["a b"]],
  ["jwksUrl", "http://elsewhere.example/jwks"],
  ["userClaim", ""],
  ["clockToleranceSeconds", 3600],
  ["audience", [""]],
])("the option %s cannot be %j", (name, value) => {
  expect(() => new AccessTokens({ issuer: "https://login.example", [name]: value })).toThrow(
    expect.objectContaining({ code: "E_INVALID_ARGUMENT", path: `oidc.${name}` }),
  );
});
