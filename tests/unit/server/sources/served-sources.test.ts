import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { UserFiles } from "../../../../web/src/files.js";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { UserUsage } from "../../../../web/src/server/usage/user-usage.js";
import { memoryState, SluiceServer, type SluiceServerOptions } from "../../../../web/src/serve.js";
import { redisState } from "../../../../web/src/server/redis/state.js";
import { Announcer } from "../../../../web/src/server/sessions/announcer.js";
import { Pauses } from "../../../../web/src/server/sources/pauses.js";
import { ServedSource, SharedProviders, SourceNode } from "../../../../web/src/server/sources/served-source.js";
import { ServedSources } from "../../../../web/src/server/sources/served-sources.js";
import { type ExternalToolConfig, OAuthManager, readToolConfig, ToolNode } from "../../../../web/src/tools-node.js";
import type { PausePayload } from "../../../../web/src/tools/context.js";
import { TestRedis } from "../../redis/redis-server.js";
import { consent, REDIRECT, startAuthorizationServer } from "../../tools/auth/authorization-server.js";
import { startProtectedMcp } from "../../tools/auth/protected-mcp.js";
import { refused } from "../visitor.js";
import {
  called,
  calledOnce,
  CHANGING,
  elsewhere,
  listening,
  posted,
  program,
  served as servedSource,
  type Serving,
  visitor,
} from "./serving.js";
import { Telling, type Told } from "./told.js";

