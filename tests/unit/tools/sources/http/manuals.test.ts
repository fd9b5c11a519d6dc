/** UTCP manuals, and how a connection is read. */
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../../web/src/artifacts/memory.js";
import { ToolNode } from "../../../../../web/src/tools.js";
import type { OAuthManager } from "../../../../../web/src/tools/auth/oauth-manager.js";
import type { ExternalToolConfig } from "../../../../../web/src/tools/config/config.js";
import type { ToolContext } from "../../../../../web/src/tools/context.js";
import type { SourceConnection } from "../../../../../web/src/tools/source.js";
import { httpSource } from "../../../../../web/src/tools/sources/http/source.js";
import { consent, startAuthorizationServer, type TestAuthorizationServer } from "../../auth/authorization-server.js";
import { connect, managerOf } from "../../auth/consenting.js";
import { api, type Api, called, failure, gate, list, manual, names, opened, sendJson } from "../api.js";

describe("manuals", () => {
  /** Opens what is the configuration's own manual. */
  async function open(document: unknown): Promise<SourceConnection> {
    const { sluice } = await gate();
    const connection = typeof document === "string" ? document : JSON.stringify(document);
    return opened(httpSource({ name: "api", connection, sluice }));
  }

  describe("manuals", () => {
    const template = { call_template_type: "http", url: "https://x.example" };

    test("schemas and descriptions are handed on whole, without Python's nulls", async () => {
      const inputs = {
        type: "object",
        properties: { a: { type: "string", description: null, default: null, "x-own": 1 } },
        required: ["a"],
      };
      const source = await open({
        utcp_version: "1.0.1",
        manual_version: "1",
        tools: [
          {
            name: "api.a.b",
            description: "does it",
            inputs,
            outputs: null,
            tags: null,
            average_response_size: null,
            tool_call_template: { ...template, name: null, auth: null, headers: null, header_fields: null },
          },
        ],
      });
      expect(await list(source)).toEqual([
        {
          name: "b",
          description: "does it",
          input_schema: {
            type: "object",
            properties: { a: { type: "string", default: null, "x-own": 1 } },
            required: ["a"],
          },
          isReadOnly: true,
          isRepeatable: true,
        },
      ]);
    });

    test("a tool has the last part of its name, as what stands in front is its manual's", async () => {
      const tools = ["get", "shop.list", "other.users.add", "api.drop"].map((name) => ({
        name,
        tool_call_template: template,
      }));
      expect(await names(await open({ tools }))).toEqual(["get", "list", "add", "drop"]);
    });

    test("of several with the same name none is offered, and all are named", async () => {
      const tools = ["users.get", "orders.get", "list"].map((name) => ({ name, tool_call_template: template }));
      const source = await open({ tools });
      expect(await names(source)).toEqual(["list"]);
      const reason = "another tool of the manual has the same name";
      expect(source.leftOut).toEqual(["users.get", "orders.get"].map((name) => ({ name, type: "http", reason })));
    });

    test("tools of other types are left out, and commands are never run", async () => {
      const cli = {
        name: "rm",
        tool_call_template: { call_template_type: "cli", commands: [{ command: "touch ran" }] },
      };
      expect(await names(await open({ tools: [cli, { name: "get", tool_call_template: template }] }))).toEqual(["get"]);
      expect(await failure(open({ tools: [cli] }))).toMatchObject({ code: "E_TOOL_UNSUPPORTED" });
    });

    test.each([
      [{ tools: [1] }, "tools[0]"],
      [{ tools: [{ tool_call_template: template }] }, "tools[0].name"],
      [{ tools: [{ name: "a" }] }, "tools[0].tool_call_template"],
      [{ tools: [{ name: "a", tool_call_template: {} }] }, "call_template_type"],
      [{ tools: [{ name: "a", tool_call_template: { ...template, url: 1 } }] }, "tools[0].tool_call_template.url"],
      [
        { tools: [{ name: "a", tool_call_template: { ...template, auth: { auth_type: "s3cret" } } }] },
        "tool_call_template.auth",
      ],
      [{ tools: [{ name: "a", inputs: 1, tool_call_template: template }] }, "tools[0].inputs"],
      [
        {
          tools: [
            { name: "a", tool_call_template: template },
            { name: "a", tool_call_template: template },
          ],
        },
        "same name",
      ],
      [
        { tools: Array.from({ length: 2_001 }, (_, n) => ({ name: `t${n}`, tool_call_template: template })) },
        "more than 2000",
      ],
      [{ nothing: true }, "no document"],
      [`{"tools":[],"x":${"[".repeat(300)}${"]".repeat(300)}}`, "deeper than 100"],
    ])("%j is refused with its place", async (document, message) => {
      const error = await failure(open(document));
      expect(error).toMatchObject({
        code: "E_TOOL_CONFIG",
        message: expect.stringContaining(message) as string,
        isRetryable: false,
      });
      expect(String(error)).not.toContain("s3cret");
    });

    test("YAML, its bombs and its size", async () => {
      expect(
        await names(
          await open(
            "tools:\n  - name: a\n    tool_call_template: {call_template_type: http, url: 'https://x.example'}\n",
          ),
        ),
      ).toEqual(["a"]);
      const bomb = ["a0: &a0 [x]", ...Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`)];
      expect(await failure(open(`tools: []\n${bomb.join("\n")}\n`))).toMatchObject({ code: "E_TOOL_CONFIG" });
      expect(await failure(open(`tools: []\nx: ${"y".repeat(2_200_000)}\n`))).toMatchObject({
        message: expect.stringContaining("too large") as string,
      });
    });

    test("of more than 16 MiB are not read to their end", async () => {
      const server = await api((_, response) => {
        response.setHeader("content-type", "application/json").write('{"tools":["');
        const piece = Buffer.alloc(1024 * 1024, "x");
        const more = (): void => void (response.writable && response.write(piece, () => setImmediate(more)));
        more();
      });
      const { sluice } = await gate();
      const error = await failure(opened(httpSource({ name: "api", connection: `${server.origin}/utcp`, sluice })));
      expect(error).toMatchObject({ message: expect.stringContaining("too large") as string });
    });

    test("are asked for again when the tools are", async () => {
      let count = 0;
      const server = await api((_, response) => {
        count += 1;
        sendJson(response, manual({ [`tool_${count}`]: { url: server.origin } }));
      });
      const { sluice } = await gate();
      const source = await opened(httpSource({ name: "api", connection: `${server.origin}/utcp`, sluice }));
      expect(await names(source)).toEqual(["tool_1"]);
      expect(await names(source)).toEqual(["tool_2"]);
    });
  });

  async function answers(document: unknown, status = 200): Promise<{ readonly origin: string }> {
    const server = await api((_, response) => {
      const written: unknown =
        typeof document === "function" ? (document as (own: string) => unknown)(server.origin) : document;
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(written));
    });
    return server;
  }

  async function openAt(connection: string, utcp_mode: "auto" | "manual_url" | "base_url" = "auto"): Promise<string[]> {
    const { sluice } = await gate();
    return names(await opened(httpSource({ name: "api", connection, sluice, utcp_mode })));
  }

  describe("how a connection is read", () => {
    test("auto: a manual wherever one is found, else one tool that sends POST requests", async () => {
      const { origin } = await answers((own: string) => manual({ get: { url: own } }));
      expect(await openAt(origin)).toEqual(["get"]);
      expect(await openAt(`${origin}/.well-known/utcp`)).toEqual(["get"]);
      expect(await openAt((await answers({ hello: 1 })).origin)).toEqual(["post"]);
      expect(await openAt((await answers({}, 404)).origin)).toEqual(["post"]);
      expect(await openAt((await answers({}, 401)).origin)).toEqual(["post"]);
      expect(await failure(openAt((await answers({}, 503)).origin))).toMatchObject({ code: "E_TOOL_SERVER" });
      expect(await failure(openAt(`${(await answers({ hello: 1 })).origin}/openapi.json`))).toMatchObject({
        code: "E_TOOL_CONFIG",
      });
      expect(await failure(openAt(`${(await answers({}, 404)).origin}/utcp`))).toMatchObject({ code: "E_TOOL_CLIENT" });
    });

    test("manual_url insists on one, base_url does not ask", async () => {
      expect(await failure(openAt((await answers({ hello: 1 })).origin, "manual_url"))).toMatchObject({
        code: "E_TOOL_CONFIG",
      });
      const server = await api(({ method, query, body }, response) =>
        sendJson(response, { method, query: [...query], body }),
      );
      const { sluice } = await gate();
      const source = await opened(
        httpSource({ name: "api", connection: `${server.origin}/v1`, utcp_mode: "base_url", sluice }),
      );
      expect(server.seen).toHaveLength(0);
      const { reduced } = await called(source, "post", { body: { a: 1 }, page: 2 });
      expect(reduced.value).toEqual({ method: "POST", query: [["page", "2"]], body: '{"a":1}' });
    });
  });
});

/** Sources whose users have tokens of their own: who is needed to read what describes them. */
describe("public documents", () => {
  const USERS = { user_id: "ada" };

  /** An API with a document, whose operations look at each token; to `public` everybody may read the document. */
  async function setting(isPublic: boolean): Promise<{
    readonly server: Api;
    readonly authorization: TestAuthorizationServer;
    readonly manager: OAuthManager;
    readonly source: (config?: Partial<ExternalToolConfig>) => ToolNode;
    readonly person: (
      user_id: string,
      refuses?: boolean,
    ) => { readonly context: ToolContext; readonly asked: unknown[] };
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

  const tokensSent = ({ seen }: Api): unknown[] =>
    seen.map(({ path, headers }) => [path, headers.authorization ?? null]);
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

  test("a call without a user is refused, and one for a user who cannot be asked", async () => {
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
});
