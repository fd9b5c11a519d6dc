/** Sources whose users have tokens of their own: who is needed to read what describes them. */
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../../web/src/artifacts/memory.js";
import type { OAuthManager } from "../../../../../web/src/tools/auth/oauth-manager.js";
import type { ExternalToolConfig } from "../../../../../web/src/tools/config/config.js";
import type { ToolContext } from "../../../../../web/src/tools/options.js";
import { ToolNode } from "../../../../../web/src/tools.js";
import { consent, startAuthorizationServer, type TestAuthorizationServer } from "../../auth/authorization-server.js";
import { connect, managerOf } from "../../auth/consenting.js";
import { api, failure, manual, sendJson, type Api } from "../api.js";

const USERS = { user_id: "ada" };

/** An API with a document, whose operations look at each token; to `public` everybody may read the document. */
async function setting(isPublic: boolean): Promise<{
  readonly server: Api;
  readonly authorization: TestAuthorizationServer;
  readonly manager: OAuthManager;
  readonly source: (config?: Partial<ExternalToolConfig>) => ToolNode;
  readonly person: (user_id: string, refuses?: boolean) => { readonly context: ToolContext; readonly asked: unknown[] };
}> {
  const authorization = await startAuthorizationServer();
  onTestFinished(() => authorization[Symbol.asyncDispose]());
  const paths = { "/who": { get: { operationId: "who" } } };
  const documents: Readonly<Record<string, () => unknown>> = {
    "/openapi.json": () => ({ openapi: "3.1.0", paths }),
    "/utcp.json": () => manual({ who: { url: `${server.origin}/who` } }),
  };
  const server = await api(({ path, headers }, response) => {
    const document = documents[path];
    if (document !== undefined && isPublic) return sendJson(response, document());
    const answer = async (): Promise<void> => {
      const who = await authorization.owner(headers.authorization?.replace("Bearer ", "") ?? "");
      if (who === null) response.writeHead(path === "/utcp.json" ? 403 : 401).end();
      else sendJson(response, document?.() ?? { who });
    };
    void answer();
  });
  const manager = managerOf(authorization);
  const source = (config: Partial<ExternalToolConfig> = {}): ToolNode => {
    const rest = { auth_type: "oauth2_user", auth_config: { provider: "files" }, ...config } as const;
    const node = new ToolNode(
      { name: "far", transport: "http", connection: `${server.origin}/openapi.json`, ...rest },
      { store: new MemoryArtifactStore(), authManager: manager },
    );
    onTestFinished(() => node.close());
    return node;
  };
  const person = (user_id: string, refuses = false): { context: ToolContext; asked: unknown[] } => {
    const asked: unknown[] = [];
    const pause: ToolContext["pause"] = async (_, payload) => {
      asked.push(payload);
      const callback = await consent(payload["auth_url"] as string, { login: user_id, refuses });
      if (!refuses) await manager.handleCallback(callback, { user: user_id });
    };
    return { context: { scope: { user_id }, pause }, asked };
  };
  return { server, authorization, manager, source, person };
}

const tokensSent = ({ seen }: Api): unknown[] => seen.map(({ path, headers }) => [path, headers.authorization ?? null]);
const isTold = ({ seen }: Api): boolean[] => seen.map(({ headers }) => headers.authorization !== undefined);

describe.each<[string, Partial<ExternalToolConfig>]>([
  ["an OpenAPI description", {}],
  ["a UTCP manual", { transport: "utcp", connection: "/utcp.json" }],
])("%s that everybody may read", (_, { connection, ...config }) => {
  test("is read without a user, and is told no token", async () => {
    const { server, source, person } = await setting(true);
    const node = source({ ...config, ...(connection !== undefined && { connection: server.origin + connection }) });
    await node.connect();
    expect(node.getTools().map(({ name }) => name)).toContain("far.who");
    const ada = person("ada");
    expect((await node.call("who", {}, ada.context)).value).toEqual({ who: "ada" });
    expect(ada.asked).toHaveLength(1);
    // The description, hers as well, and the call.
    expect(isTold(server)).toEqual([false, false, true]);
  });

  test("is told no token of a user who has one, and nobody is asked for it", async () => {
    const { server, manager, source, person } = await setting(true);
    await connect(manager, "ada");
    const eve = person("eve");
    for (const context of [{ scope: USERS }, eve.context, { scope: { user_id: "dan" } }]) {
      const node = source({ ...config, ...(connection !== undefined && { connection: server.origin + connection }) });
      await node.connect(context);
    }
    expect(eve.asked).toEqual([]);
    expect(isTold(server)).toEqual([false, false, false]);
  });
});