describe("served sources", () => {
  interface Made extends AsyncDisposable {
    readonly sources: ServedSources;
    readonly errors: readonly unknown[];
  }

  function made(sources: readonly ExternalToolConfig[], variables: Record<string, string> = {}): Made {
    const state = memoryState();
    const errors: unknown[] = [];
    const report = (error: unknown): void => void errors.push(error);
    const given = new ServedSources({
      sources,
      variables,
      store: new MemoryArtifactStore(),
      userFiles: null,
      state,
      announcer: new Announcer(state.events, report),
      usage: new UserUsage({ state, limits: {}, announcer: new Announcer(state.events, report), report }),
      report,
      over: new AbortController().signal,
    });
    return { sources: given, errors, [Symbol.asyncDispose]: () => given[Symbol.asyncDispose]() };
  }

  const wrong = (options: Partial<SluiceServerOptions>): unknown => {
    try {
      return new SluiceServer({ store: new MemoryArtifactStore(), ...options });
    } catch (error) {
      return error;
    }
  };

  describe("a configuration that is wrong", () => {
    test.each([
      ["a key that there is not", [{ ...program("own"), transprot: "mcp" }], "E_TOOL_CONFIG", "sources[0].transprot"],
      ["a value", [program("own"), program("no.name")], "E_TOOL_CONFIG", "sources[1].name"],
      ["two of one name", [program("own"), program("own")], "E_INVALID_ARGUMENT", "sources[1].name"],
      [
        "files without a place",
        [program("own", CHANGING, { user_files: true })],
        "E_INVALID_ARGUMENT",
        "sources[0].user_files",
      ],
    ])("%s is an error that names the place", (_, sources, code, path) => {
      expect(wrong({ sources: sources as readonly ExternalToolConfig[] })).toMatchObject({ code, path });
    });
  });

  test("sources that can be had are given, and why the others cannot is reported", async () => {
    await using here = made([program("own", CHANGING), program("gone", "/nowhere/at-all")]);
    expect(here.sources.names).toEqual(["own", "gone"]);
    const nodes = await here.sources.planned({ scope: { user_id: "ada" } });
    expect(nodes.map(({ name }) => name)).toEqual(["own"]);
    expect(here.errors).toMatchObject([{ code: "E_TOOL_CONNECTION" }]);
  });

  test("all users share a source that keeps nothing of theirs", async () => {
    await using here = made([program("own", CHANGING)]);
    const [ada, bob] = await Promise.all(
      ["ada", "bob"].map((user_id) => here.sources.get("own", { scope: { user_id } })),
    );
    expect(ada).toBe(bob);
  });

  test("each user has a node of their own where they have files in it", async () => {
    const { server } = servedSource({
      sources: [program("own", CHANGING, { user_files: true })],
      filesStore: new MemoryArtifactStore(),
    });
    const pid = async (user: string): Promise<unknown> => {
      const by = await visitor({ server }, user);
      const headers = { "content-type": "application/json", accept: "application/json" };
      return by.json("/tools/own.pid", { method: "POST", body: "{}", headers });
    };
    const [ada, again, bob] = [await pid("ada"), await pid("ada"), await pid("bob")];
    expect(again).toEqual(ada);
    expect(bob).not.toEqual(ada);
  });

  test("once the server is closed its programs are gone", async () => {
    const { server } = servedSource({ sources: [program("own", CHANGING)] });
    const { observation } = await (
      await visitor({ server })
    ).json<{ observation: string }>("/tools/own.pid", {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json", accept: "application/json" },
    });
    const pid = Number(JSON.parse(observation));
    expect(isAlive(pid)).toBe(true);
    await server[Symbol.asyncDispose]();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test("an unknown source is E_NOT_FOUND", async () => {
    await using here = made([]);
    await expect(here.sources.get("own", {})).rejects.toMatchObject({ code: "E_NOT_FOUND" });
    await expect(here.sources.get("__proto__", {})).rejects.toMatchObject({ code: "E_NOT_FOUND" });
  });

  test("variables that are given are filled in, and one that is missing is named", async () => {
    const own = program("own", CHANGING, { env: { OWN_TOKEN: "${TOKEN}" } });
    await using here = made([own], { TOKEN: "t0" });
    const node = await here.sources.get("own", {});
    expect((await node.call("token")).value).toBe("t0");
    // Nobody has to come for it.
    const missing = expect.objectContaining({
      code: "E_TOOL_AUTH",
      message: expect.stringContaining("GONE") as unknown,
    });
    expect(() => made([program("other", "${GONE}")])).toThrow(missing);
  });

  test("what a program writes to its standard error is reported, shortened", async () => {
    await using here = made([program("own")]);
    const node = await here.sources.get("own", {});
    await node.call("complain", { line: `warning: \u001b[31m${"x".repeat(10_000)}` });
    await expect.poll(() => here.errors.length).toBeGreaterThan(0);
    const [{ message }] = here.errors as [Error];
    expect(message).toMatch(/^The source own writes to its standard error: warning: \[31mx+$/);
    expect(message.length).toBeLessThan(2100);
  });

  test("what sources there are is told, and what else is served", async () => {
    const secret = "a secret of thirty-two characters";
    const ada = await visitor(
      servedSource({ sources: [program("own", CHANGING, { description: "Of ours." })], secret }),
    );
    expect(await ada.json("/sources")).toEqual({
      sources: [{ name: "own", transport: "mcp", description: "Of ours.", asks_consent: false }],
      chat: false,
      files: false,
    });
    expect(JSON.stringify(await ada.json("/sources"))).not.toContain("changing-server");
    const answer = await ada.ask("/sources/nowhere/connection", { method: "POST" });
    expect(await answer.text()).toContain('"code":"E_NOT_FOUND"');
  });

  test("without a session nothing of a source is told", async () => {
    const { server } = servedSource({ sources: [program("own", CHANGING)] });
    const asked = [
      ["GET", "/sources"],
      ["POST", "/sources/own/connection"],
      ["GET", "/tools"],
      ["POST", "/tools/own.echo"],
      ["GET", "/resources/own"],
      ["GET", "/resources/own/a%3Ab"],
      ["GET", "/resources/own/templates"],
      ["GET", "/resources/own/completions"],
      ["PUT", "/resources/own/a%3Ab/subscription"],
      ["DELETE", "/resources/own/a%3Ab/subscription"],
      ["POST", "/pauses/AAAAAAAAAAAAAAAAAAAAAA"],
    ] as const;
    for (const [method, path] of asked) {
      const answer = await server.fetch(new Request(`http://127.0.0.1:8080${path}`, { method }));
      expect([path, ...(await refused(answer))]).toEqual([path, 401, "E_SESSION"]);
    }
  });

  test("pages of other origins get nothing", async () => {
    const { server } = servedSource({ sources: [program("own", CHANGING)] });
    const ada = await visitor({ server });
    for (const path of ["/tools/own.echo", "/pauses/AAAAAAAAAAAAAAAAAAAAAA", "/sources/own/connection"]) {
      const answer = await ada.ask(path, { method: "POST", headers: { origin: "https://evil.example" } });
      expect(await refused(answer)).toEqual([403, "E_FORBIDDEN"]);
    }
  });

  function isAlive(pid: number): boolean {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }
});

describe("one served source", () => {
  function source(limits: { readonly maxNodes: number; readonly idle: number }): ServedSource {
    const given = program("own", CHANGING, { user_files: true });
    const store = new MemoryArtifactStore();
    const manager = new OAuthManager({ providers: {} });
    const served = new ServedSource({
      given,
      config: readToolConfig(given),
      options: { store, userFiles: new UserFiles({ store: new MemoryArtifactStore() }) },
      variables: () => undefined,
      providers: new SharedProviders({ manager, states: memoryState().runs, client: undefined }),
      onEvent: () => undefined,
      holdProgram: async () => ({ [Symbol.dispose]: () => undefined }),
      over: new AbortController().signal,
      ...limits,
    });
    onTestFinished(() => served[Symbol.asyncDispose]());
    return served;
  }

  const of = (served: ServedSource, user_id: string): Promise<ToolNode> => served.connected({ scope: { user_id } });

  test("as many users have it as there may be, and none is taken from whoever works with it", async () => {
    const served = source({ maxNodes: 2, idle: 60_000 });
    const [ada] = [await of(served, "ada"), await of(served, "bob")];
    await expect(of(served, "eve")).rejects.toMatchObject({ code: "E_TOOL_RATE_LIMIT" });
    expect(await of(served, "ada")).toBe(ada);
    expect((await ada.call("echo", { message: "hello" }, { scope: { user_id: "ada" } })).value).toBe("hello");
  });

  test("who did not use it for long makes room, and has it again when they come back", async () => {
    const clock = performance.now.bind(performance);
    let later = 0;
    vi.spyOn(performance, "now").mockImplementation(() => clock() + later);
    onTestFinished(() => void vi.restoreAllMocks());
    const served = source({ maxNodes: 2, idle: 60_000 });
    const ada = await of(served, "ada");
    later = 40_000;
    const bob = await of(served, "bob");
    later = 80_000;
    await of(served, "eve");
    expect(() => ada.getTools()).toThrow(/not connected/);
    expect(bob.getTools().length).toBeGreaterThan(0);
    later = 150_000;
    expect((await of(served, "ada")).getTools().length).toBeGreaterThan(0);
  });

  interface Made {
    readonly node: SourceNode;
    /** How often it was tried. */
    readonly tries: () => number;
  }

  function made(config: ExternalToolConfig, isOneUsers = false): Made {
    let tries = 0;
    const prepare = async (): Promise<void> => void (tries += 1);
    const over = new AbortController();
    const node = new SourceNode(new ToolNode(config), { isOneUsers, prepare, over: over.signal });
    onTestFinished(() => node[Symbol.asyncDispose]());
    return { node, tries: () => tries };
  }

  test("it is connected when it is first needed, once for all who ask", async () => {
    const { node, tries } = made(program("own", CHANGING));
    expect(tries()).toBe(0);
    const nodes = await Promise.all(Array.from({ length: 20 }, () => node.connected({})));
    expect(new Set(nodes).size).toBe(1);
    expect(await (await node.connected({})).call("echo", { message: "hello" })).toMatchObject({ value: "hello" });
    expect(tries()).toBe(1);
  });

  test("after a failure it is left alone for a while, and then it is tried again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-node-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const script = join(folder, "server.mjs");
    const { node, tries } = made(program("own", `"${process.execPath}" "${script}"`));
    await Promise.allSettled(Array.from({ length: 20 }, () => node.connected({})));
    await expect(node.connected({})).rejects.toMatchObject({ code: "E_TOOL_CONNECTION" });
    expect(tries()).toBe(1);
    await writeFile(
      script,
      `await import(${JSON.stringify(new URL("../../tools/changing-server.mjs", import.meta.url).href)});`,
    );
    await expect.poll(() => node.connected({}).then(({ name }) => name, String), { timeout: 10_000 }).toBe("own");
    expect(tries()).toBe(2);
  });

  test("one who gives up waiting ends it for nobody else", async () => {
    const { node, tries } = made(program("own", CHANGING));
    const left = new AbortController();
    const given = node.connected({ signal: left.signal });
    const other = node.connected({});
    left.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    expect((await other).name).toBe("own");
    expect(tries()).toBe(1);
  });

  test("where a person is asked, the next who waits connects when that one gives up", async () => {
    const { node, tries } = made(program("own", CHANGING), true);
    const left = new AbortController();
    // Who can be asked is.
    const given = node.connected({ signal: left.signal, pause: async () => null });
    const other = node.connected({});
    left.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    expect((await other).name).toBe("own");
    expect(tries()).toBe(2);
  });

  test("once it is closed it is not connected any more, and says so", async () => {
    const { node } = made(program("own", CHANGING));
    const connected = node.connected({});
    await node[Symbol.asyncDispose]();
    await expect(connected).rejects.toThrow("was closed");
    await expect(node.connected({})).rejects.toThrow("was closed");
  });
});

describe("pauses", () => {
  const QUESTION = { reason: "await_input", payload: { message: "Go on?" } } as const;
  const STATE = "s".repeat(43);
  const CONSENT = {
    reason: "external_event",
    payload: {
      pause_type: "oauth",
      provider: "far",
      display_name: "Far",
      auth_url: `https://far.example/auth?state=${STATE}&x=1`,
      scopes: [],
    },
  } as const;

  const forever = new AbortController().signal;

  describe("questions", () => {
    test("the first answer counts, from any process, and the question is gone", async () => {
      const { events } = memoryState();
      const [here, there] = [new Pauses(events), new Pauses(events)];
      const pause = await here.open("s1", QUESTION);
      const answer = pause.answer(forever);
      expect(await there.answer("s1", pause.id, { ok: true })).toBe(true);
      expect(await answer).toEqual({ ok: true });
      expect(await there.answer("s1", pause.id, { ok: false })).toBe(false);
    });

    test("an answer that comes before it is waited for is not lost", async () => {
      const pauses = new Pauses(memoryState().events);
      const pause = await pauses.open("s1", QUESTION);
      await pauses.answer("s1", pause.id, null);
      expect(await pause.answer(forever)).toBeNull();
    });

    test("who says nothing in time declines", async () => {
      const pauses = new Pauses(memoryState().events, 0.05);
      const pause = await pauses.open("s1", QUESTION);
      expect(await pause.answer(forever)).toBeNull();
      expect(await pauses.answer("s1", pause.id, 1)).toBe(false);
    });

    test("who gives up is told so, and the question is gone", async () => {
      const pauses = new Pauses(memoryState().events);
      const pause = await pauses.open("s1", QUESTION);
      const left = new AbortController();
      const answer = pause.answer(left.signal);
      left.abort(new Error("enough"));
      await expect(answer).rejects.toThrow("enough");
      expect(await pauses.answer("s1", pause.id, 1)).toBe(false);
    });

    test.each(["s2", "s1 ", "s", ""])("session %j does not answer for s1", async (session) => {
      const pauses = new Pauses(memoryState().events);
      const pause = await pauses.open("s1", QUESTION);
      expect(await pauses.answer(session, pause.id, 1)).toBe(false);
    });

    test.each(["", "x", "../..", "a b", "s".repeat(23), "\0".repeat(22)])("%j names no question", async (id) => {
      expect(await new Pauses(memoryState().events).answer("s1", id, 1)).toBe(false);
    });
  });

  describe("requests for consent", () => {
    test("it is known in every process whose they are, until they are forgotten", async () => {
      const { events } = memoryState();
      const [here, there] = [new Pauses(events), new Pauses(events)];
      const { id } = await here.open("s1", CONSENT);
      expect(await there.consentOf(STATE)).toEqual({ session: "s1", pause: id, provider: "far" });
      await there.forgetConsent(STATE);
      expect(await here.consentOf(STATE)).toBeNull();
    });

    test("one that nothing waits for here is noted too", async () => {
      const pauses = new Pauses(memoryState().events);
      await pauses.noteConsent("s1", CONSENT.payload);
      expect(await pauses.consentOf(STATE)).toEqual({ session: "s1", pause: null, provider: "far" });
    });

    test.each(["", "x", "s".repeat(44), "s1 x"])("the state %j belongs to no user", async (state) => {
      const pauses = new Pauses(memoryState().events);
      await pauses.open("s1", QUESTION);
      expect(await pauses.consentOf(state)).toBeNull();
    });

    test.each([
      { pause_type: "url", auth_url: CONSENT.payload.auth_url, provider: "far" },
      { pause_type: "oauth", auth_url: "no URL", provider: "far" },
      { pause_type: "oauth", auth_url: "https://far.example/", provider: "far" },
      { pause_type: "oauth", auth_url: 7, provider: "far" },
    ])("of %j nothing is noted", async (payload) => {
      const pauses = new Pauses(memoryState().events);
      await pauses.noteConsent("s1", payload as object as PausePayload);
      expect(await pauses.consentOf(STATE)).toBeNull();
    });
  });
});

/** Two servers over one Redis server: what begins in one goes on in the other. */
describe("over one Redis", () => {
  const SECRET = "a secret of thirty-two characters";
  const WATCHED = "test://watched-resource";
  const watched = `/resources/lab/${encodeURIComponent(WATCHED)}/subscription`;

  let redis: TestRedis;

  beforeAll(async () => {
    redis = await TestRedis.started();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  /** Each has connections of its own. */
  function two(options: Partial<SluiceServerOptions> = {}): readonly [Serving, Serving] {
    const store = new MemoryArtifactStore();
    const one = (): Serving => {
      const state = redisState({ url: redis.url, secret: SECRET });
      onTestFinished(() => state[Symbol.asyncDispose]());
      return servedSource({ state, store, secret: SECRET, sources: [program("lab")], ...options });
    };
    return [one(), one()];
  }

  test("a question is answered in the other", async () => {
    const [first, second] = two();
    const ada = await visitor(first);
    await using telling = await called(ada, "lab.test_input_required_result_elicitation");
    const { pause } = (await telling.next("paused")) as Told & { pause: string };
    const answer = posted({ answer: { name: "Ada" } });
    expect((await elsewhere(second, await visitor(second, "bob"), `/pauses/${pause}`, answer)).status).toBe(404);
    expect((await elsewhere(second, ada, `/pauses/${pause}`, answer)).status).toBe(204);
    expect(await telling.next("result")).toMatchObject({ observation: '"Hello, Ada!"' });
  });

  test("a call ends with its session, which ends in the other", async () => {
    const [first, second] = two();
    const ada = await visitor(first);
    await using telling = await called(ada, "lab.slow");
    const last = telling.rest();
    await calledOnce(ada, "lab.progress");
    await elsewhere(second, ada, "/sessions/current", { method: "DELETE" });
    expect(await last).toMatchObject([{ kind: "failed", error: { code: "E_SESSION" } }]);
  });

  test("what is subscribed to in one is told by the other, also once the first is gone", async () => {
    const [first, second] = two();
    const ada = await visitor(first);
    await using told = await listening(ada);
    const update = told.next("resource_updated");
    expect((await elsewhere(second, ada, watched, { method: "PUT" })).status).toBe(204);
    await expect
      .poll(async () => {
        await calledOnce(ada, "lab.touch");
        return Promise.race([update, Promise.resolve(null)]);
      })
      .toMatchObject({ uri: WATCHED });
    await first.server[Symbol.asyncDispose]();
    const headers = { "last-event-id": told.lastId ?? "" };
    await using again = new Telling(await elsewhere(second, ada, "/events", { headers }));
    expect(await again.next("resource_updated")).toMatchObject({ uri: WATCHED });
  });

  test("a person who was asked by one comes back to the other", async () => {
    await using authorization = await startAuthorizationServer();
    await using mcp = await startProtectedMcp(authorization);
    const far = { name: "far", transport: "mcp", connection: mcp.url, auth_type: "oauth2_user" } as const;
    const [first, second] = two({ sources: [far], oauthClient: { redirect_uri: REDIRECT } });
    const ada = await visitor(first);
    await using telling = await called(ada, "far.whoami");
    const asked = (await telling.next("paused")) as Told & { payload: { auth_url: string } };
    const { search } = await consent(asked.payload.auth_url, { login: "ada@example" });
    expect((await elsewhere(second, ada, `/oauth/callback${search}`)).status).toBe(200);
    expect(await telling.next("result")).toMatchObject({ observation: '"ada@example"' });
  });
});
