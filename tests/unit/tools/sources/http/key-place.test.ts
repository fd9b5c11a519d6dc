/** Where a key goes: where the description says, and into a header where nothing says. */
import { expect, onTestFinished, test } from "vitest";
import { ToolNode } from "../../../../../web/src/tools.js";
import { api, manual, sendJson } from "../api.js";

interface Told {
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
}

/** What a server is told of the key. */
async function told(document: (origin: string) => unknown, auth: Record<string, unknown> = {}): Promise<Told> {
  const server = await api(({ path, query, headers }, response) => {
    if (path === "/openapi.json") return sendJson(response, document(server.origin));
    const those = Object.entries(headers).filter(([, value]) => String(value).includes("k3y"));
    sendJson(response, { query: Object.fromEntries(query), headers: Object.fromEntries(those) });
  });
  const connection = `${server.origin}/openapi.json`;
  const config = { name: "shop", transport: "http", connection, auth_type: "api_key" } as const;
  const node = new ToolNode({ ...config, auth_config: { api_key: "k3y", ...auth } });
  onTestFinished(() => node.close());
  await node.connect();
  return (await node.call("pets")).value as Told;
}

const description = (scheme?: Record<string, unknown>) => () => ({
  openapi: "3.1.0",
  paths: { "/pets": { get: { operationId: "pets" } } },
  ...(scheme !== undefined && { security: [{ key: [] }], components: { securitySchemes: { key: scheme } } }),
});

test.each<[string, Record<string, unknown> | undefined, Record<string, string>, Told]>([
  ["nothing", undefined, {}, { query: {}, headers: { "x-api-key": "k3y" } }],
  ["a query", { type: "apiKey", in: "query", name: "key" }, {}, { query: { key: "k3y" }, headers: {} }],
  ["a header", { type: "apiKey", in: "header", name: "X-Shop" }, {}, { query: {}, headers: { "x-shop": "k3y" } }],
  ["a cookie", { type: "apiKey", in: "cookie", name: "sid" }, {}, { query: {}, headers: { cookie: "sid=k3y" } }],
  ["a bearer", { type: "http", scheme: "bearer" }, {}, { query: {}, headers: { authorization: "Bearer k3y" } }],
  ["a token's server", { type: "oauth2", flows: {} }, {}, { query: {}, headers: { "x-api-key": "k3y" } }],
  [
    "a query, and the configuration a header",
    { type: "apiKey", in: "query", name: "key" },
    { header: "X-Mine" },
    { query: {}, headers: { "x-mine": "k3y" } },
  ],
])("a description that says %s", async (_, scheme, auth, expected) => {
  expect(await told(description(scheme), auth)).toEqual(expected);
});

test("a manual's own key is another, and goes along", async () => {
  const auth = { auth_type: "api_key", api_key: "other", var_name: "appid", location: "query" };
  const { query, headers } = await told((origin) => manual({ pets: { url: `${origin}/pets`, auth } }));
  expect(query).toEqual({ appid: "other" });
  expect(headers).toEqual({ "x-api-key": "k3y" });
});
