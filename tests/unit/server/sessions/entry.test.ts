import { beforeEach, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { byHeaders, Visitor } from "../visitor.js";

// Which session a request is in, whatever cookies and tokens it brings.

const HERE = "http://127.0.0.1:8080";
const NAME = "sluice_session_8080";

let server: SluiceServer;
let [ada, eve]: readonly Visitor[] = [];
beforeEach(async () => {
  server = new SluiceServer({ store: new MemoryArtifactStore() });
  [ada, eve] = [await Visitor.of(server), await Visitor.of(server)];
  return () => server[Symbol.asyncDispose]();
});

/** The session that a request with these headers is in; null for none. */
async function entered(headers: Readonly<Record<string, string>>): Promise<string | null> {
  const answer = await server.fetch(new Request(`${HERE}/sessions/current`, { headers }));
  return answer.status === 200 ? ((await answer.json()) as { id: string }).id : null;
}

const cookies = (...values: readonly (string | undefined)[]): { readonly cookie: string } => ({
  cookie: values.map((value) => `${NAME}=${value}`).join("; "),
});

test("a cookie is found among others, and junk of its name hides it as little as it stands for it", async () => {
  expect(await entered({ cookie: `a=1;${NAME}=${ada?.token} ;b=2` })).toBe(ada?.id);
  expect(await entered(cookies("junk", ada?.token, ""))).toBe(ada?.id);
  expect(await entered(cookies(ada?.token, "a.b.c"))).toBe(ada?.id);
  expect(await entered(cookies(ada?.token, ada?.token))).toBe(ada?.id);
  expect(await entered({ cookie: `x${NAME}=${ada?.token}; ${NAME}x=${ada?.token}; ${NAME}` })).toBeNull();
});

test("of the cookies of two sessions none counts: one of them was set by somebody else", async () => {
  expect(await entered(cookies(ada?.token, eve?.token))).toBeNull();
  expect(await entered(cookies(eve?.token, ada?.token))).toBeNull();
});

test("a bearer goes before all cookies, also one that opens nothing", async () => {
  expect(await entered({ ...cookies(eve?.token), authorization: `Bearer ${ada?.token}` })).toBe(ada?.id);
  expect(await entered({ ...cookies(eve?.token), authorization: "Bearer junk" })).toBeNull();
});

test("no more cookies are looked at than a browser could have by accident", async () => {
  const junk = Array.from({ length: 8 }, (_, at) => `${at}`);
  expect(await entered(cookies(...junk.slice(1), ada?.token))).toBe(ada?.id);
  expect(await entered(cookies(...junk, ada?.token))).toBeNull();
});

test("whoever a proxy signs in next in a browser is not in the session of who was there before", async () => {
  await using behind = new SluiceServer({ store: new MemoryArtifactStore(), authenticate: byHeaders });
  const bob = await Visitor.of(behind, { user: "bob", tenant: "acme" });
  const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await behind.fetch(new Request(`${HERE}/sessions/current`, { headers }))).status;
  const own = cookies(bob.token);
  expect(await status({ ...own, "x-user": "bob", "x-tenant": "acme" })).toBe(200);
  expect(await status({ ...own, "x-user": "eve", "x-tenant": "acme" })).toBe(401);
  expect(await status({ ...own, "x-user": "bob" })).toBe(401);
  // Where nobody says who it is, as behind a token that was sent once, the session says it.
  expect(await status(own)).toBe(200);
});

test("a host that cannot tell who somebody is lets nobody in by a cookie", async () => {
  let fails = false;
  await using behind = new SluiceServer({
    store: new MemoryArtifactStore(),
    authenticate: (request) => {
      if (fails) throw new Error("no directory");
      return byHeaders(request);
    },
  });
  const bob = await Visitor.of(behind, { user: "bob" });
  fails = true;
  const asked = new Request(`${HERE}/artifacts`, { headers: { ...cookies(bob.token), "x-user": "bob" } });
  expect((await behind.fetch(asked)).status).toBe(503);
});
