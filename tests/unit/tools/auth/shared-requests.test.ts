/** Requests for consent that several processes share: each has a manager of its own, and all have one store. */
import * as fc from "fast-check";
import { generateRandomCodeVerifier, generateRandomState } from "oauth4webapi";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../../../../web/src/artifacts/store.js";
import { SluiceError } from "../../../../web/src/errors/error.js";
import { MemoryStateStore } from "../../../../web/src/planner/state-store.js";
import { OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import {
  MemoryOAuthStates,
  type OAuthStateStore,
  type PendingRequest,
  PendingRequests,
  type TakenRequest,
} from "../../../../web/src/tools/auth/pending-requests.js";
import { ownerKey, tokenOwner } from "../../../../web/src/tools/auth/token-store.js";
import { consent, startAuthorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { ask, managerOf, providerAt, SharedTokenStore } from "./consenting.js";

describe("requests that many share", () => {
  let server: TestAuthorizationServer;
  beforeAll(async () => {
    server = await startAuthorizationServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  let stateStore: OAuthStateStore;
  let tokenStore: SharedTokenStore;
  beforeEach(() => {
    stateStore = new MemoryStateStore();
    tokenStore = new SharedTokenStore();
    server.asked.length = 0;
  });
  const another = (): OAuthManager => managerOf(server, { stateStore, tokenStore });
  const answerFor = async (user: string, manager: OAuthManager = another()): Promise<URL> =>
    consent((await ask(manager, user)).auth_url, { login: `${user}@example` });

  test("an answer may arrive in another process than that which asked", async () => {
    const callback = await answerFor("ada");
    const whose = { user_id: "ada", tenant_id: null, trace_id: "trace of ada" };
    expect(await another().handleCallback(callback, { user: "ada" })).toEqual(whose);
    expect(await server.owner((await another().getToken("ada", "files")) ?? "")).toBe("ada@example");
  });

  test("of many processes that are given the same answer one takes it", async () => {
    const callback = await answerFor("ada");
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => another().handleCallback(callback)));
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(server.asked).toHaveLength(1);
    await expect(another().handleCallback(callback)).rejects.toMatchObject({ code: "E_TOOL_AUTH" });
  });

  test("another's answer is refused there as well, and a provider that is another there", async () => {
    const misled = await answerFor("eve");
    await expect(another().handleCallback(misled, { user: "ada" })).rejects.toMatchObject({ user_id: "eve" });
    const elsewhere = managerOf(server, { stateStore, tokenStore }, { issuer: "https://elsewhere.example" });
    await expect(elsewhere.handleCallback(await answerFor("ada"))).rejects.toThrow("replaced");
    const without = new OAuthManager({ providers: { mail: providerAt(server) }, stateStore, tokenStore });
    await expect(without.handleCallback(await answerFor("ada"))).rejects.toMatchObject({ code: "E_TOOL_CONFIG" });
    expect(server.asked).toEqual([]);
  });

  describe("who forgets in another process", () => {
    test("no longer waits for an answer, and is said to be whose it was; others do", async () => {
      const [ada, eve] = [await answerFor("ada"), await answerFor("eve")];
      await another().forget("ada", "files");
      await expect(another().handleCallback(ada)).rejects.toMatchObject({ code: "E_TOOL_AUTH", user_id: "ada" });
      expect(server.asked).toEqual([]);
      await another().handleCallback(eve);
      await another().handleCallback(await answerFor("ada"));
      expect(await another().getToken("ada", "files")).not.toBeNull();
    });

    test("while the provider is asked for the token, does not get it", async () => {
      const callback = await answerFor("ada");
      const reached = new Promise<() => void>((resolve) => {
        server.instead.push((response) => {
          response.writeHead(200, { "content-type": "application/json" });
          resolve(() => void response.end('{"access_token":"late","token_type":"bearer"}'));
        });
      });
      const answered = another().handleCallback(callback);
      const release = await reached;
      await another().forget("ada", "files");
      release();
      await expect(answered).rejects.toMatchObject({ code: "E_TOOL_AUTH", user_id: "ada" });
      expect(await another().getToken("ada", "files")).toBeNull();
    });
  });

  /** A store that changes what comes back. */
  function changing(change: (payload: Record<string, unknown>) => unknown): OAuthStateStore {
    const store = new MemoryStateStore();
    return {
      saveOAuthState: (state, payload, seconds) => store.saveOAuthState(state, payload, seconds),
      loadOAuthState: (state) => store.loadOAuthState(state),
      takeOAuthState: async (state) => change((await store.takeOAuthState(state)) as Record<string, unknown>),
    };
  }

  test.each<[string, (payload: Record<string, unknown>) => unknown]>([
    ["a text", () => "hush"],
    ["nothing at all", () => undefined],
    ["a list", (payload) => [payload]],
    ["another state's", (payload) => ({ ...payload, state: "x".repeat(43) })],
    ["nobody's", (payload) => ({ ...payload, owner: { tenant_id: null, user_id: "" } })],
    ["without an owner", ({ owner: _, ...rest }) => rest],
    ["of a tenant that is a number", (payload) => ({ ...payload, owner: { tenant_id: 7, user_id: "ada" } })],
    ["of a trace that is an object", (payload) => ({ ...payload, trace_id: {} })],
    ["for no provider", (payload) => ({ ...payload, provider: null })],
    ["of nobody's client", (payload) => ({ ...payload, identity: undefined })],
    ["without a verifier", ({ verifier: _, ...rest }) => rest],
    ["of a verifier that is none", (payload) => ({ ...payload, verifier: "hush" })],
    ["kept forever", (payload) => ({ ...payload, until: "forever" })],
    ["of no generation", ({ generation: _, ...rest }) => rest],
  ])("what comes back %s is no request", async (_, change) => {
    stateStore = changing(change);
    const error: unknown = await another()
      .handleCallback(await answerFor("ada"))
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "E_TOOL_AUTH", message: expect.stringContaining("unknown, has expired") });
    expect(server.asked).toEqual([]);
  });

  describe("a store that fails", () => {
    const failure = new SluiceError("E_STORE_WRITE", "No.");
    const fails = (): Promise<never> => Promise.reject(failure);

    test.each(["saveOAuthState", "loadOAuthState"] as const)(
      "at %s ends the request with its error",
      async (method) => {
        stateStore[method] = fails;
        await expect(ask(another(), "ada")).rejects.toBe(failure);
      },
    );

    test.each(["loadOAuthState", "takeOAuthState"] as const)(
      "at %s ends the answer, and nothing is stored",
      async (method) => {
        const callback = await answerFor("ada");
        stateStore[method] = fails;
        await expect(another().handleCallback(callback)).rejects.toBe(failure);
        expect(await another().getToken("ada", "files")).toBeNull();
        expect(server.asked).toEqual([]);
      },
    );

    test.each(["forgotten:", ""])(
      "at what is kept by %j leaves the request: the same answer may come again",
      async (name) => {
        const callback = await answerFor("ada");
        const load = stateStore.loadOAuthState.bind(stateStore);
        stateStore.loadOAuthState = (state) => (state.startsWith(name) ? fails() : load(state));
        const whose: unknown = await another()
          .handleCallback(callback)
          .catch((error: unknown) => error);
        expect(whose).toBe(failure);
        expect(whose).not.toHaveProperty("user_id");
        stateStore.loadOAuthState = load;
        expect(await another().handleCallback(callback)).toMatchObject({ user_id: "ada" });
        expect(await another().getToken("ada", "files")).not.toBeNull();
      },
    );

    test("after the provider was asked costs the answer: nothing is stored, and it is said whose it was", async () => {
      const callback = await answerFor("ada");
      const load = stateStore.loadOAuthState.bind(stateStore);
      const asked = server.asked.length;
      stateStore.loadOAuthState = (state) => (server.asked.length > asked ? fails() : load(state));
      const answering = another().handleCallback(callback);
      await expect(answering).rejects.toMatchObject({ code: "E_STORE_WRITE", user_id: "ada" });
      stateStore.loadOAuthState = load;
      expect(await another().getToken("ada", "files")).toBeNull();
      await expect(another().handleCallback(callback)).rejects.toMatchObject({ code: "E_TOOL_AUTH" });
    });

    test("for tokens, when a user forgets, leaves the token, and what was asked before is forgotten", async () => {
      await another().handleCallback(await answerFor("ada"));
      const callback = await answerFor("ada");
      tokenStore.delete = fails;
      await expect(another().forget("ada", "files")).rejects.toBe(failure);
      expect(await another().getToken("ada", "files")).not.toBeNull();
      await expect(another().handleCallback(callback)).rejects.toMatchObject({ code: "E_TOOL_AUTH", user_id: "ada" });
    });

    test("when a user forgets leaves them what they have", async () => {
      await another().handleCallback(await answerFor("ada"));
      stateStore.saveOAuthState = fails;
      await expect(another().forget("ada", "files")).rejects.toBe(failure);
      expect(await another().getToken("ada", "files")).not.toBeNull();
    });
  });

  test("a store that never answers is not waited for when the caller gives up", async () => {
    const never = new Promise<never>(() => undefined);
    const control = new AbortController();
    const reason = new Error("enough");
    const reached = new Promise<void>((resolve) => {
      const silent = (): Promise<never> => {
        resolve();
        return never;
      };
      stateStore = { saveOAuthState: silent, loadOAuthState: silent, takeOAuthState: silent };
    });
    const options = { signal: control.signal };
    const asking = another().getAuthRequest({ provider: "files", user_id: "ada" }, options);
    const answering = another().handleCallback({ state: "x".repeat(43), code: "c" }, options);
    await reached;
    control.abort(reason);
    for (const work of [asking, answering]) await expect(work).rejects.toBe(reason);
  });

  test("a store that never answers once is in nobody's way later", async () => {
    const load = stateStore.loadOAuthState.bind(stateStore);
    const control = new AbortController();
    const reached = new Promise<void>((resolve) => {
      stateStore.loadOAuthState = () => {
        resolve();
        return new Promise<never>(() => undefined);
      };
    });
    const manager = another();
    const asking = manager.getAuthRequest({ provider: "files", user_id: "ada" }, { signal: control.signal });
    await reached;
    stateStore.loadOAuthState = load;
    const next = ask(manager, "ada");
    control.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    await manager.handleCallback(await consent((await next).auth_url, { login: "ada@example" }));
  });

  test("a store of the host's own needs its three methods, and nothing more", async () => {
    const rows = new Map<string, string>();
    stateStore = {
      saveOAuthState: async (state, payload) => void rows.set(state, JSON.stringify(payload)),
      loadOAuthState: async (state) => JSON.parse(rows.get(state) ?? "null") as unknown,
      takeOAuthState: async (state) => {
        const row = rows.get(state);
        rows.delete(state);
        return JSON.parse(row ?? "null") as unknown;
      },
    };
    await another().handleCallback(await answerFor("ada"));
    expect(await server.owner((await another().getToken("ada", "files")) ?? "")).toBe("ada@example");
    for (const store of [{ ...stateStore, takeOAuthState: undefined }, 7]) {
      const made = (): OAuthManager => managerOf(server, { stateStore: store as unknown as OAuthStateStore });
      expect(made).toThrow(expect.objectContaining({ code: "E_TOOL_CONFIG" }));
    }
  });

  test("whose trace it is, is a text", async () => {
    const question = { provider: "files", user_id: "ada", trace_id: 7 as unknown as string };
    await expect(another().getAuthRequest(question)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
  });
});

describe("requests under way", () => {
  function requestOf(user_id: string, provider = "files"): PendingRequest {
    const owner = { tenant_id: null, user_id };
    return { owner, trace_id: null, provider, identity: "i", verifier: generateRandomCodeVerifier() };
  }

  function pendingAt(clock: Clock): { readonly pending: PendingRequests; readonly store: OAuthStateStore } {
    const store = new MemoryOAuthStates(clock);
    return { pending: new PendingRequests(store, clock), store };
  }

  /** Notes the keys that are saved by; `save` does so without a note. */
  function noted(store: OAuthStateStore): {
    readonly keys: readonly string[];
    readonly save: OAuthStateStore["saveOAuthState"];
  } {
    const keys: string[] = [];
    const save = store.saveOAuthState.bind(store);
    store.saveOAuthState = (state, payload, seconds) => {
      keys.push(state);
      return save(state, payload, seconds);
    };
    return { keys, save };
  }

  /** Adds a request; gives its state. */
  async function added(pending: PendingRequests, request: PendingRequest): Promise<string> {
    const state = generateRandomState();
    await pending.add(state, request);
    return state;
  }

  async function taken(pending: PendingRequests, state: string): Promise<TakenRequest> {
    const request = await pending.take(state);
    if (request === null) throw new Error("There is no such request.");
    return request;
  }

  test("a request is given out once, within ten minutes", async () => {
    let now = 0;
    const { pending } = pendingAt(() => now);
    const [first, second] = [requestOf("ada"), requestOf("ada")];
    const [a, b] = [await added(pending, first), await added(pending, second)];
    now = 599_999;
    expect(await pending.take(a)).toMatchObject(first);
    expect(await pending.take(a)).toBeNull();
    now = 600_000;
    expect(await pending.take(b)).toBeNull();
  });

  test("a store that keeps it for longer makes no difference", async () => {
    let now = 0;
    const store = new MemoryOAuthStates(() => 0);
    const pending = new PendingRequests(store, () => now);
    const state = await added(pending, requestOf("ada"));
    now = 600_000;
    expect(await pending.take(state)).toBeNull();
  });

  test("one user who asks without end loses the oldest requests, and nobody else's", async () => {
    const { pending } = pendingAt(() => 0);
    const eve = await added(pending, requestOf("eve"));
    // Some at once: none may be missed.
    const ada = await Promise.all(Array.from({ length: 17 }, () => added(pending, requestOf("ada"))));
    expect(await pending.take(ada[0] ?? "")).toBeNull();
    expect(await pending.take(ada[1] ?? "")).not.toBeNull();
    expect(await pending.take(ada[16] ?? "")).not.toBeNull();
    expect(await pending.take(eve)).not.toBeNull();
  });

  test("many users at once are bounded too", async () => {
    const { pending } = pendingAt(() => 0);
    const states: string[] = [];
    for (let at = 0; at < 10_001; at += 1) states.push(await added(pending, requestOf(`user ${at}`)));
    expect(await pending.take(states[0] ?? "")).toBeNull();
    expect(await pending.take(states[1] ?? "")).not.toBeNull();
    expect(await pending.take(states[10_000] ?? "")).not.toBeNull();
  });

  test("what a user forgets is forgotten for that provider alone, and what is asked after it is not", async () => {
    const { pending } = pendingAt(() => 0);
    const requests = [requestOf("ada"), requestOf("ada", "mail"), requestOf("eve")];
    const states = await Promise.all(requests.map((request) => added(pending, request)));
    const isForgotten = async (state: string): Promise<boolean> => pending.isForgotten(await taken(pending, state));
    await pending.forget({ tenant_id: null, user_id: "ada" }, "files");
    const later = await added(pending, requestOf("ada"));
    expect(await Promise.all([...states, later].map(isForgotten))).toEqual([true, false, false, false]);
    const again = await added(pending, requestOf("ada"));
    await pending.forget({ tenant_id: null, user_id: "ada" }, "files");
    expect(await isForgotten(again)).toBe(true);
  });

  test("it is known that a user forgot for longer than a request waits", async () => {
    let now = 0;
    const { pending } = pendingAt(() => now);
    const state = await added(pending, requestOf("ada"));
    await pending.forget({ tenant_id: null, user_id: "ada" }, "files");
    now = 599_999;
    expect(await pending.isForgotten(await taken(pending, state))).toBe(true);
  });

  test("where what is known of that is damaged, nothing that was asked before counts, and what is asked then does", async () => {
    const { store, pending } = pendingAt(() => 0);
    const { keys, save } = noted(store);
    const before = await added(pending, requestOf("ada"));
    await pending.forget({ tenant_id: null, user_id: "ada" }, "files");
    const between = await added(pending, requestOf("ada"));
    for (const key of keys.filter((name) => /^(asked|forgotten):/.test(name))) await save(key, { states: [7] }, 600);
    const after = await added(pending, requestOf("ada"));
    const forgotten = [before, between, after].map(async (state) => pending.isForgotten(await taken(pending, state)));
    expect(await Promise.all(forgotten)).toEqual([true, true, false]);
  });

  test("an answer cannot take away what is noted beside the requests", async () => {
    const { store, pending } = pendingAt(() => 0);
    const { keys } = noted(store);
    await added(pending, requestOf("ada"));
    await pending.forget({ tenant_id: null, user_id: "ada" }, "files");
    const notes = keys.filter((key) => key.includes(":"));
    expect(notes).toHaveLength(2);
    for (const note of notes) {
      expect(await pending.take(note)).toBeNull();
      expect(await store.loadOAuthState(note)).not.toBeNull();
    }
  });

  test("one that is looked at stays, and is as it will be taken", async () => {
    const { pending } = pendingAt(() => 0);
    const state = await added(pending, requestOf("ada"));
    const seen = await pending.look(state);
    expect(seen).toMatchObject({ provider: "files" });
    expect(await pending.take(state)).toEqual(seen);
    expect(await pending.look(state)).toBeNull();
  });

  test("a store that says nothing holds up one user's turn until the one who waits gives up, at any of its calls", async () => {
    for (const silent of ["loadOAuthState", "saveOAuthState", "takeOAuthState"] as const) {
      const { store, pending } = pendingAt(() => 0);
      for (let at = 0; at < 16; at += 1) await added(pending, requestOf("ada"));
      const real = store[silent];
      const control = new AbortController();
      const reached = new Promise<void>((resolve) => {
        store[silent] = () => {
          resolve();
          return new Promise<never>(() => undefined);
        };
      });
      const first = pending.add(generateRandomState(), requestOf("ada"), control.signal);
      await reached;
      store[silent] = real as () => Promise<never>;
      const next = added(pending, requestOf("ada"));
      control.abort(new Error("enough"));
      await expect(first).rejects.toThrow("enough");
      expect(await pending.take(await next)).not.toBeNull();
    }
  });

  test("no two users share a key", () => {
    const name = fc.oneof(
      fc.constantFrom("a", "[", '[null,"a"]', '["t","a"]', '["t","a"]]'),
      fc.string({ minLength: 1 }),
    );
    const tenant = fc.option(fc.oneof(fc.constantFrom("t", "", "[", "null"), fc.string()));
    const owner = fc.record({ tenant_id: tenant, user_id: name }).map((user) => tokenOwner(user));
    fc.assert(
      fc.property(owner, owner, (one, two) => {
        const equal = one.tenant_id === two.tenant_id && one.user_id === two.user_id;
        expect(ownerKey(one) === ownerKey(two)).toBe(equal);
      }),
      { numRuns: 1000 },
    );
  });
});
