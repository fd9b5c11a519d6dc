/** The addresses that access tokens open, in the hands of an attacker. */
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Room, ROOT } from "../../cli/command.js";
import { asked, begin, serve, type Served } from "../../cli/serve/serving.js";
import { newKey, provider, tokenOf, type Key, type Signing, type TestProvider } from "./provider.js";

const FIXTURE = [process.execPath, join(ROOT, "tests/e2e/fixture/stdio.mjs")].join(" ");
const GUEST = "https://app.example";

let [key, at, room, server]: [Key?, TestProvider?, Room?, Served?] = [];
const closeProvider: (() => void)[] = [];

beforeAll(async () => {
  key = await newKey("k1");
  at = await provider([key], "", (close) => closeProvider.push(close));
  room = await Room.open();
  const config = {
    sources: ["fixture", "other"].map((name) => ({ name, transport: "mcp", connection: FIXTURE })),
    auth: { oidc: { issuer: at.issuer, scopes: ["tools"], clock_tolerance_seconds: 0 } },
    origins: [GUEST],
  };
  server = await serve(["--verbose", "--config", await room.write("serve.json", JSON.stringify(config))]);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await room?.[Symbol.asyncDispose]();
  for (const close of closeProvider) close();
});

const root = (): string => server?.url ?? "";
const mcp = (source = "fixture"): string => `${root()}mcp/${source}`;

/** A token of somebody for a resource. */
function token(sub: string, aud: string = mcp(), more: Signing["claims"] = {}): Promise<string> {
  return tokenOf(at as TestProvider, key as Key, { claims: { aud, sub, scope: "tools", ...more } });
}

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const PARAMS = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };

const post = (message: object, headers: object, url = mcp()): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { ...HEADERS, ...headers } as Record<string, string>,
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });

/** Begins a session of MCP; gives the headers of what follows, without those of the token. */
async function initialized(headers: object): Promise<Readonly<Record<string, string>>> {
  const answer = await post({ id: 0, method: "initialize", params: PARAMS }, headers);
  expect(answer.status).toBe(200);
  await answer.text();
  const session = {
    "mcp-session-id": answer.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  await (await post({ method: "notifications/initialized" }, { ...headers, ...session })).text();
  return session;
}

const bearer = (of: string): { readonly authorization: string } => ({ authorization: `Bearer ${of}` });
const PING = { id: 1, method: "ping" };

/** The first line of the answer to a request as it is written here. */
async function raw(lines: readonly string[]): Promise<string> {
  const { port } = new URL(root());
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`${[...lines, `Host: 127.0.0.1:${port}`, "Connection: close"].join("\r\n")}\r\n\r\n`);
  let text = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  await once(socket, "close");
  return text;
}

