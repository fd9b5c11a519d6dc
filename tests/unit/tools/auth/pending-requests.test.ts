import * as fc from "fast-check";
import { generateRandomCodeVerifier, generateRandomState } from "oauth4webapi";
import { expect, test } from "vitest";
import type { Clock } from "../../../../web/src/artifacts/store.js";
import {
  MemoryOAuthStates,
  type OAuthStateStore,
  type PendingRequest,
  PendingRequests,
  type TakenRequest,
} from "../../../../web/src/tools/auth/pending-requests.js";
import { ownerKey, tokenOwner } from "../../../../web/src/tools/auth/token-store.js";
import { KeyedQueue } from "../../../../web/src/tools/keyed-work.js";

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

test("turns of one key never overlap, whatever fails; those of others do", async () => {
  const turns = new KeyedQueue();
  const log: string[] = [];
  const work =
    (name: string, fails = false) =>
    async (): Promise<string> => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const all = await Promise.allSettled([
    turns.take("x", work("1", true)),
    turns.take("x", work("2")),
    turns.take("y", work("3")),
  ]);
  expect(all.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(log.indexOf("2 begins")).toBeGreaterThan(log.indexOf("1 ends"));
  expect(log.indexOf("3 begins")).toBeLessThan(log.indexOf("1 ends"));
});
