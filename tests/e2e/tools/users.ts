/**
 * Users with tokens of their own, at a real authorization server, in front of an MCP server that looks at each token.
 * @module
 */
import { afterEach, beforeEach, onTestFinished, vi } from "vitest";
import { OAuthManager, type ExternalToolConfig, type ToolContext } from "../../../web/src/tools-node.js";
import {
  consent,
  REDIRECT,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "../../unit/tools/auth/authorization-server.js";
import { LARGE_PNG } from "../../unit/core/samples.js";
import { serveTools, text, type Era, type FaultyServer, type Offered } from "./faulty-server.js";
import { inFront, type Fronted } from "./in-front.js";

/** Milliseconds that tokens are good for. */
export const HOUR = 3_600_000;

/** A little later than tokens end. */
export const LATER: number = HOUR + 60_000;

const TOOLS: Readonly<Record<string, Offered>> = {
  whoami: { annotations: { readOnlyHint: true }, answer: (_, asker) => text(asker) },
  /** May not be called twice. */
  photo: {
    answer: () => ({ content: [{ type: "image", data: LARGE_PNG.toString("base64"), mimeType: "image/png" }] }),
  },
};

/** A person, and how often they were asked. */
export interface Person {
  readonly context: ToolContext;
  readonly asked: unknown[];
}

/** People, and the manager of what they consent to. */
export interface Consent {
  readonly manager: OAuthManager;
  readonly person: (user_id: string, more?: { tenant_id?: string; refuses?: boolean }) => Person;
}

/** The same, and what they use. */
export interface UserSetting extends Consent {
  readonly server: FaultyServer;
  readonly front: Fronted;
}

/** Configuration, and whether the manager's clock stands still: it learns from the source alone that a token is over. */
export type UserConfig = Partial<ExternalToolConfig> & { readonly isLate?: boolean };

/** An authorization server of its own for each test. */
export class Users {
  #server: TestAuthorizationServer | undefined;

  /** The server of this test. */
  get authorization(): TestAuthorizationServer {
    if (this.#server === undefined) throw new Error("The authorization server is used before the tests.");
    return this.#server;
  }

  async begin(): Promise<void> {
    // Tokens end by the clock of the authorization server, which runs here.
    vi.useFakeTimers({ toFake: ["Date"] });
    this.#server = await startAuthorizationServer({ lifetime: HOUR / 1000 });
  }

  async end(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    vi.useRealTimers();
  }

  /** People of this test, see {@link UserConfig}. */
  consenting(isLate: boolean): Consent {
    const start = Date.now();
    const provider = {
      issuer: this.authorization.issuer,
      client_id: "public",
      redirect_uri: REDIRECT,
      scopes: ["openid", "offline_access"],
      auth_params: { prompt: "consent" },
    };
    const manager = new OAuthManager({ providers: { far: provider }, ...(isLate && { clock: () => start }) });
    const person: Consent["person"] = (user_id, { tenant_id = "acme", refuses = false } = {}) => {
      const asked: unknown[] = [];
      const pause: ToolContext["pause"] = async (_, payload) => {
        asked.push(payload);
        const login = `${user_id}@${tenant_id}`;
        const callback = await consent(payload["auth_url"] as string, { login, refuses });
        if (!refuses) await manager.handleCallback(callback, { user: { user_id, tenant_id } });
      };
      return { asked, context: { scope: { user_id, tenant_id, session_id: "today" }, pause } };
    };
    return { manager, person };
  }

  /** People of this test in front of a server, which ends with it. */
  async setting(era: Era, { isLate = false, ...config }: UserConfig = {}): Promise<UserSetting> {
    const server = await serveTools(TOOLS, { era, owner: (token) => this.authorization.owner(token) });
    onTestFinished(() => server[Symbol.asyncDispose]());
    const { manager, person } = this.consenting(isLate);
    const source = { ...sourceOf({ transport: "mcp", connection: server.url }), ...config };
    const front = await inFront(source, { authManager: manager, context: person("host").context });
    onTestFinished(() => front[Symbol.asyncDispose]());
    return { server, front, manager, person };
  }
}

/** Users for each test of a file. */
export function useUsers(): Users {
  const users = new Users();
  beforeEach(() => users.begin());
  afterEach(() => users.end());
  return users;
}

/** Lets time pass for the authorization server. */
export function pass(milliseconds: number): void {
  vi.setSystemTime(Date.now() + milliseconds);
}

/** A source that wants its users' own tokens. */
export function sourceOf(config: Pick<ExternalToolConfig, "transport" | "connection">): ExternalToolConfig {
  const retry_policy = { wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 };
  return { name: "far", auth_type: "oauth2_user", retry_policy, ...config };
}
