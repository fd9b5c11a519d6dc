/** `sluice proxy --listen --issuer` in the hands of an attacker. */
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newKey, provider, tokenOf, type Key, type TestProvider } from "../../server/access/provider.js";
import { Room, ROOT } from "../command.js";
import { asked, started, type Served } from "../serve/serving.js";

const FIXTURE = ["--", process.execPath, join(ROOT, "tests/e2e/fixture/stdio.mjs")];
const PUBLIC = "https://tools.example/deep/mcp";

let [key, at, room, proxy]: [Key?, TestProvider?, Room?, Served?] = [];
const closing: (() => void)[] = [];

beforeAll(async () => {
  key = await newKey("k1");
  at = await provider([key], "", (close) => closing.push(close));
  room = await Room.open();
  const said = ["--issuer", at.issuer, "--public-url", PUBLIC, "--tenant-claim", "org", "--store", room.store];
  proxy = await started(["proxy", "--listen", "127.0.0.1:0", ...said, ...FIXTURE]);
});
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await room?.[Symbol.asyncDispose]();
  for (const close of closing) close();
});

const url = (): string => proxy?.url ?? "";
const root = (): string => new URL("/", url()).href;

/** A token of somebody, for the proxy unless it is said otherwise. */
const token = (sub: string, claims: object = {}): Promise<string> =>
  tokenOf(at as TestProvider, key as Key, { claims: { aud: PUBLIC, org: "acme", sub, ...claims } });

const bearer = (of: string): Record<string, string> => ({ authorization: `Bearer ${of}` });
const PARAMS = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const PING = { id: 1, method: "ping" };

const post = (message: object, headers: object, to = url()): Promise<Response> =>
  fetch(to, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });

async function initialized(headers: object): Promise<Record<string, string>> {
  const answer = await post({ id: 0, method: "initialize", params: PARAMS }, headers);
  expect(answer.status).toBe(200);
  await answer.text();
  return { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
}

/** The answer to a request as it is written here. */
async function raw(lines: readonly string[]): Promise<string> {
  const { port } = new URL(url());
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`${[...lines, `Host: 127.0.0.1:${port}`, "Connection: close"].join("\r\n")}\r\n\r\n`);
  let text = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  await once(socket, "close");
  return text;
}

const CHALLENGE = 'resource_metadata="https://tools.example/.well-known/oauth-protected-resource/deep/mcp"';

test("a token counts in one header alone", async () => {
  const [ada, bob] = [await token("ada"), await token("bob")];
  for (const headers of [{}, { cookie: `access_token=${ada}` }, { "x-authorization": `Bearer ${ada}` }]) {
    const answer = await post(PING, headers, `${url()}?access_token=${ada}`);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, `Bearer ${CHALLENGE}`]);
  }
  for (const lines of [
    [`Authorization: Bearer ${ada}`, `Authorization: Bearer ${bob}`],
    ["Authorization: Basic YTpi", `Authorization: Bearer ${ada}`],
    [`Authorization: Bearer ${ada}, Bearer ${bob}`],
  ]) {
    const text = await raw([`GET /mcp HTTP/1.1`, ...lines]);
    expect(text).toContain("HTTP/1.1 401");
    expect(text).toContain(`error="invalid_token", ${CHALLENGE}`);
  }
});

test("a token is for this address, by the name that clients know it by, and of somebody's organisation", async () => {
  for (const claims of [
    { aud: url() },
    { aud: "https://tools.example" },
    { aud: "https://tools.example/deep/mcp/" },
    { aud: "https://tools.example/deep" },
    { org: undefined },
    { org: "" },
    { exp: Math.floor(Date.now() / 1000) - 60 },
  ]) {
    expect((await post(PING, bearer(await token("ada", claims)))).status).toBe(401);
  }
  await initialized(bearer(await token("ada")));
});

test("a session belongs to a user of an organisation, and to one of the user's programs", async () => {
  const session = await initialized(bearer(await token("ada")));
  for (const claims of [{ org: "other" }, { client_id: "other" }, { sub: "eve" }]) {
    const other = bearer(await token("ada", claims));
    expect((await post(PING, { ...other, ...session })).status).toBe(404);
    expect((await fetch(url(), { method: "DELETE", headers: { ...other, ...session } })).status).toBe(404);
  }
  expect((await post(PING, { ...bearer(await token("ada", { jti: "later" })), ...session })).status).toBe(200);
});

test("a stream of events ends with its token", async () => {
  // Clocks may be half a minute apart.
  const exp = Math.floor(Date.now() / 1000) - 27;
  const until = (exp + 30) * 1000;
  const own = bearer(await token("ada", { exp }));
  const session = await initialized(own);
  const stream = await fetch(url(), { headers: { ...own, ...session, accept: "text/event-stream" } });
  expect(stream.status).toBe(200);
  await stream.text();
  expect(Date.now()).toBeGreaterThanOrEqual(until - 50);
  expect(Date.now()).toBeLessThan(until + 5000);
  expect((await post(PING, { ...own, ...session })).status).toBe(401);
});

test("a body that may not be sent is not waited for", async () => {
  const text = await raw(["POST /mcp HTTP/1.1", "Content-Type: application/json", "Content-Length: 1000000000"]);
  expect(text).toContain("HTTP/1.1 401");
});

describe("the description", () => {
  test("is the same for all clients, by any name", async () => {
    const { port } = new URL(url());
    for (const path of ["", "/deep/mcp", "?resource=https://evil.example"]) {
      for (const host of [`127.0.0.1:${port}`, "tools.example", `localhost:${port}`]) {
        const answer = await asked(`${root()}.well-known/oauth-protected-resource${path}`, { host });
        expect([answer.status, JSON.parse(answer.body)]).toEqual([
          200,
          {
            resource: PUBLIC,
            authorization_servers: [at?.issuer],
            bearer_methods_supported: ["header"],
            resource_name: "Sluice",
          },
        ]);
      }
    }
    const foreign = await asked(`${root()}.well-known/oauth-protected-resource`, { host: "evil.example" });
    expect(foreign.status).toBe(403);
  });

  test.each(["/mcp", "/deep/mcp/", "/deep%2Fmcp", "/deep/mcp/..", "/../x", "%0d%0aX-Evil:1", "x"])(
    "is not there at %s",
    async (path) => {
      const text = await raw([`GET /.well-known/oauth-protected-resource${path} HTTP/1.1`]);
      expect(text).toMatch(/^HTTP\/1\.1 401 /);
      expect(text).not.toMatch(/authorization_servers|\nx-evil/i);
    },
  );

  test("is only read", async () => {
    const there = `${root()}.well-known/oauth-protected-resource`;
    expect((await fetch(there, { method: "POST", body: "{}" })).status).toBe(405);
    expect(await (await fetch(there, { method: "HEAD" })).text()).toBe("");
  });
});

test("the provider's failure is shown to the operator of the proxy alone", async () => {
  const away = await provider([], "", (close) => closing.push(close));
  away.instead = (_, response) => void response.writeHead(500).end();
  await using other = await started(["proxy", "--listen", "127.0.0.1:0", "--issuer", away.issuer, ...FIXTURE]);
  const answer = await post(PING, bearer(await tokenOf(away, key as Key)), other.url);
  expect(answer.status).toBe(503);
  expect(await answer.text()).not.toMatch(/500|127\.0\.0\.1/);
  expect(other.said()).toContain("the sign-in provider's keys cannot be read: it answered 500");
});

test("no token and no user is in the log", () => {
  expect(proxy?.said()).not.toMatch(/eyJ|ada|acme/);
});
