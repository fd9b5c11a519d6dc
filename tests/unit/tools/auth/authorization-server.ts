/**
 * A real authorization server, and a person who consents in a browser of their own.
 * @module
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import * as oauth from "oauth4webapi";
import { vi } from "vitest";

/** Where codes are sent; nothing listens there, the test takes them from the redirect. */
export const REDIRECT = "http://127.0.0.1:9/oauth/callback";

/** The secret of the client `confidential`; `public` has none. */
export const SECRET = "s3cret: with % + & and =";

/** What a running server offers. */
export interface TestAuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** Bodies of what was posted to the token endpoint, in order. */
  readonly asked: URLSearchParams[];
  /** Set: the next answers of the token endpoint, in place of the server's own. */
  readonly instead: ((response: ServerResponse) => void)[];
  /** Who gave a token; null when it is no good. */
  owner(token: string): Promise<string | null>;
  /** Which client a token was given to for its own credentials, and what for; null when it is no good. */
  machine(token: string): Promise<{ readonly client: string; readonly scope: string | null } | null>;
  /** Puts another key in the place of those that tokens are signed with; the last one stays published for tokens that it signed. */
  rotate(): Promise<void>;
  /** Set: in place of the whole server, as while it is away. */
  away: RequestListener | null;
  /** How often its keys were read. */
  readonly keysRead: () => number;
  /** What a token is for, where that was said. */
  audience(token: string): Promise<string | null>;
}

/**
 * Starts one. `lifetime` is that of access tokens in seconds; `registration` says whether it takes clients by themselves; `format` is that of access
 * tokens for a resource.
 */
export async function startAuthorizationServer({
  lifetime = 3600,
  registration = true,
  format = "opaque",
}: {
  readonly lifetime?: number;
  readonly registration?: boolean;
  readonly format?: "opaque" | "jwt";
} = {}): Promise<TestAuthorizationServer> {
  // It warns of old versions of Node, and of keys made for development, which these are.
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const info = vi.spyOn(console, "info").mockImplementation(() => undefined);
  const { Provider } = await import("oidc-provider");
  const asked: URLSearchParams[] = [];
  const instead: ((response: ServerResponse) => void)[] = [];
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let keys = format === "jwt" ? [await newKey()] : [];
  const opened = (): InstanceType<typeof Provider> =>
    new Provider(issuer, {
      ...setup(lifetime, registration, format),
      ...(keys.length > 0 && { jwks: { keys } }),
    });
  let provider = opened();
  let serve = provider.callback();
  let keysRead = 0;
  const token = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = new URLSearchParams(Buffer.concat(chunks).toString());
    asked.push(body);
    const other = instead.shift();
    if (other !== undefined) other(response);
    else serve(Object.assign(request, { body: Object.fromEntries(body) }), response);
  };
  const running: TestAuthorizationServer["away"][] = [null];
  server.on("request", (request, response) => {
    const [away] = running;
    if (request.url === "/jwks") keysRead += 1;
    if (away !== null && away !== undefined) away(request, response);
    else if (request.url === "/token") void token(request, response);
    else serve(request, response);
  });
  return {
    issuer,
    asked,
    instead,
    rotate: async () => {
      keys = [await newKey(), ...keys.slice(0, 1)];
      // What it knows of clients and grants is kept outside of it.
      provider = opened();
      serve = provider.callback();
    },
    get away() {
      return running[0] ?? null;
    },
    set away(listener) {
      running[0] = listener;
    },
    keysRead: () => keysRead,
    owner: async (bearer) => (await provider.AccessToken.find(bearer))?.accountId ?? null,
    machine: async (bearer) => {
      const found = await provider.ClientCredentials.find(bearer);
      return found === undefined ? null : { client: found.clientId, scope: found.scope ?? null };
    },
    audience: async (bearer) => (await provider.AccessToken.find(bearer))?.aud ?? null,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      warn.mockRestore();
      info.mockRestore();
    },
  };
}