describe("a token", () => {
  test("counts in the header alone: not in the address, a cookie or the body", async () => {
    const own = await token("ada");
    for (const name of ["access_token", "token", "authorization"]) {
      expect((await post(PING, {}, `${mcp()}?${name}=${own}`)).status).toBe(401);
      expect((await post(PING, { cookie: `${name}=${own}` })).status).toBe(401);
    }
    const form = { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" } };
    expect((await fetch(mcp(), { ...form, body: `access_token=${own}` })).status).toBe(401);
    expect((await fetch(`${root()}?token=${own}`, { redirect: "manual" })).headers.getSetCookie()).toEqual([]);
  });

  test("counts once: two headers are none, whichever comes first", async () => {
    const [ada, bob] = [await token("ada"), await token("bob")];
    for (const pair of [
      [`Authorization: Bearer ${ada}`, `Authorization: Bearer ${bob}`],
      ["Authorization: Basic YTpi", `authorization: Bearer ${ada}`],
      [`Authorization: Bearer ${ada}, Bearer ${bob}`],
      [`Authorization: Bearer ${ada} ${bob}`],
      [`Authorization: Bearer\t${ada}`],
      [`Proxy-Authorization: Bearer ${ada}`],
      [`X-Authorization: Bearer ${ada}`],
    ]) {
      const text = await raw([`GET /mcp/fixture HTTP/1.1`, ...pair]);
      expect([pair[0]?.slice(0, 20), text.slice(0, 12)]).toEqual([pair[0]?.slice(0, 20), "HTTP/1.1 401"]);
    }
    // As RFC 9110 §11.1 says, the scheme may be written in any case.
    expect(await raw([`GET /mcp/fixture HTTP/1.1`, `authorization: bEARER ${ada}`])).toContain("HTTP/1.1 400");
  });

  test("is for one source, or for the whole server", async () => {
    const statuses = async (aud: string): Promise<readonly number[]> => {
      const headers = bearer(await token("ada", aud));
      const answers = [
        await post({ id: 0, method: "initialize", params: PARAMS }, headers, mcp("fixture")),
        await post({ id: 0, method: "initialize", params: PARAMS }, headers, mcp("other")),
        await post({}, headers, `${root()}sessions`),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await statuses(mcp("fixture"))).toEqual([200, 401, 401]);
    expect(await statuses(mcp("other"))).toEqual([401, 200, 401]);
    const [first, second] = await statuses(root());
    expect([first, second]).toEqual([200, 200]);
    expect((await statuses(`${mcp("fixture")}/`)).slice(0, 2)).toEqual([401, 401]);
    expect((await statuses(root().replace("127.0.0.1", "localhost"))).slice(0, 2)).toEqual([401, 401]);
  });

  test("opens no other address: these need a session", async () => {
    const headers = bearer(await token("ada", root()));
    for (const path of ["artifacts", "files", "events", "tools", "sources", "sessions/current", "mcp", "mcp/nothing"]) {
      const answer = await fetch(`${root()}${path}`, { headers });
      expect([path, answer.status]).toEqual([path, 401]);
    }
  });

  test("of a session is still good at a source, as pages use it", async () => {
    const session = await begin(root(), bearer(await token("ada", root())));
    const own = await initialized(session.headers);
    expect((await post(PING, { ...session.headers, ...own })).status).toBe(200);
    // And what it started is not that of the same user's programs.
    expect((await post(PING, { ...bearer(await token("ada")), ...own })).status).toBe(404);
  });

  test("that lacks a scope is told which", async () => {
    const answer = await post(PING, bearer(await token("ada", mcp(), { scope: "others" })));
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
      403,
      `Bearer error="insufficient_scope", resource_metadata="${root()}.well-known/oauth-protected-resource/mcp/fixture", scope="tools"`,
    ]);
  });

  test("is quoted in no answer and no line of the log", async () => {
    const own = await token("ada-of-the-log", "https://elsewhere.example");
    const answers = [
      await post(PING, bearer(own)),
      await fetch(`${mcp()}?access_token=${own}`, { headers: bearer(own) }),
    ];
    const texts = await Promise.all(
      answers.map(async (each) => (await each.text()) + JSON.stringify([...each.headers])),
    );
    for (const text of [...texts, server?.said() ?? ""]) expect(text).not.toMatch(/eyJ|ada-of-the-log/);
  });
});

describe("another user's session", () => {
  test("is none, with a token of one's own", async () => {
    const [ada, eve] = [bearer(await token("ada")), bearer(await token("eve"))];
    const session = await initialized(ada);
    expect((await post(PING, { ...eve, ...session })).status).toBe(404);
    expect((await fetch(mcp(), { headers: { ...eve, ...session, accept: "text/event-stream" } })).status).toBe(404);
    expect((await fetch(mcp(), { method: "DELETE", headers: { ...eve, ...session } })).status).toBe(404);
    expect((await post(PING, session)).status).toBe(401);
    expect((await post(PING, { ...ada, ...session })).status).toBe(200);
  });

  test("is that of the same user's other program, too", async () => {
    const session = await initialized(bearer(await token("ada", mcp(), { client_id: "one" })));
    const other = bearer(await token("ada", mcp(), { client_id: "two" }));
    expect((await post(PING, { ...other, ...session })).status).toBe(404);
    const later = bearer(await token("ada", mcp(), { client_id: "one", jti: "another token" }));
    expect((await post(PING, { ...later, ...session })).status).toBe(200);
  });

  test("is not found by a name that looks like another user's", async () => {
    const session = await initialized(bearer(await token('ada","app')));
    for (const sub of ["ada", 'ada","app"', 'ada", "app', "ADA"]) {
      expect((await post(PING, { ...bearer(await token(sub)), ...session })).status).toBe(404);
    }
  });

  test("does not end by its id", async () => {
    const own = await begin(root(), bearer(await token("ada", root())));
    const eve = await begin(root(), bearer(await token("eve", root())));
    expect((await eve.ask(`sessions/${own.id}`, { method: "DELETE" })).status).toBe(404);
    const byToken = { method: "DELETE", headers: bearer(await token("eve", root())) };
    expect((await fetch(`${root()}sessions/${own.id}`, byToken)).status).toBe(401);
    expect((await own.ask("sessions/current")).status).toBe(200);
  });
});

