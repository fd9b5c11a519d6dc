import { describe, expect, test } from "vitest";
import { Destinations, isPrivate, refusalBetween } from "../../../web/src/tools/addresses.js";
import { httpSource } from "../../../web/src/tools/sources/http/source.js";
import { webPlatform } from "../../../web/src/tools/sources/http/web-socket.js";
import { api, called, failure, gate, manual, opened, sendJson } from "./sources/api.js";

describe("an address", () => {
  test.each(
    (
      "http://localhost http://a.localhost. http://127.0.0.1 http://127.255.1.1 http://2130706433 http://0x7f.1 http://0.0.0.0 " +
      "http://10.1.2.3 http://172.16.0.1 http://172.31.255.255 http://192.168.1.1 http://169.254.169.254 http://100.64.0.1 " +
      "http://[::1] http://[::] http://[::ffff:127.0.0.1] http://[::ffff:10.0.0.1] http://[64:ff9b::10.0.0.1] " +
      "http://[fd00::1] http://[fc00::1] http://[fe80::1] http://[febf::1]"
    ).split(" "),
  )("%s is private", (url) => {
    expect(isPrivate(new URL(url))).toBe(true);
  });

  test.each(
    (
      "http://example.com http://10.example.com http://172.15.0.1 http://172.32.0.1 http://192.169.0.1 http://169.253.1.1 " +
      "http://100.128.0.1 http://11.0.0.1 http://[2001:db8::1] http://[::ffff:8.8.8.8] http://[64:ff9b::8.8.8.8] http://[2606:4700::1111]"
    ).split(" "),
  )("%s is not", (url) => {
    expect(isPrivate(new URL(url))).toBe(false);
  });
});

describe("the rule", () => {
  const allowed_hosts = ["b.example", "*.c.example", "d.example:8443", "10.0.0.2", "127.0.0.1:81"];
  const trusted_origins = ["https://t.example"];
  const may = (from: string, to: string): boolean =>
    refusalBetween(new URL(from), new URL(to), { allowed_hosts, trusted_origins }) === undefined;

  test.each([
    ["http://a.example/utcp", "http://a.example/x"],
    ["https://a.example/utcp", "wss://a.example/x"],
    ["http://a.example/utcp", "https://a.example/x"],
    ["https://a.example/", "https://b.example/"],
    ["https://a.example/", "https://x.y.c.example/"],
    ["https://a.example/", "https://d.example:8443/"],
    ["https://a.example/", "https://t.example/"],
    ["http://10.0.0.1/", "http://10.0.0.2:443/"],
    ["http://127.0.0.1:80/", "http://127.0.0.1:81/"],
    ["http://127.0.0.1:80/", "ws://127.0.0.1:81/"],
  ])("%s may send us to %s", (from, to) => {
    expect(may(from, to.replace("http://10.0.0.2:443/", "https://10.0.0.2/"))).toBe(true);
  });

  test.each([
    ["https://a.example/", "https://other.example/"],
    ["https://a.example/", "https://a.example:8443/"],
    ["https://a.example/", "http://a.example/"],
    ["https://a.example/", "http://b.example/"],
    ["https://a.example/", "ws://b.example/"],
    ["https://a.example/", "https://b.example:444/"],
    ["https://a.example/", "https://b.example.evil/"],
    ["https://a.example/", "https://xb.example/"],
    ["https://a.example/", "https://c.example/"],
    ["https://a.example/", "https://c.example.evil/"],
    ["https://a.example/", "https://evilc.example/"],
    ["https://a.example/", "https://user:pw@b.example/"],
    ["https://a.example/", "file:///etc/passwd"],
    ["https://a.example/", "https://10.0.0.2/"],
    ["https://a.example/", "http://127.0.0.1:81/"],
    ["http://127.0.0.1:80/", "http://127.0.0.1:82/"],
    ["http://127.0.0.1:80/", "http://169.254.169.254/"],
  ])("%s may not send us to %s", (from, to) => {
    expect(may(from, to)).toBe(false);
  });
});

describe("names", () => {
  const NAMES: Readonly<Record<string, readonly string[]>> = {
    "public.example": ["203.0.113.1"],
    "inside.example": ["203.0.113.1", "10.0.0.1"],
    "six.example": ["fd00::1%eth0"],
    "corp.example": ["10.0.0.9"],
  };
  const lookup = async (name: string): Promise<readonly string[]> => {
    const found = NAMES[name];
    if (found === undefined) throw new Error("ENOTFOUND");
    return found;
  };
  const at = (base: string): Destinations => new Destinations(new URL(base), { allowed_hosts: ["*.example"], lookup });

  test.each([
    ["https://a.example/", "https://public.example/", true],
    ["https://a.example/", "https://unknown.example/", true],
    ["https://a.example/", "https://inside.example/", false],
    ["https://a.example/", "https://six.example/", false],
    // A name inside may tell of others inside, and every name of itself.
    ["https://corp.example/", "https://inside.example/", true],
    ["https://inside.example/", "https://inside.example/x", true],
  ])("from %s to %s: %s", async (from, to, may) => {
    expect((await at(from).refusalNow(new URL(to))) === undefined).toBe(may);
  });
});

