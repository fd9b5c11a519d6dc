import { describe, expect, test, vi } from "vitest";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import { MemoryArtifactStore, type StoredArtifact } from "../../../../web/src/index.js";
import { memoryState, SluiceServer } from "../../../../web/src/serve.js";
import { listed } from "../../artifacts/bytes.js";
import { byHeaders, refused as refusal, Visitor } from "../visitor.js";

describe("health", () => {
  /** `GET /ready`, and what is refused while a part is away. */

  const HERE = "http://127.0.0.1:8080";

  /** A store that answers, fails or hangs, as it is told. */
  class Moody extends BareMemoryStore {
    mood: "answers" | "fails" | "hangs" = "answers";
    looks = 0;
    readonly #waiting: (() => void)[] = [];

    override async stat(...args: Parameters<BareMemoryStore["stat"]>): ReturnType<BareMemoryStore["stat"]> {
      this.looks += 1;
      if (this.mood === "fails") throw Object.assign(new Error("10.0.0.7 is gone"), { code: "ECONNREFUSED" });
      if (this.mood === "hangs") await new Promise<void>((resolve) => this.#waiting.push(resolve));
      return super.stat(...args);
    }

    answer(): void {
      this.mood = "answers";
      for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }

  async function ready(server: SluiceServer): Promise<readonly [number, unknown]> {
    const response = await server.fetch(new Request(`${HERE}/ready`, { headers: { host: "127.0.0.1:8080" } }));
    return [response.status, await response.json()];
  }

  const OK = [200, { status: "ok", state: "ok", store: "ok" }];

  test("a server whose parts answer is ready, and says which parts it has", async () => {
    await using server = new SluiceServer({ store: new MemoryArtifactStore() });
    expect(await ready(server)).toEqual(OK);
    await using withFiles = new SluiceServer({
      store: new MemoryArtifactStore(),
      filesStore: new MemoryArtifactStore(),
    });
    expect(await ready(withFiles)).toEqual([200, { status: "ok", state: "ok", store: "ok", files: "ok" }]);
  });

  test.each(["fails", "hangs"] as const)("a store that %s: not ready, without saying where it is", async (mood) => {
    const store = new Moody();
    await using server = new SluiceServer({ store });
    store.mood = mood;
    expect(await ready(server)).toEqual([503, { status: "away", state: "ok", store: "away" }]);
    store.answer();
    await vi.waitFor(async () => expect(await ready(server)).toEqual(OK), { timeout: 4000 });
  });

  test("while a store hangs requests that need it fail at once, others go on, and the first ones after it is back are answered", async () => {
    const store = new Moody();
    await using server = new SluiceServer({ store });
    const ada = await Visitor.of(server);
    store.mood = "hangs";
    await ready(server);
    // Each would take as long as a store is waited for.
    for (let asked = 0; asked < 50; asked += 1) {
      const refused = await ada.ask("/artifacts/web_0123456789ab");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
      expect(await refused.text()).toContain("The store of artifacts cannot be reached: try again in a moment.");
    }
    expect((await ada.ask("/sessions/current")).status).toBe(200);
    store.answer();
    await vi.waitFor(async () => expect((await ada.ask("/artifacts/web_0123456789ab")).status).toBe(404), {
      timeout: 20_000,
    });
  });

  test("a hanging store is looked at by one at a time, however many ask", async () => {
    const store = new Moody();
    await using server = new SluiceServer({ store });
    store.mood = "hangs";
    store.looks = 0;
    await Promise.all(Array.from({ length: 50 }, () => ready(server)));
    await Promise.all(Array.from({ length: 50 }, () => ready(server)));
    expect(store.looks).toBe(1);
  });

  test("state that hangs keeps nobody waiting, not even the first", async () => {
    const state = memoryState();
    const find = state.sessions.find.bind(state.sessions);
    let isSilent = false;
    state.sessions.find = (id) => (isSilent ? new Promise(() => undefined) : find(id));
    await using server = new SluiceServer({ store: new MemoryArtifactStore(), state });
    const ada = await Visitor.of(server);
    isSilent = true;
    const refused = await ada.ask("/sessions/current");
    expect([refused.status, refused.headers.get("retry-after"), await refused.text()]).toEqual([
      503,
      "2",
      expect.stringContaining("The server's state cannot be reached"),
    ]);
    expect(await ready(server)).toEqual([503, { status: "away", state: "away", store: "ok" }]);
  });

  test("an idle server asks its stores nothing", async () => {
    const store = new Moody();
    await using server = new SluiceServer({ store });
    await Visitor.of(server);
    store.looks = 0;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(store.looks).toBe(0);
  });
});

/** Sessions: begun, shown, ended. */
describe("sessions", () => {
  const HERE = "http://127.0.0.1:8080";
  const JSON_TYPE = { "content-type": "application/json" };

  const post = (body: BodyInit, headers: Record<string, string> = JSON_TYPE): Request =>
    new Request(`${HERE}/sessions`, { method: "POST", body, headers });

  test("with a cookie no token is told, and with a token no cookie is set", async () => {
    await using server = new SluiceServer({ store: new MemoryArtifactStore() });
    const cookie = await server.fetch(post("{}"));
    expect(cookie.headers.getSetCookie()).toHaveLength(1);
    expect(Object.keys((await cookie.json()) as object)).toEqual(["id", "begun_at", "expires_at"]);
    const token = await server.fetch(post('{"token":true}'));
    expect(token.headers.getSetCookie()).toEqual([]);
    expect(await token.json()).toHaveProperty("token");
  });

  test("only the own session is shown and ended", async () => {
    await using server = new SluiceServer({ store: new MemoryArtifactStore() });
    const [ada, bob] = [await Visitor.of(server), await Visitor.of(server)];
    expect(await ada.json(`/sessions/${ada.id}`)).toEqual(await ada.json("/sessions/current"));
    for (const method of ["GET", "DELETE"]) {
      expect(await refusal(await ada.ask(`/sessions/${bob.id}`, { method }))).toEqual([404, "E_NOT_FOUND"]);
    }
    expect((await bob.ask("/sessions/current")).status).toBe(200);
    await ada.end();
    expect(await refusal(await ada.ask("/sessions/current"))).toEqual([401, "E_SESSION"]);
  });

  test.each([
    ["no JSON", "x", JSON_TYPE, 400],
    ["another member", '{"user":"eve"}', JSON_TYPE, 400],
    ["another type of a member", '{"token":1}', JSON_TYPE, 400],
    ["a list", "[]", JSON_TYPE, 400],
    ["what forms can send", "{}", { "content-type": "text/plain" }, 415],
    ["too much", `{"x":"${"x".repeat(1_100_000)}"}`, JSON_TYPE, 413],
    ["no UTF-8", Buffer.from("\u00ff", "latin1"), JSON_TYPE, 400],
  ])("a body with %s begins none", async (_, body, headers, status) => {
    await using server = new SluiceServer({ store: new MemoryArtifactStore() });
    expect((await server.fetch(post(body, headers))).status).toBe(status);
  });

  test.each([
    ["fails", () => Promise.reject(new Error("the directory is down"))],
    [
      "throws",
      () => {
        throw new Error("the directory is down");
      },
    ],
    ["gives nobody's name", () => ({ user_id: "" })],
    ["gives no name", () => ({}) as { user_id: string }],
    ["gives a name without end", () => ({ user_id: "x".repeat(1025) })],
  ])("where authentication %s, nobody is let in, and the host is told", async (_, authenticate) => {
    const told: unknown[] = [];
    const store = new MemoryArtifactStore();
    await using server = new SluiceServer({ store, authenticate, onError: (error) => void told.push(error) });
    const response = await server.fetch(post("{}"));
    const text = await response.text();
    expect([response.status, told.length]).toEqual([503, 1]);
    expect(text).not.toContain("directory");
  });

  test("whom the host does not know has no session", async () => {
    await using server = new SluiceServer({ store: new MemoryArtifactStore(), authenticate: byHeaders });
    expect(await refusal(await server.fetch(post("{}")))).toEqual([401, "E_SESSION"]);
  });

  test("sessions of one user in a minute are counted for that user alone", async () => {
    const store = new MemoryArtifactStore();
    await using server = new SluiceServer({ store, authenticate: byHeaders, limits: { sessionsPerMinute: 2 } });
    const begin = async (user: string): Promise<number> =>
      (await server.fetch(post("{}", { ...JSON_TYPE, "x-user": user }))).status;
    expect([await begin("ada"), await begin("ada"), await begin("ada"), await begin("bob")]).toEqual([
      201, 201, 429, 201,
    ]);
  });

  test("what expires while the session ends is gone, and no reason to fail", async () => {
    let now = 1_000_000;
    class Late extends BareMemoryStore {
      override async *list(scope?: object): AsyncIterable<StoredArtifact> {
        for await (const artifact of super.list(scope)) {
          yield artifact;
          if (scope !== undefined) now += 10_000;
        }
      }
    }
    const inner = new Late({ clock: () => now });
    const store = new RetainingArtifactStore(inner, {}, { clock: () => now });
    await using server = new SluiceServer({ store, retention: { ttl_seconds: 15 } });
    const ada = await Visitor.of(server);
    for (const text of ["1", "2", "3"]) await ada.upload(text);
    expect((await ada.ask("/sessions/current", { method: "DELETE" })).status).toBe(200);
    expect(await listed(inner.list())).toEqual([]);
  });

  test("one artifact that cannot be deleted keeps none of the others", async () => {
    class Stubborn extends BareMemoryStore {
      override delete(id: string, scope?: object): Promise<boolean> {
        return id.startsWith("stuck") ? Promise.reject(new Error("EIO")) : super.delete(id, scope);
      }
    }
    const store = new Stubborn();
    await using server = new SluiceServer({ store });
    const ada = await Visitor.of(server);
    for (const [text, namespace] of [
      ["1", "a"],
      ["2", "stuck"],
      ["3", "b"],
    ])
      await ada.upload(text ?? "", `?namespace=${namespace}`);
    await ada.upload("4", "?trace=t");
    expect(await refusal(await ada.ask("/sessions/current", { method: "DELETE" }))).toEqual([503, "E_STORE_WRITE"]);
    expect((await listed(store.list())).map(({ namespace }) => namespace)).toEqual(["stuck"]);
    expect((await ada.ask("/sessions/current")).status).toBe(401);
  });
});