test("a stream of events ends with its token, and the client comes back with the next one", async () => {
  const exp = Math.floor(Date.now() / 1000) + 3;
  const session = await initialized(bearer(await token("ada", mcp(), { exp })));
  const begun = Date.now();
  const headers = { ...session, accept: "text/event-stream" };
  const stream = await fetch(mcp(), { headers: { ...headers, ...bearer(await token("ada", mcp(), { exp })) } });
  expect(stream.status).toBe(200);
  await stream.text();
  expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000 - 50);
  expect(Date.now() - begun).toBeLessThan(10_000);
  const again = await fetch(mcp(), { headers: { ...headers, ...bearer(await token("ada")) } });
  expect(again.status).toBe(200);
  await again.body?.cancel();
});

describe("the description of a resource", () => {
  const described = ".well-known/oauth-protected-resource";

  test("names the server as it is configured, whatever a request says of it", async () => {
    const { port } = new URL(root());
    for (const headers of [
      {} as Record<string, string>,
      { host: `localhost:${port}` },
      { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" },
      { forwarded: "host=evil.example" },
    ]) {
      const { status, body } = await asked(`${root()}${described}/mcp/fixture`, headers);
      expect(status).toBe(200);
      expect(JSON.parse(body)).toEqual({
        resource: mcp(),
        authorization_servers: [at?.issuer],
        bearer_methods_supported: ["header"],
        resource_name: "Sluice: fixture",
        scopes_supported: ["tools"],
      });
    }
    expect(await (await fetch(`${root()}${described}`)).json()).toMatchObject({ resource: root() });
    expect((await asked(`${root()}${described}`, { host: "evil.example" })).status).toBe(403);
  });

  test.each([
    "/mcp/nothing",
    "/mcp/",
    "/mcp/fixture/x",
    "/mcp/..%2Ffixture",
    "/mcp/fixture%00",
    "/mcp/fixture%0d%0aX-Evil:%201",
    "/mcp/constructor",
    "/mcp/__proto__",
    "/mcp/%E0%A4%A",
    "/MCP/fixture",
    "//mcp/fixture",
    "/sessions",
  ])("is not there for %s", async (path) => {
    const text = await raw([`GET /${described}${path} HTTP/1.1`]);
    expect(text).toMatch(/^HTTP\/1\.1 40[0134] /);
    expect(text).not.toMatch(/x-evil|authorization_servers/i);
  });

  test("is only read", async () => {
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
      expect((await fetch(`${root()}${described}/mcp/fixture`, { method })).status).toBe(405);
    }
    const head = await fetch(`${root()}${described}`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("and the challenge can be read by pages of configured origins, and by no others", async () => {
    const own = await fetch(mcp(), { headers: { origin: GUEST } });
    expect([own.status, own.headers.get("access-control-allow-origin")]).toEqual([401, GUEST]);
    expect(own.headers.get("access-control-expose-headers")?.toLowerCase()).toContain("www-authenticate");
    const read = await fetch(`${root()}${described}`, { headers: { origin: GUEST } });
    expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([200, GUEST]);
    for (const path of [described, "mcp/fixture"]) {
      expect((await fetch(`${root()}${path}`, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    }
  });

  test("cannot be made to say more by the name of a source in the address", async () => {
    for (const name of ["fixture%22,error=%22x", "fixture%0d%0aX-Evil:1", "fixture%27", "fix%2574ure"]) {
      const text = await raw([`GET /mcp/${name} HTTP/1.1`]);
      expect(text).toMatch(/^HTTP\/1\.1 40[014] /);
      expect(text).not.toMatch(/x-evil|error=/i);
    }
  });
});