test("a call for nobody is refused, and one for somebody who cannot be asked", async () => {
  const { server, source } = await setting(true);
  const node = source();
  await node.connect();
  expect(await failure(node.call("who"))).toMatchObject({
    code: "E_TOOL_AUTH",
    message: expect.stringContaining("scope.user_id"),
  });
  expect(await failure(node.call("who", {}, { scope: USERS }))).toMatchObject({
    code: "E_TOOL_AUTH",
    message: expect.stringContaining("cannot be asked here"),
  });
  expect(isTold(server)).not.toContain(true);
});

test("a token that was taken back is asked for anew, and the call goes on", async () => {
  const { manager, source, person } = await setting(true);
  const node = source();
  await node.connect();
  const ada = person("ada");
  await node.call("who", {}, ada.context);
  await manager.forget("ada", "files");
  expect((await node.call("who", {}, ada.context)).value).toEqual({ who: "ada" });
  expect(ada.asked).toHaveLength(2);
});

test("many calls at once without a token ask once", async () => {
  const { source, person } = await setting(true);
  const node = source();
  await node.connect();
  const ada = person("ada");
  const answers = await Promise.all(Array.from({ length: 5 }, () => node.call("who", {}, ada.context)));
  expect(answers.map(({ value }) => value)).toEqual(Array.from({ length: 5 }, () => ({ who: "ada" })));
  expect(ada.asked).toHaveLength(1);
});

describe.each<[string, Partial<ExternalToolConfig>]>([
  ["an OpenAPI description (401)", {}],
  ["a UTCP manual (403)", { transport: "utcp", connection: "/utcp.json" }],
])("%s that is not given to everybody", (_, { connection, ...config }) => {
  test("is read with the token of whoever connects", async () => {
    const { server, manager, source, person } = await setting(false);
    const more = { ...config, ...(connection !== undefined && { connection: server.origin + connection }) };
    const ada = person("ada");
    const node = source(more);
    await node.connect(ada.context);
    expect(node.getTools().map(({ name }) => name)).toContain("far.who");
    expect(ada.asked).toHaveLength(1);
    const token = `Bearer ${await manager.getToken("ada", "files")}`;
    const path = new URL(more.connection ?? `${server.origin}/openapi.json`).pathname;
    // Without a token first, and again once she consented.
    expect(tokensSent(server).slice(-2)).toEqual([
      [path, null],
      [path, token],
    ]);
    const seen = server.seen.length;
    await source(more).connect({ scope: USERS });
    expect(tokensSent(server).slice(seen)).toEqual([
      [path, null],
      [path, token],
    ]);
  });

  test("is an error that says so where nobody is named, cannot be asked, or refuses", async () => {
    const { server, source, person } = await setting(false);
    const more = { ...config, ...(connection !== undefined && { connection: server.origin + connection }) };
    const eve = person("eve", true);
    const errors = [{}, { scope: USERS }, eve.context].map((context) => failure(source(more).connect(context)));
    expect(await Promise.all(errors)).toMatchObject([
      { code: "E_TOOL_AUTH", message: expect.stringContaining("context of connect") },
      { code: "E_TOOL_AUTH", message: expect.stringContaining("cannot be asked here") },
      { code: "E_TOOL_AUTH", message: expect.stringContaining("did not give access") },
    ]);
    expect(eve.asked).toHaveLength(1);
    expect(isTold(server)).not.toContain(true);
  });
});

test("an address that may be no document's needs nobody", async () => {
  const { server, source } = await setting(false);
  const node = source({ connection: `${server.origin}/who` });
  await node.connect();
  expect(node.getTools().map(({ name }) => name)).toContain("far.post");
});

test("a document in the configuration needs nobody either", async () => {
  const { server, source, person } = await setting(false);
  const connection = JSON.stringify(manual({ who: { url: `${server.origin}/who` } }));
  const node = source({ transport: "utcp", connection });
  await node.connect();
  expect(server.seen).toEqual([]);
  expect((await node.call("who", {}, person("ada").context)).value).toEqual({ who: "ada" });
});
