/** Users with tokens of their own: whose call it is, and tokens that end. */
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  type ExternalToolConfig,
  OAuthManager,
  type ToolContext,
  type ToolNodeError,
} from "../../../web/src/tools-node.js";
import { LARGE_PNG } from "../../unit/core/samples.js";
import {
  consent,
  REDIRECT,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "../../unit/tools/auth/authorization-server.js";
import { serveForTest } from "../../unit/tools/serve.js";
import { type Era, ERAS, type FaultyServer, type Offered, refuse, serveTools, text } from "./faulty-server.js";
import { type Fronted, inFront } from "./in-front.js";

/** Milliseconds that tokens are good for. */
const HOUR = 3_600_000;

/** A little later than tokens end. */
const LATER: number = HOUR + 60_000;

const TOOLS: Readonly<Record<string, Offered>> = {
  whoami: { annotations: { readOnlyHint: true }, answer: (_, asker) => text(asker) },
  /** May not be called twice. */
  photo: {
    answer: () => ({ content: [{ type: "image", data: LARGE_PNG.toString("base64"), mimeType: "image/png" }] }),
  },
};

/** A person, and how often they were asked. */
interface Person {
  readonly context: ToolContext;
  readonly asked: unknown[];
}

/** People, and the manager of what they consent to. */
interface Consent {
  readonly manager: OAuthManager;
  readonly person: (user_id: string, more?: { tenant_id?: string; refuses?: boolean }) => Person;
}

/** The same, and what they use. */
interface UserSetting extends Consent {
  readonly server: FaultyServer;
  readonly front: Fronted;
}

/** Configuration, and whether the manager's clock stands still: it learns from the source alone that a token is over. */
type UserConfig = Partial<ExternalToolConfig> & { readonly isLate?: boolean };

/** An authorization server of its own for each test. */
class Users {
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
function useUsers(): Users {
  const users = new Users();
  beforeEach(() => users.begin());
  afterEach(() => users.end());
  return users;
}

/** Lets time pass for the authorization server. */
function pass(milliseconds: number): void {
  vi.setSystemTime(Date.now() + milliseconds);
}

/** A source that wants its users' own tokens. */
function sourceOf(config: Pick<ExternalToolConfig, "transport" | "connection">): ExternalToolConfig {
  const retry_policy = { wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 };
  return { name: "far", auth_type: "oauth2_user", retry_policy, ...config };
}

describe("users", () => {
  const users = useUsers();

  describe.each(ERAS)("%s", (era) => {
    const setting = (config?: UserConfig): Promise<UserSetting> => users.setting(era, config);

    test("each is asked once, and no two of them ever share a session or what they store", async () => {
      const { server, front, person } = await setting();
      const people = [person("ada"), person("bob"), person("ada", { tenant_id: "other" })];
      const names = ["ada@acme", "bob@acme", "ada@other"];
      for (const { context } of people) await front.node.call("whoami", {}, context);
      const calls = Array.from({ length: 30 }, (_, at) => at % people.length);
      const answers = await Promise.all(calls.map((at) => front.node.call("whoami", {}, people[at]?.context ?? {})));
      expect(answers.map(({ value }) => value)).toEqual(calls.map((at) => names[at]));
      expect(people.map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
      for (const sharing of server.sessions.values()) expect(sharing.size).toBe(1);
      expect(server.sessions.size).toBe(era === "2025-11-25" ? 4 : 0);

      const [photo] = (await front.node.call("photo", {}, people[0]?.context ?? {})).artifacts;
      const has = ({ context }: Person): Promise<boolean> => front.store.exists(photo?.id ?? "", context.scope ?? {});
      expect(await Promise.all(people.map(has))).toEqual([true, false, false]);
    });

    test("a token that ends is renewed in time, and nobody is asked", async () => {
      const { server, front, person } = await setting();
      const ada = person("ada");
      await front.node.call("whoami", {}, ada.context);
      pass(LATER);
      expect((await front.node.call("photo", {}, ada.context)).artifacts).toHaveLength(1);
      expect([server.arrived, ada.asked.length]).toEqual([2, 1]);
    });

    test("a token that ends in the middle of a call is renewed, and the call goes on without the user", async () => {
      const { server, front, person } = await setting({ isLate: true });
      const ada = person("ada");
      await front.node.call("whoami", {}, ada.context);
      // The first attempt is sent away, and the token ends while the second is waited for.
      server.meets((exchange) => {
        pass(LATER);
        return refuse(503)(exchange);
      });
      expect((await front.node.call("photo", {}, ada.context)).artifacts).toHaveLength(1);
      expect((await front.node.call("whoami", {}, ada.context)).value).toBe("ada@acme");
      expect([server.arrived, ada.asked.length]).toEqual([5, 1]);
    });

    test("a token that ends between many calls at a time is renewed once for all of them", async () => {
      const { front, person } = await setting({ isLate: true });
      const ada = person("ada");
      await front.node.call("whoami", {}, ada.context);
      users.authorization.asked.length = 0;
      pass(LATER);
      const answers = await Promise.all(Array.from({ length: 8 }, () => front.node.call("whoami", {}, ada.context)));
      expect(new Set(answers.map(({ value }) => value))).toEqual(new Set(["ada@acme"]));
      expect(users.authorization.asked.map((body) => body.get("grant_type"))).toEqual(["refresh_token"]);
      expect(ada.asked).toHaveLength(1);
    });

    test.each<[string, () => void]>([
      ["consent that ended", () => pass(60 * 24 * HOUR)],
      [
        "consent that was taken back",
        () => {
          pass(LATER);
          users.authorization.instead.push((response) => {
            response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
          });
        },
      ],
    ])("%s is asked for anew through pause, and the call goes on", async (_, end) => {
      const { front, person } = await setting({ isLate: true });
      const ada = person("ada");
      await front.node.call("whoami", {}, ada.context);
      end();
      expect((await front.node.call("photo", {}, ada.context)).artifacts).toHaveLength(1);
      expect(ada.asked).toMatchObject([{ pause_type: "oauth", provider: "far" }, { pause_type: "oauth" }]);
    });

    test("who refuses, or cannot be asked, gets an error, and tokens are in no error and no event", async () => {
      const { front, manager, person, server } = await setting();
      const eve = person("eve", { refuses: true });
      const bob = person("bob");
      const errors: unknown[] = [];
      for (const context of [eve.context, { scope: { user_id: "dan" } }, { scope: {} }, {}]) {
        errors.push(await front.node.call("whoami", {}, context).catch((thrown: unknown) => thrown));
      }
      expect(errors).toEqual(errors.map(() => expect.objectContaining({ code: "E_TOOL_AUTH" })));
      await front.node.call("photo", {}, bob.context);
      server.meets(refuse(403), refuse(503), refuse(503), refuse(503));
      errors.push(await front.node.call("whoami", {}, bob.context).catch((thrown: unknown) => thrown));
      errors.push(await front.node.call("whoami", {}, bob.context).catch((thrown: unknown) => thrown));
      const told = JSON.stringify([...errors, ...front.events], (_key, value: unknown) =>
        value instanceof Error ? [value.message, value.stack, value.cause, Object.entries(value)] : value,
      );
      const tokens = users.authorization.asked.flatMap((body) => [body.get("code"), body.get("code_verifier")]);
      tokens.push(await manager.getToken({ user_id: "bob", tenant_id: "acme" }, "far"));
      for (const secret of [...tokens, "Bearer"]) expect(told).not.toContain(secret);
      expect(eve.asked).toHaveLength(1);
    });
  });

  test("an HTTP API is told who asks as well: each their own token, renewed when it is refused", async () => {
    const origin = await serveForTest((request, response) => {
      const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
      const answer = async (): Promise<void> => {
        const who = await users.authorization.owner(token);
        response
          .writeHead(who === null ? 401 : 200, { "content-type": "application/json" })
          .end(JSON.stringify({ who }));
      };
      void answer();
    });
    const { manager, person } = users.consenting(true);
    await using front = await inFront(sourceOf({ transport: "http", connection: `${origin}/` }), {
      authManager: manager,
      context: person("host").context,
    });
    const [tool] = front.node.getTools();
    const [ada, bob] = [person("ada"), person("bob")];
    const asks = ({ context }: Person): Promise<unknown> =>
      front.node.call(tool?.name ?? "", {}, context).then(({ value }) => value);
    expect(await asks(ada)).toEqual({ who: "ada@acme" });
    expect(await asks(bob)).toEqual({ who: "bob@acme" });
    pass(LATER);
    expect(await Promise.all([ada, bob, ada].map(asks))).toEqual(
      ["ada@acme", "bob@acme", "ada@acme"].map((who) => ({ who })),
    );
    expect([ada.asked.length, bob.asked.length]).toEqual([1, 1]);
  });
});

/** Users who are asked for their consent: once, however many calls wait for it, and no others wait with them. */
describe("consent", () => {
  const users = useUsers();

  describe.each(ERAS)("%s", (era) => {
    const setting = (config?: UserConfig): Promise<UserSetting> => users.setting(era, config);

    test("while a user is asked, others get answers, and no time limit runs", async () => {
      const { front, person } = await setting({ max_concurrency: 1, timeout_s: 5 });
      const [ada, bob] = [person("ada"), person("bob")];
      const decided = new AbortController();
      const asked = new AbortController();
      const pause: ToolContext["pause"] = async (reason, payload) => {
        asked.abort();
        await once(decided.signal, "abort");
        await ada.context.pause?.(reason, payload);
      };
      const waiting = front.node.call("whoami", {}, { ...ada.context, pause });
      await once(asked.signal, "abort");
      expect((await front.node.call("whoami", {}, bob.context)).value).toBe("bob@acme");
      await new Promise((resolve) => setTimeout(resolve, 5100));
      decided.abort();
      expect((await waiting).value).toBe("ada@acme");
      expect(front.events.map(({ kind }) => kind)).toEqual([]);
    });

    test("users are asked at once, each of them once, and one who refuses refuses for their own calls alone", async () => {
      const { front, person } = await setting();
      const [ada, bob, eve] = [person("ada"), person("bob"), person("eve", { refuses: true })];
      const outcome = ({ context }: Person): Promise<unknown> =>
        front.node.call("whoami", {}, context).then(
          ({ value }) => value,
          ({ code, message }: ToolNodeError) => [code, message],
        );
      const refusal = ["E_TOOL_AUTH", "The user did not give access to far: call again to ask once more."];
      expect(await Promise.all([ada, eve, bob, ada, eve, bob, eve].map(outcome))).toEqual([
        "ada@acme",
        refusal,
        "bob@acme",
        "ada@acme",
        refusal,
        "bob@acme",
        refusal,
      ]);
      expect([ada, bob, eve].map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
    });
  });
});
