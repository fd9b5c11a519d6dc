/** The document of a server: what it has, for whom, and what it never says. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer, type SluiceServerOptions } from "../../../../web/src/serve.js";
import { SAFETY } from "../../../../web/src/server/http/headers.js";
import { calling, modelOf } from "../chat/chatting.js";
import { program, served } from "../sources/serving.js";
import { byHeaders, refused, Visitor } from "../visitor.js";
import { Description } from "./openapi.js";

const HERE = "http://127.0.0.1:8080";

const all = (): Partial<SluiceServerOptions> => ({
  filesStore: new MemoryArtifactStore(),
  llm: modelOf(calling()),
  metrics: {},
});

/** With users who sign in at a provider. */
const signingIn = (): Partial<SluiceServerOptions> => ({
  ...all(),
  oidc: { issuer: "https://id.example" },
  publicUrl: "https://sluice.example",
});

const made = (options: Partial<SluiceServerOptions> = {}): SluiceServer =>
  new SluiceServer({ store: new MemoryArtifactStore(), ...options });

const paths = ({ operations }: Description): readonly string[] => [...new Set(operations.map(({ path }) => path))];

describe("the document", () => {
  test.each([
    ["everything", signingIn()],
    ["nothing", {}],
  ])("of a server with %s is valid OpenAPI 3.1", async (_, options) => {
    await using server = made(options);
    const { document } = await Description.of(server);
    expect(document["openapi"]).toBe("3.1.0");
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  });

  test("has every address that is mounted, with all of its methods, and no other", async () => {
    const based = vi.spyOn(Hono.prototype, "basePath");
    onTestFinished(() => based.mockRestore());
    await using server = made({ ...signingIn(), base: "/sluice/" });
    const description = await Description.of(server, "/sluice/");
    const [app] = based.mock.results.map(({ value }) => value as Hono);
    const routes = app?.routes ?? [];
    const shown = (path: string): string =>
      path
        .replace(/^\/sluice(?=\/)/, "")
        .replaceAll(/:(\w+)/g, "{$1}")
        .replace(/(?<=.)\/$/, "");
    const own = routes.filter(({ path }) => !path.endsWith("*"));
    expect(own.length).toBeGreaterThan(50);
    expect([...new Set(own.map(({ path }) => shown(path)))].toSorted()).toEqual(paths(description).toSorted());
    const mounted = own.filter(({ method }) => method !== "ALL").map(({ path, method }) => `${method} ${shown(path)}`);
    const told = description.operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect(told.toSorted()).toEqual(mounted.toSorted());
  });

  test("has a name, a summary and a group for each operation, and each part of a path", async () => {
    await using server = made(all());
    const { operations } = await Description.of(server);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operationId, summary, tags, path, parameters, responses } of operations) {
      expect([operationId, /^[a-z][A-Za-z]+$/.test(operationId)]).toEqual([operationId, true]);
      expect(summary).toMatch(/^[A-Z].*[^.]$/);
      expect(tags).toHaveLength(1);
      const named = parameters.filter((each) => each.in === "path");
      expect(named.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(named.every(({ required }) => required)).toBe(true);
      expect(Object.keys(responses)[0]).toMatch(/^2/);
    }
  });

  test("has the addresses that the server has", async () => {
    await using server = made();
    const without = paths(await Description.of(server));
    await using other = made(signingIn());
    const rest = paths(await Description.of(other)).filter((path) => !without.includes(path));
    expect([...new Set(rest.map((path) => path.split("/")[1] ?? ""))].toSorted()).toEqual([
      ".well-known",
      "chat",
      "files",
      "metrics",
    ]);
  });

  test("says below which path they are", async () => {
    await using server = made({ base: "/a/b/" });
    const { document } = await Description.of(server, "/a/b/");
    expect(document["servers"]).toEqual([{ url: "/a/b" }]);
    await using other = made();
    expect((await Description.of(other)).document["servers"]).toEqual([{ url: "/" }]);
  });

  test("says which need no session, and so it is", async () => {
    await using server = made(all());
    const { operations } = await Description.of(server);
    const open: string[] = [];
    for (const { operationId, path, method, security } of operations) {
      const address = path.replaceAll(/\{\w+\}/g, "x");
      const init = { method: method.toUpperCase(), headers: { "content-type": "application/json" } };
      const { status } = await server.fetch(new Request(`${HERE}${address}`, init));
      if (status !== 401) open.push(operationId);
      expect([operationId, status !== 401]).toEqual([operationId, security?.length === 0]);
    }
    expect(open).toEqual(["showMetrics", "checkHealth", "checkReadiness", "describeServer", "beginSession"]);
  });

  test("says where access tokens come from, where users have them, and so it is", async () => {
    await using server = made({ ...signingIn(), sources: [program("lab")] });
    const description = await Description.of(server);
    for (const [id, source] of [
      ["describeResource", undefined],
      ["describeMcpResource", "lab"],
    ] as const) {
      const [path] = description.request(id, source === undefined ? {} : { path: { source } });
      const resource = source === undefined ? "https://sluice.example/" : `https://sluice.example/mcp/${source}`;
      expect(await description.answered(id, await server.fetch(new Request(`${HERE}${path}`)))).toMatchObject({
        resource,
        authorization_servers: ["https://id.example"],
      });
    }
  });
});

