import { inspect } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { memoryState, SluiceServer } from "../../../../web/src/serve.js";
import { redisState, type RedisStateOptions, type ServeState } from "../../../../web/src/serve-redis.js";
import { sessionChannel } from "../../../../web/src/server/sessions/announcer.js";
import { first, numbered } from "../sessions/listening.js";
import { another, coded, SECRET, useRedis } from "./served.js";

const redis = useRedis();
const HERE = "http://127.0.0.1:8080";

function opened(more: Partial<RedisStateOptions> = {}): ServeState {
  const state = redisState({ url: redis.url, secret: SECRET, ...more });
  onTestFinished(() => state[Symbol.asyncDispose]());
  return state;
}

const SESSION = { id: "s", identity: { user_id: "ada" }, begun_at: 0 };

/** Something of each kind. */
async function fill(state: ServeState): Promise<void> {
  await state.runs.savePlannerState("token", { run: 1 });
  const token = { access_token: "hush", refresh_token: null, expires_at: null, obtained_at: 0, issued_by: "x" };
  await state.tokens.store("ada", "files", token);
  await state.sessions.begin({ ...SESSION, expires_at: Date.now() + 100_000 });
  await state.sessions.addTrace("s", "t");
  await state.events.append("channel", numbered(1));
  await state.rates.take("ada", 1, 60);
}

describe("the state", () => {
  test("is shared by all who have the server, prefix and secret, and by nobody else", async () => {
    await redis.command("FLUSHALL");
    const [one, same] = [opened(), opened()];
    expect([one.isShared, memoryState().isShared]).toEqual([true, false]);
    await fill(one);
    expect(await same.runs.loadPlannerState("token")).toEqual({ run: 1 });
    expect(await same.tokens.get("ada", "files")).toMatchObject({ access_token: "hush" });
    expect(await same.sessions.traces("s")).toEqual(["t"]);
    expect(await first(same.events, "channel", { count: 1 })).toMatchObject([{ event: numbered(1) }]);
    expect(await same.rates.take("ada", 1, 60)).toMatchObject({ ok: false });
    const other = opened({ prefix: "other" });
    expect(await other.runs.loadPlannerState("token")).toBeNull();
    expect(await other.tokens.get("ada", "files")).toBeNull();
    expect(await other.sessions.find("s")).toBeNull();
    expect(await other.events.has("channel")).toBe(false);
    expect(await other.rates.take("ada", 1, 60)).toEqual({ ok: true });
  });

  test("is below one prefix, in one slot, with an end for every key, and shows nobody", async () => {
    await redis.command("FLUSHALL");
    await fill(opened({ prefix: "mine" }));
    for (const key of await redis.keys()) {
      expect(key).toMatch(/^\{mine\}:1:/);
      expect(key).not.toMatch(/ada|files|channel$|token$/);
      expect(await redis.command("PTTL", key)).toBeGreaterThan(0);
    }
  });

  test("has two connections, and none when it is closed; what is asked then says so", async () => {
    const server = await another();
    const clients = async (): Promise<number> =>
      String(await server.command("CLIENT", "LIST"))
        .trim()
        .split("\n").length - 1;
    const state = opened({ url: server.url });
    expect(await clients()).toBe(0);
    await fill(state);
    await first(state.events, "channel", { count: 1 });
    await vi.waitFor(async () => expect(await clients()).toBe(2), { timeout: 20_000 });
    await state[Symbol.asyncDispose]();
    await vi.waitFor(async () => expect(await clients()).toBe(0), { timeout: 20_000 });
    await expect(state.sessions.find("s")).rejects.toEqual(coded("E_STORE_CLOSED"));
    await expect(state.runs.loadPlannerState("token")).rejects.toEqual(coded("E_STORE_CLOSED"));
    await expect(state.events.append("channel", numbered(1))).rejects.toEqual(coded("E_STORE_CLOSED"));
    await state[Symbol.asyncDispose]();
  });

  test.each([
    [{}, "url"],
    [{ url: "redis://:hush@a.test" }, "secret"],
    [{ url: "http://:hush@a.test", secret: SECRET }, "url"],
    [{ url: "redis://:hush@a.test", secret: "hush" }, "secret"],
    [{ url: "redis://:hush@a.test", secret: SECRET, prefix: "{" }, "prefix"],
    [{ url: "redis://:hush@a.test", secret: SECRET, timeoutSeconds: 0 }, "timeoutSeconds"],
    [{ url: "redis://:hush@a.test", secret: SECRET, prefx: "a" }, "prefx"],
  ])("is not made of %j", (options, path) => {
    let failure: unknown;
    try {
      failure = redisState(options as RedisStateOptions);
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({ code: "E_INVALID_ARGUMENT", path });
    expect(inspect(failure, { depth: 9, showHidden: true }).split("\n    at")[0]).not.toContain("hush");
  });

  test("says nothing of the url, the secret or the password where the server refuses", async () => {
    const server = await another("--requirepass", "open sesame");
    const state = opened({ url: server.url.replace("//", "//:swordfish@") });
    const failures = await Promise.all([
      state.sessions.find("s").catch((error: unknown) => error),
      state.events.has("channel").catch((error: unknown) => error),
      state.tokens.get("ada", "files").catch((error: unknown) => error),
    ]);
    for (const failure of failures) expect(failure).toEqual(coded("E_STORE_DENIED"));
    const shown = inspect([...failures, state], { depth: 9, showHidden: true });
    expect(shown).not.toMatch(/swordfish|more than thirty-two/);
  });
});

test("what one server begins another serves and ends, over the same Redis", async () => {
  const store = new MemoryArtifactStore();
  const states = [opened(), opened()] as const;
  const servers = states.map((state) => new SluiceServer({ store, state, secret: SECRET }));
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))));
  const [one, other] = servers as [SluiceServer, SluiceServer];
  const json = { "content-type": "application/json" };
  const begun = await one.fetch(
    new Request(`${HERE}/sessions`, { method: "POST", body: '{"token":true}', headers: json }),
  );
  const { id, token } = (await begun.json()) as { readonly id: string; readonly token: string };
  const headers = { authorization: `Bearer ${token}` };
  const ask = (server: SluiceServer, method: string, path: string): Promise<Response> =>
    server.fetch(new Request(`${HERE}/${path}`, { method, headers }));
  expect((await ask(other, "GET", `sessions/${id}`)).status).toBe(200);
  await states[0].events.append(sessionChannel(id), { kind: "files_changed" });
  const { body } = await ask(other, "GET", "events");
  const pieces = (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  const told: (string | undefined)[] = [];
  while (!told.join("").includes("files_changed")) told.push((await pieces.next()).value);
  expect((await ask(one, "DELETE", `sessions/${id}`)).status).toBe(200);
  // The stream ends with the session, in another process too.
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) told.push(next.value);
  expect(told.join("")).toContain('{"kind":"session_ended"}');
  expect((await ask(other, "GET", `sessions/${id}`)).status).toBe(401);
});
