import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import { SECRET, startAuthorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { connect, managerOf, SharedTokenStore, TestClock } from "./consenting.js";

const HOUR = 3600;

let server: TestAuthorizationServer;
beforeAll(async () => {
  server = await startAuthorizationServer({ lifetime: HOUR });
});
afterAll(() => server[Symbol.asyncDispose]());
afterEach(() => {
  server.asked.length = 0;
  server.instead.length = 0;
});

/** The refresh tokens that the server was sent. */
function refreshed(): (string | null)[] {
  return server.asked
    .filter((body) => body.get("grant_type") === "refresh_token")
    .map((body) => body.get("refresh_token"));
}

async function connected(
  options: Parameters<typeof managerOf>[1] = {},
): Promise<{ manager: OAuthManager; clock: TestClock }> {
  const clock = new TestClock();
  const manager = managerOf(
    server,
    { clock: clock.read, ...options },
    { client_id: "confidential", client_secret: SECRET },
  );
  await connect(manager, "ada");
  return { manager, clock };
}

test("a token is renewed a minute before it ends, and the new refresh token is used next", async () => {
  const { manager, clock } = await connected();
  const first = await manager.getToken("ada", "files");
  clock.pass(HOUR - 61);
  expect(await manager.getToken("ada", "files")).toBe(first);
  expect(refreshed()).toEqual([]);
  clock.pass(1);
  const second = await manager.getToken("ada", "files");
  expect(second).not.toBe(first);
  expect(await server.owner(second ?? "")).toBe("ada@example");
  clock.pass(HOUR);
  const third = await manager.getToken("ada", "files");
  expect(await server.owner(third ?? "")).toBe("ada@example");
  expect(new Set(refreshed()).size).toBe(2);
});

test("however many ask, it is renewed once", async () => {
  const { manager, clock } = await connected();
  clock.pass(HOUR);
  const tokens = await Promise.all(Array.from({ length: 50 }, () => manager.getToken("ada", "files")));
  expect(new Set(tokens).size).toBe(1);
  expect(refreshed().length).toBe(1);
  expect(await manager.getToken("ada", "files")).toBe(tokens[0]);
});

test("one who gives up does not end the renewal for the others", async () => {
  const { manager, clock } = await connected();
  clock.pass(HOUR);
  const control = new AbortController();
  const given = manager.getToken("ada", "files", { signal: control.signal });
  const waiting = manager.getToken("ada", "files");
  control.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  expect(await server.owner((await waiting) ?? "")).toBe("ada@example");
});

test("managers that share a store with turns renew once between them", async () => {
  const tokenStore = new SharedTokenStore();
  const { manager, clock } = await connected({ tokenStore });
  const other = managerOf(
    server,
    { tokenStore, clock: clock.read },
    { client_id: "confidential", client_secret: SECRET },
  );
  clock.pass(HOUR);
  const [one, two] = await Promise.all([manager.getToken("ada", "files"), other.getToken("ada", "files")]);
  expect(one).toBe(two);
  expect(refreshed().length).toBe(1);
});

test("a provider that fails is no harm while the token lasts, and an error behind that", async () => {
  const { manager, clock } = await connected();
  const first = await manager.getToken("ada", "files");
  clock.pass(HOUR - 30);
  server.instead.push((response) => response.writeHead(503).end());
  expect(await manager.getToken("ada", "files")).toBe(first);
  clock.pass(30);
  server.instead.push((response) => response.writeHead(503).end("refresh-secret"));
  await expect(manager.getToken("ada", "files")).rejects.toMatchObject({
    code: "E_TOOL_SERVER",
    status: 503,
    isRetryable: true,
  });
  server.instead.push((response) => response.writeHead(429, { "retry-after": "7" }).end());
  const limited = { code: "E_TOOL_RATE_LIMIT", retryAfterSeconds: 7, neverSent: true };
  await expect(manager.getToken("ada", "files")).rejects.toMatchObject(limited);
  server.instead.push((response) => response.destroy());
  await expect(manager.getToken("ada", "files")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION" });
  expect(await server.owner((await manager.getToken("ada", "files")) ?? "")).toBe("ada@example");
});

test.each([
  [400, "invalid_grant"],
  [200, "bad_refresh_token"],
])("a refresh token that is over means asking the user: %s %s", async (status, error) => {
  const { manager, clock } = await connected();
  clock.pass(HOUR);
  server.instead.push((response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error })),
  );
  expect(await manager.getToken("ada", "files")).toBeNull();
  expect(await manager.getToken("ada", "files")).toBeNull();
  expect(refreshed().length).toBe(1);
});

test("without a refresh token it is good to its end, and then gone", async () => {
  const clock = new TestClock();
  const manager = managerOf(server, { clock: clock.read });
  server.instead.push((response) =>
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ access_token: "short", token_type: "Bearer", expires_in: "10", refresh_token: null })),
  );
  await connect(manager, "ada");
  clock.pass(9.999);
  expect(await manager.getToken("ada", "files")).toBe("short");
  clock.pass(0.001);
  expect(await manager.getToken("ada", "files")).toBeNull();
});

test("a token of which nobody said how long it lasts is kept", async () => {
  const clock = new TestClock();
  const manager = managerOf(server, { clock: clock.read });
  server.instead.push((response) =>
    response
      .writeHead(200, { "content-type": "application/json" })
      .end('{"access_token":"long","token_type":"bearer"}'),
  );
  await connect(manager, "ada");
  clock.pass(1e9);
  expect(await manager.getToken("ada", "files")).toBe("long");
});

test("a provider that gives no new refresh token leaves the old one good", async () => {
  const { manager, clock } = await connected();
  for (const name of ["one", "two"]) {
    clock.pass(HOUR);
    server.instead.push((response) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ access_token: name, token_type: "Bearer", expires_in: HOUR })),
    );
    expect(await manager.getToken("ada", "files")).toBe(name);
  }
  expect(new Set(refreshed()).size).toBe(1);
});

test("a short life is not spent on renewals", async () => {
  const { manager, clock } = await connected();
  server.instead.push((response) =>
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ access_token: "brief", token_type: "Bearer", expires_in: 20 })),
  );
  clock.pass(HOUR);
  expect(await manager.getToken("ada", "files")).toBe("brief");
  clock.pass(9);
  expect(await manager.getToken("ada", "files")).toBe("brief");
  expect(refreshed().length).toBe(1);
});

test("what is forgotten while it is renewed stays forgotten", async () => {
  const { manager, clock } = await connected();
  clock.pass(HOUR);
  const reached = new Promise<() => void>((resolve) => {
    server.instead.push((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      resolve(() => void response.end('{"access_token":"late","token_type":"bearer"}'));
    });
  });
  const token = manager.getToken("ada", "files");
  const release = await reached;
  const forgotten = manager.forget("ada", "files");
  release();
  await forgotten;
  expect(await token).toBeNull();
  expect(await manager.getToken("ada", "files")).toBeNull();
});

test("a token that a source refused is renewed before its time, once", async () => {
  const { manager } = await connected();
  const first = (await manager.getToken("ada", "files")) ?? "";
  await manager.refused("ada", "files", first);
  const second = (await manager.getToken("ada", "files")) ?? "";
  expect(second).not.toBe(first);
  await manager.refused("ada", "files", first);
  expect(await manager.getToken("ada", "files")).toBe(second);
  expect(refreshed().length).toBe(1);
});