describe("its address", () => {
  const ask = (server: SluiceServer, path = "/openapi.json", init: RequestInit = {}): Promise<Response> =>
    server.fetch(new Request(`${HERE}${path}`, init));

  test("is answered without a session, and again only where it is another one", async () => {
    await using server = made();
    const first = await ask(server);
    const { headers } = first;
    expect([first.status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
      200,
      "application/json",
      "no-cache",
    ]);
    for (const [name, value] of Object.entries(SAFETY)) expect(headers.get(name)).toBe(value);
    expect(headers.getSetCookie()).toEqual([]);
    const tag = headers.get("etag") ?? "";
    const again = await ask(server, "/openapi.json", { headers: { "if-none-match": `"x", ${tag}` } });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", tag]);
    const head = await ask(server, "/openapi.json", { method: "HEAD" });
    expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", tag]);
    await using other = made(all());
    expect((await ask(other)).headers.get("etag")).not.toBe(tag);
  });

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])("takes no %s", async (method) => {
    await using server = made();
    const response = await ask(server, "/openapi.json", { method, ...(method === "POST" && { body: "{}" }) });
    expect([response.headers.get("allow"), ...(await refused(response))]).toEqual([
      "GET, HEAD",
      405,
      "E_INVALID_ARGUMENT",
    ]);
  });

  test.each<[string, Record<string, string>]>([
    ["a foreign host name", { host: "evil.example" }],
    ["a host name that begins with ours", { host: "127.0.0.1.evil.example" }],
    ["another origin", { origin: "https://evil.example" }],
    ["no origin at all", { origin: "null" }],
    ["a page elsewhere", { "sec-fetch-site": "cross-site" }],
    ["a link elsewhere", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }],
  ])("is refused to %s", async (_, headers) => {
    await using server = made();
    expect(await refused(await ask(server, "/openapi.json", { headers }))).toEqual([403, "E_FORBIDDEN"]);
  });

  test("is read by a page of a configured origin", async () => {
    const origin = "https://app.example";
    await using server = made({ origins: [origin] });
    const { status, headers } = await ask(server, "/openapi.json", { headers: { origin } });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([200, origin]);
  });

  test.each([
    ["/openapi.json/x", 401],
    ["/openapi.jsonx", 401],
    ["/OPENAPI.JSON", 401],
    ["/openapi", 401],
    ["//openapi.json", 401],
    ["/openapi.json%2f..%2fartifacts", 401],
    ["/openapi.json%00", 401],
    ["/openapi.json;x", 401],
    ["/artifacts/..%2fopenapi.json", 401],
    ["/openapi.json/../artifacts", 401],
    ["/openapi.json/..%5cartifacts", 401],
    // The same address.
    ["/openapi.json/", 200],
    ["/x/../openapi.json", 200],
    ["/openapi.json?trace=*&token=x", 200],
  ])("opens nothing else: %s", async (path, status) => {
    await using server = made();
    expect((await ask(server, path)).status).toBe(status);
  });

  test("is refused while the server closes", async () => {
    const server = made();
    await server[Symbol.asyncDispose]();
    const response = await ask(server);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await refused(response)).toEqual([503, "E_STORE_CLOSED"]);
  });

  test("says the same to everybody, and nothing of how the server is configured", async () => {
    const mark = "k7qz2xw9";
    const { server } = served({
      ...all(),
      sources: [program(`source${mark}`, `"/opt/${mark}/program" --token ${mark}`, { description: mark })],
      secret: mark.repeat(8),
      publicUrl: `https://${mark}.example/`,
      hosts: [`${mark}.internal`],
      origins: [`https://${mark}.app`],
      instructions: mark,
      authenticate: byHeaders,
    });
    const ada = await Visitor.of(server, { user: mark });
    const bob = await Visitor.of(server, { user: "bob" });
    await ada.upload(mark, `?filename=${mark}.txt&trace=${mark}`);
    const stranger = await (await ask(server)).text();
    for (const visitor of [ada, bob]) expect(await (await visitor.ask("/openapi.json")).text()).toBe(stranger);
    const forwarded = { "x-forwarded-host": mark, "x-user": mark, cookie: `sluice_session_8080=${ada.token}` };
    expect(await (await ask(server, `/openapi.json?${mark}`, { headers: forwarded })).text()).toBe(stranger);
    expect(stranger).not.toContain(mark);
    for (const place of [process.cwd(), import.meta.dirname, process.version]) {
      expect(stranger).not.toContain(place);
    }
    expect(stranger).not.toMatch(/tenant_id|user_id|session_id|trace_id|"scope"|file:\/\/|https?:\/\//);
    expect(stranger.length).toBeLessThan(100_000);
  });
});
