/** Who may begin sessions of `sluice serve`. */
import { hostname, networkInterfaces } from "node:os";
import { describe, expect, onTestFinished, test } from "vitest";
import { Room } from "../command.js";
import { asked, begin, serve, stored, type Served } from "./serving.js";

const [ADA, BOB] = ["ada-has-this-token", "bob-has-this-token"];

/** A server with this configuration, for one test. */
async function configured(
  config: object,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const room = await Room.open();
  for (const [name, text] of Object.entries(files)) await room.write(name, text);
  const file = await room.write("serve.json", JSON.stringify(config));
  const server = await serve(["--config", file, ...args], env);
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await room[Symbol.asyncDispose]();
  });
  return server;
}

const statusOf = async (url: string, headers: Readonly<Record<string, string>>): Promise<number> => {
  const answer = await fetch(`${url}sessions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
  });
  await answer.text();
  return answer.status;
};

const TOKENS = {
  auth: {
    tokens: [
      { token: "${ADA}", user_id: "ada", tenant_id: "acme" },
      { token: BOB, user_id: "bob" },
    ],
  },
};

describe("tokens", () => {
  test("open sessions of whom they belong to; nothing else does", async () => {
    const server = await configured(TOKENS, [], { ADA });
    for (const headers of [
      {},
      { authorization: "Bearer " },
      { authorization: `Bearer ${ADA}x` },
      { authorization: `Basic ${ADA}` },
    ]) {
      expect(await statusOf(server.url, headers as Record<string, string>)).toBe(401);
    }
    const [ada, again, bob] = [
      await begin(server.url, { authorization: `Bearer ${ADA}` }),
      await begin(server.url, { authorization: `bearer  ${ADA}` }),
      await begin(server.url, { authorization: `Bearer ${BOB}` }),
    ];
    const put = await ada.ask("files?filename=hers.txt", {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "hers",
    });
    expect(put.status).toBe(201);
    const namesOf = async ({ ask }: typeof ada): Promise<number> =>
      ((await (await ask("files")).json()) as { files: readonly unknown[] }).files.length;
    expect([await namesOf(ada), await namesOf(again), await namesOf(bob)]).toEqual([1, 1, 0]);
  });

  test("are no sessions: where one is wanted they open nothing", async () => {
    const server = await configured(TOKENS, [], { ADA });
    expect((await fetch(`${server.url}artifacts`, { headers: { authorization: `Bearer ${ADA}` } })).status).toBe(401);
  });

  test("in a link sign a browser in, and are in no address afterwards", async () => {
    const server = await configured(TOKENS, [], { ADA });
    const answer = await fetch(`${server.url}?token=${ADA}`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^sluice_session_\d+=[\w.-]+; .*HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain(ADA);
    const current = await fetch(`${server.url}sessions/current`, { headers: { cookie: cookie.split(";")[0] ?? "" } });
    expect(current.status).toBe(200);
  });

  test.each(["wrong-token-of-somebody", "", "a%0d%0ab", "ä"])(
    "that are wrong, as %j, sign nobody in",
    async (token) => {
      const server = await configured(TOKENS, [], { ADA });
      const answer = await fetch(`${server.url}?token=${token}`, { redirect: "manual" });
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []]);
      expect(await answer.text()).toContain("ask the operator of this server for another one");
    },
  );

  test.each(["cross-site", "same-site"])("in a link on a page elsewhere sign in nobody at once: %s", async (site) => {
    const server = await configured(TOKENS, [], { ADA });
    const sent = { "sec-fetch-site": site, "sec-fetch-mode": "navigate" };
    const { status, headers, body } = await asked(`${server.url}?token=${ADA}`, sent);
    expect([status, headers["set-cookie"]]).toEqual([403, undefined]);
    expect(body).toContain("press Enter");
    expect(body).not.toContain(ADA);
    // As who goes to the address by hand.
    const typed = await asked(`${server.url}?token=${ADA}`, { ...sent, "sec-fetch-site": "none" });
    expect(typed.status).toBe(303);
  });

  test("in a link do not sign in who was sent here by another name", async () => {
    const server = await configured(TOKENS, [], { ADA });
    const { status, headers } = await asked(`${server.url}?token=${ADA}`, { host: "evil.example" });
    expect([status, headers["set-cookie"]]).toEqual([403, undefined]);
  });

  test("let it listen for other machines, at the addresses and names of this one", async () => {
    await using server = await serve(["--listen", "0.0.0.0:0"], { SLUICE_SERVE_TOKEN: ADA });
    const { port } = new URL(server.url);
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const addresses = own.flatMap(({ address, family }) => (family === "IPv4" ? [address] : []));
    for (const host of [...addresses, hostname(), "localhost"]) {
      const said = { host: `${host}:${port}` };
      expect([host, (await asked(`http://127.0.0.1:${port}/health`, said)).status]).toEqual([host, 200]);
    }
    expect((await asked(`http://127.0.0.1:${port}/health`, { host: `evil.example:${port}` })).status).toBe(403);
    expect(await statusOf(`http://127.0.0.1:${port}/`, {})).toBe(401);
    expect(await statusOf(`http://127.0.0.1:${port}/`, { authorization: `Bearer ${ADA}` })).toBe(201);
  });
});

