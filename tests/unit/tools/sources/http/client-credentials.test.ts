/** `auth_type: "oauth2"` of a call template: a token for the client itself. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { ToolNode, type ExternalToolConfig } from "../../../../../web/src/tools-node.js";
import { SECRET, startAuthorizationServer, type TestAuthorizationServer } from "../../auth/authorization-server.js";
import { api, failure, manual, sendJson, type Api } from "../api.js";
import { answer, isCall, listening, refuse } from "../mcp/http-server.js";

/** An authorization server, and an API that lets in whoever has a token of it. */
async function setting(lifetime = 3600): Promise<{
  readonly authorization: TestAuthorizationServer;
  readonly server: Api;
  readonly token_url: string;
  /** Tokens that the API takes no more. */
  readonly taken: Set<string>;
}> {
  const authorization = await startAuthorizationServer({ lifetime });
  onTestFinished(() => authorization[Symbol.asyncDispose]());
  const taken = new Set<string>();
  const server = await api(({ headers }, response) => {
    const answering = async (): Promise<void> => {
      const token = headers.authorization?.replace("Bearer ", "") ?? "";
      const who = await authorization.machine(token);
      if (who === null || taken.has(token)) response.writeHead(401).end();
      else sendJson(response, who);
    };
    void answering();
  });
  return { authorization, server, token_url: `${authorization.issuer}/token`, taken };
}

async function connected(config: Partial<ExternalToolConfig>): Promise<ToolNode> {
  const node = new ToolNode({ name: "api", transport: "utcp", connection: "", ...config });
  onTestFinished(() => node.close());
  await node.connect();
  return node;
}

const AUTH = { auth_type: "oauth2", client_id: "${id}", client_secret: "${secret}" };
const auth_config = { id: "machine", secret: SECRET };

function inline(url: string, token_url: string, more: Record<string, unknown> = {}): Promise<ToolNode> {
  const tools = {
    get: { url, auth: { ...AUTH, token_url, ...more } },
    again: { url, auth: { ...AUTH, token_url, ...more } },
  };
  return connected({ connection: JSON.stringify(manual(tools)), auth_config });
}

test("is asked for once, with variables of auth_config, and sent as a bearer token", async () => {
  const { server, token_url, authorization } = await setting();
  const node = await inline(server.origin, token_url, { scope: "files.read" });
  const calls = await Promise.all(["get", "again", "get"].map((name) => node.call(name)));
  expect(calls.map(({ value }) => value)).toEqual(calls.map(() => ({ client: "machine", scope: "files.read" })));
  await node.call("get");
  expect(authorization.asked.map((body) => body.get("grant_type"))).toEqual(["client_credentials"]);
});

test("is asked for in the other way where the first is not known", async () => {
  const { server, token_url } = await setting();
  const node = await inline(server.origin, token_url, { client_id: "basic-machine" });
  expect((await node.call("get")).value).toMatchObject({ client: "basic-machine" });
});

test("is asked for anew once where the API takes it no more, and when it has ended", async () => {
  const { server, token_url, taken, authorization } = await setting();
  const node = await inline(server.origin, token_url);
  await node.call("get");
  taken.add(server.seen[0]?.headers.authorization?.replace("Bearer ", "") ?? "");
  expect((await node.call("get")).value).toMatchObject({ client: "machine" });
  expect(authorization.asked).toHaveLength(2);
  taken.has = () => true;
  expect(await failure(node.call("get"))).toMatchObject({ code: "E_TOOL_AUTH", status: 401 });
  expect(authorization.asked).toHaveLength(3);
});

test("one whose time is over is not sent", async () => {
  const { server, token_url, authorization } = await setting(1);
  const node = await inline(server.origin, token_url);
  await node.call("get");
  const first = server.seen[0]?.headers.authorization;
  await expect
    .poll(
      async () => {
        await node.call("get");
        return server.seen.at(-1)?.headers.authorization === first;
      },
      { timeout: 10_000 },
    )
    .toBe(false);
  expect(authorization.asked.length).toBeGreaterThan(1);
});

