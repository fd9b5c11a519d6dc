/** Users' consent, at a real authorization server, in front of an MCP server that looks at each token. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { memoryState, type SluiceServerOptions } from "../../../../web/src/serve.js";
import type { ExternalToolConfig } from "../../../../web/src/tools-node.js";
import {
  consent,
  REDIRECT,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "../../tools/auth/authorization-server.js";
import { startProtectedMcp, type ProtectedMcp } from "../../tools/auth/protected-mcp.js";
import { called, calledOnce, elsewhere, posted, served, visitor, type Serving } from "../sources/serving.js";
import { Telling, type Told } from "../sources/told.js";
import { SharedState } from "../work/mortal.js";
import { refused, type Visitor } from "../visitor.js";

let authorization: TestAuthorizationServer;
let mcp: ProtectedMcp;

beforeAll(async () => {
  authorization = await startAuthorizationServer();
});
afterAll(() => authorization[Symbol.asyncDispose]());

beforeEach(async () => {
  mcp = await startProtectedMcp(authorization);
});
afterEach(() => mcp[Symbol.asyncDispose]());

function options(more: Partial<SluiceServerOptions> = {}): Partial<SluiceServerOptions> {
  const far: ExternalToolConfig = { name: "far", transport: "mcp", connection: mcp.url, auth_type: "oauth2_user" };
  const secret = "a secret of thirty-two characters";
  return { sources: [far], oauthClient: { redirect_uri: REDIRECT }, secret, ...more };
}

interface Asked extends Told {
  readonly pause: string;
  readonly call: string;
  readonly payload: { readonly auth_url: string };
}

/** A call that waits for consent. */
async function asking(by: Visitor): Promise<{ readonly telling: Telling; readonly asked: Asked }> {
  const telling = await called(by, "far.whoami");
  return { telling, asked: (await telling.next("paused")) as Asked };
}

/** The browser comes back from the provider, in a session: a navigation that a page elsewhere caused. */
function comesBack(serving: Serving, by: Visitor | null, callback: URL, more: RequestInit = {}): Promise<Response> {
  const headers: Record<string, string> = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  if (by !== null) headers["cookie"] = `sluice_session_8080=${by.token}`;
  const at = new URL(`/oauth/callback${callback.search}`, "http://127.0.0.1:8080");
  return serving.server.fetch(new Request(at, { headers, ...more }));
}

const answerOf = (asked: Asked, login = "ada@example", refuses = false): Promise<URL> =>
  consent(asked.payload.auth_url, { login, refuses });

test("a call waits for consent, and goes on when the person comes back", async () => {
  const serving = served(options());
  const ada = await visitor(serving);
  const { telling, asked } = await asking(ada);
  expect(asked).toMatchObject({ reason: "external_event", payload: { pause_type: "oauth", provider: "far" } });
  const page = await comesBack(serving, ada, await answerOf(asked));
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
  const text = await page.text();
  expect(text).toContain("Access was given");
  expect(text).not.toMatch(/<script|ada|code=/);
  expect(await telling.next("result")).toMatchObject({ observation: '"ada@example"' });
  // From now on nobody is asked.
  expect(await (await calledOnce(ada, "far.whoami")).json()).toMatchObject({ observation: '"ada@example"' });
});

test("the answer arrives in another process, which found out nothing of the provider itself", async () => {
  const shared = options({ state: memoryState() });
  const [first, second] = [served(shared), served(shared)];
  const ada = await visitor(first);
  const { telling, asked } = await asking(ada);
  expect((await comesBack(second, ada, await answerOf(asked))).status).toBe(200);
  expect(await telling.next("result")).toMatchObject({ observation: '"ada@example"' });
  const other = await elsewhere(second, ada, "/tools/far.whoami", {
    ...posted({ args: {} }),
    headers: { "content-type": "application/json", accept: "application/json" },
  });
  expect(await other.json()).toMatchObject({ observation: '"ada@example"' });
});

test.each(["before", "after"])("consent counts that is given %s another process takes up the call", async (when) => {
  const shared = new SharedState();
  const [dying, living] = [shared.process(), shared.process()];
  const first = served(options({ state: dying.state }));
  const ada = await visitor(first);
  const { asked } = await asking(ada);
  dying.die();
  const second = served(options({ state: living.state, store: first.store }));
  if (when === "after") shared.passLeases();
  const there = new Telling(await elsewhere(second, ada, `/calls/${asked.call}`));
  // One that took it up asks anew, at another address by the same id; the first address is as good.
  const times = when === "after" ? 2 : 0;
  const again: unknown[] = [];
  while (again.length < times) again.push((await there.next("paused"))?.["pause"]);
  expect(again).toEqual(Array.from({ length: times }, () => asked.pause));
  expect((await comesBack(second, ada, await answerOf(asked))).status).toBe(200);
  if (when === "before") shared.passLeases();
  expect(await there.next("result")).toMatchObject({ observation: '"ada@example"' });
});