describe("a proxy's header", () => {
  const HEADER = { auth: { header: { user: "x-forwarded-user", tenant: "x-forwarded-tenant" } } };

  test("identifies the user; missing, empty or twice, it identifies none", async () => {
    const server = await configured({ ...HEADER, public_url: "https://sluice.example" });
    const [user, tenant] = [{ "x-forwarded-user": "ada" }, { "x-forwarded-tenant": "acme" }];
    expect(await statusOf(server.url, { ...user, ...tenant })).toBe(201);
    for (const headers of [
      {},
      user,
      tenant,
      { ...tenant, "x-forwarded-user": " " },
      { ...tenant, "x-forwarded-user": "ada, eve" },
      { ...tenant, "x-forwarded-user": "a".repeat(1025) },
    ]) {
      expect(await statusOf(server.url, headers as Record<string, string>)).toBe(401);
    }
  });

  test("comes by the public name, over which cookies are for TLS alone", async () => {
    const server = await configured({ ...HEADER, public_url: "https://sluice.example" });
    const headers = {
      host: "sluice.example",
      origin: "https://sluice.example",
      "x-forwarded-user": "ada",
      "x-forwarded-tenant": "acme",
      "content-type": "application/json",
    };
    const answer = await asked(`${server.url}sessions`, headers, "POST", "{}");
    expect(answer.status).toBe(201);
    expect(answer.headers["set-cookie"]?.[0]).toMatch(/^sluice_session=.*; Secure/);
  });

  test("is taken as it is: a name with a blank of another kind is another's", async () => {
    const server = await configured({ auth: { header: { user: "x-forwarded-user" } } });
    const ada = await begin(server.url, { "x-forwarded-user": "ada" });
    const other = await begin(server.url, { "x-forwarded-user": "ada\u00a0" });
    expect((await ada.ask("files?filename=own.txt", { method: "POST", body: "own" })).status).toBe(201);
    const [own, others] = [await ada.ask("files"), await other.ask("files")];
    expect([await own.json(), await others.json()]).toMatchObject([{ files: [{ name: "own.txt" }] }, { files: [] }]);
  });
});

describe("a module", () => {
  const MODULE = { auth: { module: "./auth.mjs" } };

  test("identifies the user, by its path from the configuration's folder", async () => {
    const source = `export const authenticate = async (request) =>
      request.headers.get("x-who") === "ada" ? { user_id: "ada" } : null;`;
    const server = await configured(MODULE, [], {}, { "auth.mjs": source });
    expect([await statusOf(server.url, { "x-who": "ada" }), await statusOf(server.url, {})]).toEqual([201, 401]);
  });

  test("that throws refuses all users, and the operator is told", async () => {
    const source = `export function authenticate() { throw new Error("no directory"); }`;
    const server = await configured(MODULE, [], {}, { "auth.mjs": source });
    const answer = await fetch(`${server.url}sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(await answer.text()).not.toContain("no directory");
    expect(server.said()).toContain("no directory");
  });
});

describe("limits of the configuration", () => {
  test("hold", async () => {
    const server = await configured({
      limits: { sessions_per_minute: 2, requests_per_minute: 3 },
      retention: { max_artifact_bytes: 1000 },
      files: false,
    });
    const session = await begin(server.url);
    expect(await stored(session, new Uint8Array(1000))).toMatch(/^upload_/);
    const large = await session.ask("artifacts", {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "x".repeat(1001),
    });
    expect(large.status).toBe(413);
    expect((await session.ask("files")).status).toBe(404);
    expect((await session.ask("artifacts")).status).toBe(429);
    await begin(server.url);
    await expect(begin(server.url)).rejects.toThrow("429");
  });
});