test("that is refused is an error without the secret, and the API is not asked", async () => {
  const { server, token_url } = await setting();
  const node = await inline(server.origin, token_url, { client_secret: "wr0ng" });
  const error = await failure(node.call("get"));
  expect(error).toMatchObject({ code: "E_TOOL_AUTH", message: expect.stringContaining("refused us") as string });
  expect(String(error)).not.toContain("wr0ng");
  expect(server.seen).toEqual([]);
});

test("goes to WebSockets and MCP servers too, and is renewed there", async () => {
  const { token_url, authorization } = await setting();
  const auth = { ...AUTH, token_url };
  const good = async (header = ""): Promise<boolean> =>
    (await authorization.machine(header.replace("Bearer ", ""))) !== null && !refused.has(header);
  const refused = new Set<string>();
  const sockets = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    verifyClient: ({ req }, done) => {
      const deciding = async (): Promise<void> => done(await good(req.headers.authorization), 401);
      void deciding();
    },
  });
  await once(sockets, "listening");
  onTestFinished(() => sockets.close());
  let used = "";
  sockets.on("connection", (socket, request) => {
    used = request.headers.authorization ?? "";
    socket.on("message", () => socket.send("in"));
  });
  await using mcp = await listening("legacy", async (came) => {
    if (!(await good(came.request.headers.authorization))) return refuse(came, 401);
    if (isCall(came)) answer(came, { content: [{ type: "text", text: "in" }] });
    return isCall(came);
  });
  const tools = {
    socket: {
      call_template_type: "websocket",
      url: `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`,
      auth,
    },
    mcp: { call_template_type: "mcp", config: { mcpServers: { s: { url: mcp.url } } }, auth },
  };
  const node = await connected({ connection: JSON.stringify(manual(tools)), auth_config });
  for (const tool of ["socket", "mcp"]) expect((await node.call(tool)).value).toBe("in");
  refused.add(used);
  for (const tool of ["socket", "mcp"]) expect((await node.call(tool)).value).toBe("in");
  expect(authorization.asked).toHaveLength(2);
});

test("of a fetched manual the secret goes to its own origin, and to no other that is not trusted", async () => {
  const { server, token_url, authorization } = await setting();
  const { host, origin } = new URL(token_url);
  const from = await api(({ path }, response) => {
    if (path === "/token") sendJson(response, { access_token: "t0ken", token_type: "Bearer" });
    else if (path !== "/utcp") sendJson(response, { own: true });
    else {
      const own = `${from.origin}/get`;
      const near = { ...AUTH, token_url: `${from.origin}/token` };
      const far = { ...AUTH, token_url };
      sendJson(response, manual({ near: { url: own, auth: near }, far: { url: own, auth: far } }));
    }
  });
  const connection = `${from.origin}/utcp`;
  const node = await connected({ connection, auth_config, allowed_hosts: [host] });
  expect((await node.call("near")).value).toEqual({ own: true });
  expect(await failure(node.call("far"))).toMatchObject({
    code: "E_TOOL_CONFIG",
    message: expect.stringContaining("trusted_origins does not name") as string,
  });
  expect(authorization.asked).toEqual([]);
  const trusting = await connected({ connection, auth_config, trusted_origins: [origin] });
  expect((await trusting.call("far")).value).toEqual({ own: true });
  expect(authorization.asked).toHaveLength(1);
  expect(server.seen).toEqual([]);
});

test("the flow of an OpenAPI description asks with the client of auth_config, for what the operation needs", async () => {
  const { server, token_url } = await setting();
  const flows = { clientCredentials: { tokenUrl: token_url, scopes: { "files.read": "", "files.write": "" } } };
  const description = {
    openapi: "3.1.0",
    servers: [{ url: server.origin }],
    paths: { "/get": { get: { operationId: "get", security: [{ machine: ["files.read"] }] } } },
    components: { securitySchemes: { machine: { type: "oauth2", flows } } },
  };
  const connection = JSON.stringify(description);
  const trusted_origins = [new URL(token_url).origin];
  const own = { client_id: "machine", client_secret: SECRET };
  const node = await connected({ transport: "http", connection, auth_config: own, trusted_origins });
  expect((await node.call("get")).value).toEqual({ client: "machine", scope: "files.read" });
});