const oneInside = async (name: string): Promise<readonly string[]> => (name === "far.example" ? ["10.0.0.1"] : []);

describe("goes for", () => {
  test("the tools of a document on the network: none on this machine, none in the clear", async () => {
    const { sluice } = await gate();
    const mine = await api((_, response) => sendJson(response, {}));
    // The network is played by fetch: all of it is somewhere else than the tests run.
    const fetch: typeof globalThis.fetch = async () =>
      Response.json(
        manual({
          own: { url: "https://remote.example" },
          get: { url: mine.origin },
          plain: { url: "http://192.0.2.1/" },
        }),
      );
    const allowed_hosts = [new URL(mine.origin).host, "192.0.2.1"];
    const deps = { name: "api", connection: "https://remote.example/utcp", sluice, fetch, allowed_hosts };
    const source = await opened(httpSource(deps));
    expect(source.leftOut).toMatchObject([
      { name: "get", reason: expect.stringContaining("on this machine or in a private network") as string },
      { name: "plain", reason: expect.stringContaining("another server without encryption") as string },
    ]);
    expect(await failure(called(source, "get"))).toMatchObject({ code: "E_TOOL_CLIENT" });
    expect(mine.seen).toHaveLength(0);
  });

  test("the servers of a description: with none that is allowed there is no source", async () => {
    const other = await api((_, response) => sendJson(response, { other: true }));
    const paths = { "/pets": { get: { operationId: "pets" } } };
    const server = await api((_, response) =>
      sendJson(response, { openapi: "3.1.0", servers: [{ url: other.origin }], paths }),
    );
    const { sluice } = await gate();
    const deps = { name: "shop", connection: `${server.origin}/openapi.json`, sluice };
    const { host } = new URL(other.origin);
    expect(await failure(opened(httpSource(deps)))).toMatchObject({
      code: "E_TOOL_CONFIG",
      message: expect.stringContaining(`allowed_hosts does not name it (${host})`) as string,
    });
    const source = await opened(httpSource({ ...deps, allowed_hosts: [host] }), async () => ({ "x-api-key": "k3y" }));
    expect((await called(source, "pets")).reduced.value).toEqual({ other: true });
    expect(other.seen[0]?.headers).not.toHaveProperty("x-api-key");
    const trusted = httpSource({ ...deps, trusted_origins: [other.origin] });
    await called(await opened(trusted, async () => ({ "x-api-key": "k3y" })), "pets");
    expect(other.seen[1]?.headers).toMatchObject({ "x-api-key": "k3y" });
  });

  test("redirects of documents, and of requests of the configuration's own manual", async () => {
    const other = await api((_, response) => sendJson(response, manual({ get: { url: other.origin } })));
    const server = await api((_, response) => response.writeHead(302, { location: `${other.origin}/utcp` }).end());
    const { sluice } = await gate();
    const deps = { name: "api", sluice };
    const leading = { message: expect.stringContaining("redirects to an address that is not allowed") as string };
    const connection = `${server.origin}/utcp`;
    expect(await failure(opened(httpSource({ ...deps, connection })))).toMatchObject(leading);
    const own = JSON.stringify(manual({ get: { url: server.origin } }));
    const source = await opened(httpSource({ ...deps, connection: own }));
    expect(await failure(called(source, "get"))).toMatchObject(leading);
    expect(other.seen).toEqual([]);
    const allowed = { ...deps, connection: own, allowed_hosts: [new URL(other.origin).host] };
    expect((await called(await opened(httpSource(allowed)), "get")).reduced.value).toMatchObject({
      utcp_version: "1.0.1",
    });
  });

  test("names that lead inside, asked at each request", async () => {
    const { sluice } = await gate();
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (url) => {
      asked.push((url as URL).hostname);
      return Response.json(manual({ get: { url: "https://far.example" } }));
    };
    const allowed_hosts = ["far.example"];
    const deps = { name: "api", connection: "https://near.example/utcp", sluice, fetch, allowed_hosts };
    const source = await opened(httpSource({ ...deps, platform: { ...webPlatform, lookup: oneInside } }));
    expect(await failure(called(source, "get"))).toMatchObject({
      code: "E_TOOL_CONFIG",
      message: expect.stringContaining("private network") as string,
    });
    expect(asked).toEqual(["near.example"]);
  });
});
