/** Sessions: begun, shown, ended. */
import { expect, test } from "vitest";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import { MemoryArtifactStore, type StoredArtifact } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { listed } from "../../artifacts/bytes.js";
import { byHeaders, refused, Visitor } from "../visitor.js";

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
    expect(await refused(await ada.ask(`/sessions/${bob.id}`, { method }))).toEqual([404, "E_NOT_FOUND"]);
  }
  expect((await bob.ask("/sessions/current")).status).toBe(200);
  await ada.end();
  expect(await refused(await ada.ask("/sessions/current"))).toEqual([401, "E_SESSION"]);
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
  expect(await refused(await server.fetch(post("{}")))).toEqual([401, "E_SESSION"]);
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
  expect(await refused(await ada.ask("/sessions/current", { method: "DELETE" }))).toEqual([503, "E_STORE_WRITE"]);
  expect((await listed(store.list())).map(({ namespace }) => namespace)).toEqual(["stuck"]);
  expect((await ada.ask("/sessions/current")).status).toBe(401);
});
