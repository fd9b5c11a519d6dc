/** Who gets the metrics of a server and of a proxy, and who does not. */
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { metricsPlace } from "../../../web/src/cli/proxy/metrics-listener.js";
import { ListenGuard, serveHttp } from "../../../web/src/cli/proxy/http-listener.js";
import { MemoryArtifactStore } from "../../../web/src/index.js";
import { SluiceServer, type SluiceServerOptions } from "../../../web/src/serve.js";

const TOKEN = "token-of-the-scrape-1";
const HERE = "http://127.0.0.1:4751";

/** A server with these options, and a way to ask it. */
function server(options: Partial<SluiceServerOptions>): (path: string, init?: RequestInit) => Promise<Response> {
  const made = new SluiceServer({ store: new MemoryArtifactStore(), ...options });
  return (path, init) => made.fetch(new Request(`${HERE}/${path}`, init));
}

test("a server offers them only if it is told to", async () => {
  const answer = await server({})("metrics");
  // As any other address that needs a session or is not there.
  expect(answer.status).toBe(404);
});

test("they are text for Prometheus, need no session, and are not kept by anybody", async () => {
  const ask = server({ metrics: {} });
  await ask("health");
  await ask("metrics");
  await ask("health");
  const answer = await ask("metrics");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  const text = await answer.text();
  expect(text).toMatch(/^http_server_request_duration_seconds_count\{[^}]*http_route="\/health"[^}]*\} \d+$/m);
  expect(text).toMatch(/^process_memory_usage_bytes \d+$/m);
});

test.each([
  ["none", undefined],
  ["another", "Bearer another-token-of-it"],
  ["a part", `Bearer ${TOKEN.slice(0, -1)}`],
  ["more", `Bearer ${TOKEN}1`],
  ["an empty one", "Bearer "],
  ["another scheme", `Basic ${TOKEN}`],
  ["two", `Bearer ${TOKEN}, Bearer ${TOKEN}`],
  ["an endless one", `Bearer ${"x".repeat(100_000)}`],
])("with a token, a scrape with %s is refused", async (_, authorization) => {
  const ask = server({ metrics: { token: TOKEN } });
  const answer = await ask("metrics", { headers: authorization === undefined ? {} : { authorization } });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toContain("Bearer");
  expect(await answer.text()).not.toContain("process_memory_usage_bytes");
});

test("with a token, a scrape that has it is answered, and its session's token opens nothing", async () => {
  const ask = server({ metrics: { token: TOKEN } });
  expect((await ask("metrics", { headers: { authorization: `bearer ${TOKEN}` } })).status).toBe(200);
  expect((await ask("artifacts", { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(401);
});

test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s is refused", async (method) => {
  const answer = await server({ metrics: {} })("metrics", { method });
  expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, "GET, HEAD"]);
});

test.each([
  [{ host: "evil.example" }],
  [{ host: "127.0.0.1.evil.example" }],
  [{ origin: "https://evil.example" }],
  [{ "sec-fetch-site": "cross-site" }],
])("a page that reaches the address by %j is refused", async (headers) => {
  const made = new SluiceServer({ store: new MemoryArtifactStore(), metrics: {} });
  const asked = new Request(`${HERE}/metrics`);
  Object.defineProperty(asked, "headers", { value: new Headers(headers as Record<string, string>) });
  expect((await made.fetch(asked)).status).toBe(403);
});

test("pages of other origins that may use the server do not read them", async () => {
  const ask = server({ metrics: {}, origins: ["https://app.example"] });
  const answer = await ask("metrics", { headers: { origin: "https://app.example" } });
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
});

test("where they are: here, elsewhere, or nowhere", () => {
  const local = { host: "127.0.0.1", isOpen: true };
  expect(metricsPlace(undefined, {}, "serve", local)).toEqual({});
  expect(metricsPlace(undefined, {}, "serve", { ...local, isOpen: false })).toBeUndefined();
  expect(metricsPlace(undefined, {}, "serve", { host: "0.0.0.0", isOpen: true })).toBeUndefined();
  const env = { SLUICE_METRICS_TOKEN: TOKEN };
  expect(metricsPlace(undefined, env, "serve", { host: "0.0.0.0", isOpen: false })).toEqual({ token: TOKEN });
  const address = { host: "10.0.0.1", port: 9464 };
  expect(metricsPlace("10.0.0.1:9464", {}, "serve", local)).toEqual({ address });
  expect(metricsPlace("10.0.0.1:9464", env, "serve", local)).toEqual({ address, token: TOKEN });
  for (const token of ["", "short"]) {
    expect(() => metricsPlace(undefined, { SLUICE_METRICS_TOKEN: token }, "serve", local)).toThrow(
      "SLUICE_METRICS_TOKEN needs at least 16 characters",
    );
  }
  expect(() => metricsPlace("9464", {}, "serve", local)).toThrow("--metrics needs HOST:PORT");
});

let proxy: Awaited<ReturnType<typeof serveHttp>>;

beforeAll(async () => {
  const address = { host: "127.0.0.1", port: 0 };
  const guard = new ListenGuard(address, "token-of-the-proxy-1");
  proxy = await serveHttp(address, {
    guard,
    handler: async () => new Response("the server's"),
    metrics: { token: TOKEN },
  });
});

afterAll(() => proxy[Symbol.asyncDispose]());

/** The status of a request to the proxy, whatever its headers. */
function status(path: string, headers: Readonly<Record<string, string>>, method = "GET"): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port: proxy.port, path, method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on("error", reject).end();
  });
}

test("a proxy's metrics have their token, and the server has its own", async () => {
  const [metrics, own] = [{ authorization: `Bearer ${TOKEN}` }, { authorization: "Bearer token-of-the-proxy-1" }];
  expect(await status("/metrics", metrics)).toBe(200);
  expect(await status("/metrics?a=b", metrics)).toBe(200);
  expect(await status("/metrics", own)).toBe(401);
  expect(await status("/metrics", {})).toBe(401);
  expect(await status("/metrics", metrics, "POST")).toBe(405);
  expect(await status("/metrics", { ...metrics, host: "evil.example" })).toBe(403);
  expect(await status("/metrics", { ...metrics, origin: "https://evil.example" })).toBe(403);
  for (const path of ["/mcp", "/metrics/", "//metrics", "/Metrics", "/metrics%2f"]) {
    expect([path, await status(path, metrics)]).toEqual([path, 401]);
    expect([path, await status(path, own)]).toEqual([path, 200]);
  }
});