async function newKey(): Promise<object> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), use: "sig", alg: "RS256" };
}

function setup(lifetime: number, registration: boolean, format: "opaque" | "jwt"): Readonly<Record<string, unknown>> {
  const client = { redirect_uris: [REDIRECT], grant_types: ["authorization_code", "refresh_token"] };
  const machine = { redirect_uris: [], response_types: [], grant_types: ["client_credentials"], client_secret: SECRET };
  return {
    clients: [
      { ...machine, client_id: "machine", token_endpoint_auth_method: "client_secret_post" },
      { ...machine, client_id: "basic-machine", token_endpoint_auth_method: "client_secret_basic" },
      { ...client, client_id: "confidential", client_secret: SECRET },
      { ...client, client_id: "posting", client_secret: SECRET, token_endpoint_auth_method: "client_secret_post" },
      { ...client, client_id: "public", token_endpoint_auth_method: "none" },
      // Comes back to this machine, at any port (RFC 8252 §7.3).
      {
        ...client,
        client_id: "native",
        application_type: "native",
        redirect_uris: ["http://127.0.0.1/callback"],
        token_endpoint_auth_method: "none",
      },
    ],
    scopes: ["openid", "offline_access", "files.read"],
    pkce: { required: () => true },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ttl: { AccessToken: lifetime, ClientCredentials: lifetime },
    features: {
      clientCredentials: { enabled: true },
      registration: { enabled: registration },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          audience,
          scope: "files.read",
          accessTokenFormat: format,
          ...(format === "jwt" && { jwt: { sign: { alg: "RS256" } } }),
          accessTokenTTL: lifetime,
        }),
      },
    },
    cookies: { keys: ["test"] },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
  };
}

/** An access token that a person gives to the client `public`, for a resource. */
export async function accessToken(
  { issuer }: Pick<TestAuthorizationServer, "issuer">,
  {
    login,
    resource,
    scope = "files.read",
  }: { readonly login: string; readonly resource: string; readonly scope?: string },
): Promise<string> {
  const verifier = oauth.generateRandomCodeVerifier();
  const asked = new URLSearchParams({
    client_id: "public",
    redirect_uri: REDIRECT,
    response_type: "code",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state: "s",
    resource,
    scope,
  });
  const back = await consent(`${issuer}/auth?${asked.toString()}`, { login });
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: "public",
      redirect_uri: REDIRECT,
      code: back.searchParams.get("code") ?? "",
      code_verifier: verifier,
      resource,
    }),
  });
  const { access_token } = (await answer.json()) as { readonly access_token?: string };
  if (access_token === undefined) throw new Error(`The provider gave no token: ${back.href}`);
  return access_token;
}

/** A person at the consent page: logs in, agrees or does not, and is sent back to the URL that is returned, below `redirect`. */
export async function consent(
  authUrl: string,
  {
    login,
    refuses = false,
    redirect = REDIRECT,
  }: { readonly login: string; readonly refuses?: boolean; readonly redirect?: string },
): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = new URL(authUrl);
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 20; step += 1) {
    const response = await fetch(at, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form !== undefined && { method: "POST", body: form }),
    });
    form = undefined;
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const page = await response.text();
    const location = response.headers.get("location");
    if (location !== null) {
      at = new URL(location, at);
      if (at.href.startsWith(redirect)) return at;
    } else if (refuses && page.includes("/abort")) {
      at = new URL(`${at.pathname}/abort`, at);
    } else if (page.includes('value="login"')) {
      form = new URLSearchParams({ prompt: "login", login, password: "any" });
    } else if (page.includes('value="consent"')) {
      form = new URLSearchParams({ prompt: "consent" });
    } else {
      throw new Error(`The server shows ${response.status}: ${page.slice(0, 2000)}`);
    }
  }
  throw new Error("The server never sent the person back.");
}