test("before consent the tools of a source are not known; connecting it asks", async () => {
  const serving = served(options());
  const ada = await visitor(serving);
  expect(await ada.json("/tools")).toMatchObject({
    tools: [],
    unavailable: [{ source: "far", error: { code: "E_TOOL_AUTH" } }],
  });
  const telling = new Telling(await ada.ask("/sources/far/connection", posted({})));
  const asked = (await telling.next("paused")) as Asked;
  await comesBack(serving, ada, await answerOf(asked));
  expect(await telling.next()).toMatchObject({ kind: "connected", tools: 3 });
  const { tools } = await ada.json<{ tools: readonly { name: string }[] }>("/tools");
  expect(tools.map(({ name }) => name)).toEqual(["far.whoami", "far.artifact_read", "far.artifact_edit"]);
});

test("one user's consent is no other's, and nobody waits for another's", async () => {
  const serving = served(options());
  const [ada, bob] = [await visitor(serving), await visitor(serving, "bob")];
  const first = await asking(ada);
  const second = await asking(bob);
  await comesBack(serving, bob, await answerOf(second.asked, "bob@example"));
  expect(await second.telling.next("result")).toMatchObject({ observation: '"bob@example"' });
  expect(await refused(await calledOnce(await visitor(serving, "eve"), "far.whoami"))).toEqual([502, "E_TOOL_AUTH"]);
  await comesBack(serving, ada, await answerOf(first.asked));
  expect(await first.telling.next("result")).toMatchObject({ observation: '"ada@example"' });
});

test.each([
  ["another user", "bob"],
  ["another session of the same user", "ada"],
])("%s who brings the answer is refused, and whoever asked can bring it still", async (_, user) => {
  const serving = served(options());
  const [ada, other] = [await visitor(serving), await visitor(serving, user)];
  const { telling, asked } = await asking(ada);
  const callback = await answerOf(asked);
  const page = await comesBack(serving, other, callback);
  expect([page.status, await page.text()]).toEqual([
    403,
    expect.stringContaining("Another session or another user asked for it"),
  ]);
  const eve = await visitor(serving, "eve");
  expect(await refused(await calledOnce(eve, "far.whoami"))).toEqual([502, "E_TOOL_AUTH"]);
  expect((await comesBack(serving, ada, callback)).status).toBe(200);
  expect(await telling.next("result")).toMatchObject({ observation: '"ada@example"' });
});

test("a user who declines sees that, and the waiting call fails", async () => {
  const serving = served(options());
  const ada = await visitor(serving);
  const { telling, asked } = await asking(ada);
  const page = await comesBack(serving, ada, await answerOf(asked, "ada@example", true));
  expect([page.status, await page.text()]).toEqual([400, expect.stringContaining("Access was not given")]);
  expect(await telling.rest()).toMatchObject([{ kind: "failed", error: { code: "E_TOOL_AUTH" } }]);
  expect(serving.errors.filter((error) => (error as { code?: string }).code === "E_INTERNAL")).toEqual([]);
});

test("an answer counts once", async () => {
  const serving = served(options());
  const ada = await visitor(serving);
  const { telling, asked } = await asking(ada);
  const callback = await answerOf(asked);
  await comesBack(serving, ada, callback);
  expect((await comesBack(serving, ada, callback)).status).toBe(400);
  expect(await telling.next("result")).not.toBeNull();
});

test("without a session, with an unknown answer, or by another method nothing is taken", async () => {
  const serving = served(options());
  const ada = await visitor(serving);
  const { telling, asked } = await asking(ada);
  const callback = await answerOf(asked);
  const page = await comesBack(serving, null, callback);
  expect([page.status, page.headers.get("content-type")]).toEqual([401, "text/html; charset=utf-8"]);
  const unknown = await comesBack(serving, ada, new URL("http://x/?state=<script>alert(1)</script>&code=1"));
  expect([unknown.status, await unknown.text()]).toEqual([400, expect.not.stringContaining("<script>")]);
  expect((await comesBack(serving, ada, callback, { method: "HEAD" })).status).toBe(405);
  expect((await comesBack(serving, ada, callback)).status).toBe(200);
  expect(await telling.next("result")).not.toBeNull();
});

test("pages elsewhere link to nothing else", async () => {
  const serving = served(options());
  const ada = await visitor(serving);
  const headers = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    cookie: `sluice_session_8080=${ada.token}`,
  };
  expect(await refused(await serving.server.fetch(new Request("http://127.0.0.1:8080/tools", { headers })))).toEqual([
    403,
    "E_FORBIDDEN",
  ]);
});
