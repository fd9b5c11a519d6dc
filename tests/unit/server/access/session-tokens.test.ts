/** Session tokens name the secret that signed them, which may change; no other secret's count. */
import { decode, sign } from "hono/jwt";
import { expect, test } from "vitest";
import { secretId } from "../../../../web/src/server/sealing.js";
import { SessionTokens } from "../../../../web/src/server/access/credentials.js";

const [OLD, NEW, OTHER] = ["old", "new", "other"].map((name) => name.padEnd(32, "!")) as [string, string, string];
const session = { id: "s1", identity: { user_id: "ada" }, begun_at: Date.now(), expires_at: Date.now() + 60_000 };

test("a token is read by whoever has its secret, as the current one or an old one", async () => {
  const token = await new SessionTokens({ secret: OLD }).sign(session);
  expect(await new SessionTokens({ secret: NEW, oldSecrets: [OTHER, OLD] }).read(token)).toBe("s1");
  expect(await new SessionTokens({ secret: NEW, oldSecrets: [OTHER] }).read(token)).toBeNull();
  const next = await new SessionTokens({ secret: NEW, oldSecrets: [OLD] }).sign(session);
  expect(await new SessionTokens({ secret: OLD }).read(next)).toBeNull();
  expect(await new SessionTokens({ secret: OLD, oldSecrets: [NEW] }).read(next)).toBe("s1");
});

test("the name of a secret says nothing of it, and does not make another one's signature good", async () => {
  const { header } = decode(await new SessionTokens({ secret: OLD }).sign(session));
  expect(header).toEqual({ alg: "HS256", typ: "JWT", kid: secretId(OLD) });
  expect(secretId(OLD)).toMatch(/^[\w-]{11}$/);
  const tokens = new SessionTokens({ secret: OLD, oldSecrets: [NEW] });
  const exp = Math.floor(session.expires_at / 1000);
  const k = Buffer.from(OTHER).toString("base64url");
  for (const kid of [secretId(OLD), secretId(NEW), secretId(OTHER), "", "__proto__", undefined]) {
    const key = { kty: "oct", k, alg: "HS256", ...(kid !== undefined && { kid }) };
    expect(await tokens.read(await sign({ sid: "s1", exp }, key))).toBeNull();
  }
});

test.each([
  { secret: "short" },
  { secret: OLD, oldSecrets: ["short"] },
  { secret: OLD, oldSecrets: Array.from({ length: 9 }, () => NEW) },
])("%o is refused", (secrets) => {
  expect(() => new SessionTokens(secrets)).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }));
});
