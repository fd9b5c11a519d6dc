import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { Visitor } from "../visitor.js";

// Pages of other origins: configured ones, and all others.

const HERE = "http://127.0.0.1:8080";
const GUEST = "https://app.example";

const made = (): SluiceServer => new SluiceServer({ store: new MemoryArtifactStore(), origins: [GUEST] });

const preflight = (server: SluiceServer, origin: string, path = "/artifacts"): Promise<Response> =>
  server.fetch(
    new Request(`${HERE}${path}`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
    }),
  );

test("a configured page is let in before it has a session, with a token and without cookies", async () => {
  await using server = made();
  const asked = await preflight(server, GUEST);
  expect(asked.status).toBe(204);
  expect(asked.headers.get("access-control-allow-origin")).toBe(GUEST);
  expect(asked.headers.get("access-control-allow-headers")).toMatch(/Authorization/);
  expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
  const ada = await Visitor.of(server);
  const answers = [
    await ada.ask("/artifacts", { headers: { origin: GUEST } }),
    await ada.ask("/artifacts/none", { headers: { origin: GUEST } }),
    await ada.ask("/artifacts?limit=0", { headers: { origin: GUEST } }),
    await server.fetch(new Request(`${HERE}/artifacts`, { headers: { origin: GUEST } })),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 401]);
  for (const { headers } of answers) {
    expect([headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([GUEST, "Origin"]);
  }
});

test("every other page is refused, the preflight too", async () => {
  await using server = made();
  for (const origin of [
    "https://evil.example",
    "null",
    `${GUEST}.evil.example`,
    "http://app.example",
    "http://127.0.0.1:9999",
  ]) {
    const asked = await preflight(server, origin);
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    const got = await (await Visitor.of(server)).ask("/artifacts", { headers: { origin } });
    expect(got.status).toBe(403);
  }
});

test("a configured page has no use of somebody's cookie", async () => {
  await using server = made();
  const begun = await server.fetch(
    new Request(`${HERE}/sessions`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } }),
  );
  const cookie = begun.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const asked = async (origin: string): Promise<number> =>
    (await server.fetch(new Request(`${HERE}/artifacts`, { headers: { cookie, origin } }))).status;
  expect([await asked(HERE), await asked(GUEST)]).toEqual([200, 401]);
});

test("a link from elsewhere leads to the page, and to no artifact", async () => {
  await using server = made();
  const from = async (path: string): Promise<number> => {
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    return (await server.fetch(new Request(`${HERE}${path}`, { headers }))).status;
  };
  expect(await from("/artifacts/web_0123456789ab")).toBe(403);
  expect(await from("/")).not.toBe(403);
  expect(await from("/oauth/callback")).not.toBe(403);
});

test("a name that is not ours leads nowhere", async () => {
  await using server = made();
  for (const host of ["evil.example", "127.0.0.1.evil.example", "127.0.0.1:8080@evil.example"]) {
    const response = await server.fetch(new Request(`${HERE}/health`, { headers: { host } }));
    expect(response.status).toBe(403);
  }
});
