/**
 * A provider's description and keys over HTTP, which a test can spoil, and tokens that are signed as it says.
 * @module
 */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";
import { onTestFinished } from "vitest";

/** A key pair with its public half as it is published. */
export interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

/** A new key. */
export async function newKey(kid: string, alg = "RS256"): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

/** A provider, until the test is over. */
export interface TestProvider {
  readonly issuer: string;
  readonly keys: JWK[];
  /** Paths that were asked for, in order. */
  readonly asked: string[];
  /** Set: answers in place of it. */
  instead: RequestListener | null;
  /** What it says of itself. */
  description: Record<string, unknown>;
}

/** Starts one. `path` is the issuer's; `onEnd` takes what closes it, at the end of the test if it is left out. */
export async function provider(
  keys: readonly Key[],
  path = "",
  onEnd: (close: () => void) => void = onTestFinished,
): Promise<TestProvider> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (at.instead !== null) return at.instead(request, response);
    const json = (value: unknown): unknown =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (request.url === `${path}/.well-known/openid-configuration`) return json(at.description);
    if (request.url === "/jwks") return json({ keys: at.keys });
    return response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const at: TestProvider = {
    issuer: `${origin}${path}`,
    keys: keys.map(({ jwk }) => jwk),
    asked,
    instead: null,
    description: { issuer: `${origin}${path}`, jwks_uri: `${origin}/jwks` },
  };
  return at;
}

/** What a good token says, and how it is changed. */
export interface Signing {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

/** A token for `https://sluice.example/`, valid for an hour, unless it is said otherwise. `undefined` leaves a claim out. */
export async function tokenOf(
  { issuer }: Pick<TestProvider, "issuer">,
  { kid, privateKey }: Key,
  { claims = {}, header = {} }: Signing = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const said: Record<string, unknown> = {
    iss: issuer,
    aud: "https://sluice.example/",
    sub: "ada",
    client_id: "app",
    iat: now,
    exp: now + 3600,
    ...claims,
  };
  const kept = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  const head: Record<string, unknown> = { alg: "RS256", typ: "at+jwt", kid, ...header };
  const written = Object.fromEntries(Object.entries(head).filter(([, value]) => value !== undefined));
  return new SignJWT(kept).setProtectedHeader(written as { alg: string }).sign(privateKey);
}
