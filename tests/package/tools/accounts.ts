/**
 * A real authorization server for pages, and a person in front of its windows.
 * @module
 */
import type { RequestListener } from "node:http";
import type { Page } from "playwright-core";
import { forPages, listen, type Elsewhere } from "./elsewhere.js";

/** An authorization server. */
export interface Accounts extends Elsewhere {
  /**
   * Lets codes be sent to a page: `page` is the client that may be sent there. Without refresh tokens a person is asked again
   * once a token is no good any more.
   */
  open(redirect: string, options?: { readonly refreshes?: boolean }): Promise<void>;
  /** Who gave a token; null when it is no good. */
  owner(token: string): Promise<string | null>;
}

const NOT_YET: RequestListener = (_, response) => void response.writeHead(503).end();

/** Starts one, which answers once it is opened. */
export async function serveAccounts(): Promise<Accounts> {
  // It warns of old versions of Node, and of keys made for development, which these are.
  const { warn, info } = console;
  Object.assign(console, { warn: () => undefined, info: () => undefined });
  const { Provider } = await import("oidc-provider");
  let provider: InstanceType<typeof Provider> | undefined;
  let answer = NOT_YET;
  // Of all its endpoints it is only this one that it does not open for pages.
  const registering = forPages((...exchange) => answer(...exchange));
  const served = await listen(
    () =>
      (...exchange) =>
        (exchange[0].url === "/reg" ? registering : answer)(...exchange),
  );
  return {
    ...served,
    open: async (redirect, { refreshes = true } = {}) => {
      provider = new Provider(served.origin, setup(redirect, refreshes));
      answer = provider.callback();
    },
    owner: async (token) => (await provider?.AccessToken.find(token))?.accountId ?? null,
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]();
      Object.assign(console, { warn, info });
    },
  };
}

function setup(redirect: string, refreshes: boolean): Readonly<Record<string, unknown>> {
  const grants = { grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "none" };
  return {
    clients: [{ client_id: "page", redirect_uris: [redirect], ...grants }],
    clientBasedCORS: () => true,
    scopes: ["openid", "offline_access"],
    pkce: { required: () => true },
    issueRefreshToken: () => refreshes,
    features: {
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          audience,
          scope: "openid",
          accessTokenFormat: "opaque",
        }),
      },
    },
    cookies: { keys: ["test"] },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
  };
}

/** Logs in, in the window where the server asks who is there. */
export async function logIn(window: Page, login: string): Promise<void> {
  await window.locator('input[name="login"]').fill(login);
  await window.locator('input[name="password"]').fill("any");
  await window.locator('button[type="submit"]').click();
}

/** Agrees, in the window where the server asks for that. */
export async function agree(window: Page): Promise<void> {
  await window.locator('input[name="prompt"][value="consent"]').waitFor({ state: "attached" });
  await window.locator('button[type="submit"]').click();
}
