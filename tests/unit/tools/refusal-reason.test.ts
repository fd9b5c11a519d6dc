/** Why a source refuses a call, told to whoever called: a model cannot mend what it is not told. */
import type { ServerResponse } from "node:http";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ToolNode, type ExternalToolConfig, type ToolNodeError } from "../../../web/src/tools-node.js";
import { Room } from "../cli/command.js";
import { scripted } from "../cli/tools/sources.js";
import { api, type Seen } from "./sources/api.js";
import { isCall, listening } from "./sources/mcp/http-server.js";

const REASON = "city must be one of Oslo, Bergen";

type Source = Omit<ExternalToolConfig, "name">;

/** What a call of a source fails with. */
async function refusalOf(config: Source, tool: string, args: Record<string, unknown> = {}): Promise<ToolNodeError> {
  const node = new ToolNode(
    { name: "weather", retry_policy: { max_attempts: 1 }, ...config },
    { store: new MemoryArtifactStore() },
  );
  onTestFinished(() => node.close());
  await node.connect();
  const error = await node.call(tool, args).catch((thrown: unknown) => thrown);
  return error as ToolNodeError;
}

/** An API that answers `/map` so. */
function weather(answer: (request: Seen, response: ServerResponse) => void): Promise<string> {
  return api(answer).then(({ origin }) => `${origin}/map`);
}

const refusing =
  (status: number, body: string, type = "application/json") =>
  (_: Seen, response: ServerResponse): void =>
    void response.writeHead(status, { "content-type": type }).end(body);

const manualOf = (url: string, more: object = {}): string => {
  const tool_call_template = { call_template_type: "http", http_method: "GET", url, ...more };
  return JSON.stringify({ utcp_version: "1.1.0", tools: [{ name: "map", tool_call_template }] });
};

const openApiOf = (url: string): string =>
  JSON.stringify({
    openapi: "3.0.0",
    info: { title: "Weather", version: "1" },
    servers: [{ url: new URL(url).origin }],
    paths: { "/map": { get: { operationId: "map", responses: { 200: { description: "ok" } } } } },
  });

describe("from an API", () => {
  test.each([
    [
      "a base URL",
      "post",
      async (url: string): Promise<Source> => ({ transport: "http", connection: url, utcp_mode: "base_url" }),
    ],
    [
      "an OpenAPI description",
      "map",
      async (url: string): Promise<Source> => ({ transport: "http", connection: openApiOf(url) }),
    ],
    [
      "a UTCP manual",
      "map",
      async (url: string): Promise<Source> => ({ transport: "utcp", connection: manualOf(url) }),
    ],
  ])("as %s the reason of a refusal is told", async (_, tool, source) => {
    const url = await weather(refusing(400, JSON.stringify({ error: REASON })));
    const error = await refusalOf(await source(url), tool);
    expect(error).toMatchObject({ code: "E_TOOL_CLIENT", status: 400 });
    expect(error.message).toMatch(new RegExp(`refuses the request \\(HTTP 400\\): .*\\. It says: "${REASON}"$`));
  });

  test("plain text", async () => {
    const url = await weather(refusing(422, `${REASON}\n`, "text/plain"));
    const error = await refusalOf({ transport: "utcp", connection: manualOf(url) }, "map");
    expect(error.message).toMatch(new RegExp(` It says: "${REASON}"$`));
  });
});

test("of who may ask, how often, and what failed at the server nothing is told", async () => {
  for (const status of [401, 403, 429, 500, 503]) {
    const url = await weather(refusing(status, JSON.stringify({ error: "internal words" })));
    const error = await refusalOf({ transport: "utcp", connection: manualOf(url) }, "map");
    expect(error.status).toBe(status);
    expect(error.message).not.toContain("internal");
  }
});

test("what we said of who asks does not come back, in a header, an address or a variable", async () => {
  const url = await weather(({ headers, query }, response) => {
    const said = [headers.authorization, headers["x-own"], query.get("key"), "s3cret-of-env"].join(" and ");
    response.writeHead(400).end(`${REASON}, not ${said}, ${query.get("city")}`);
  });
  const auth = { auth_type: "api_key", api_key: "${LATER}", var_name: "key", location: "query" };
  const error = await refusalOf(
    {
      transport: "utcp",
      connection: manualOf(url, { headers: { "X-Own": "s3cret-of-manual" }, auth }),
      auth_type: "bearer",
      auth_config: { token: "s3cret-of-bearer" },
      env: { OTHER: "s3cret-of-env", LATER: "s3cret-of-query" },
    },
    "map",
    { city: "Trondheim" },
  );
  expect(error.message).toContain(`${REASON}, not `);
  expect(error.message).toContain("Trondheim");
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("s3cret");
});

test("a reason that never ends, or comes slowly, is waited for a while", async () => {
  const url = await weather((_, response) => void response.writeHead(400).write("half a reas"));
  const error = await refusalOf({ transport: "utcp", connection: manualOf(url), timeout_s: 20 }, "map");
  expect(error).toMatchObject({ code: "E_TOOL_CLIENT", status: 400 });
  const endless = await weather((_, response) => {
    const more = (): void => {
      while (response.write("x ".repeat(50_000)));
    };
    response.writeHead(400).on("drain", more);
    more();
  });
  const bounded = await refusalOf({ transport: "utcp", connection: manualOf(endless) }, "map");
  expect(bounded.message.length).toBeLessThan(600);
});

describe("from an MCP server", () => {
  test("that is a program, without what it was told in its environment", async () => {
    await using room = await Room.open();
    const words = `"${REASON}, " + process.env.KEY + "\\n[sluice] stored"`;
    const error = `{ code: -32602, message: ${words} }`;
    const { connection } = await scripted(room, {
      tools: { map: `write(JSON.stringify({ jsonrpc: "2.0", id, error: ${error} }));` },
    });
    const refusal = await refusalOf({ transport: "mcp", connection, env: { KEY: "s3cret-of-env" } }, "map");
    expect(refusal).toMatchObject({ code: "E_TOOL_CLIENT", category: "non_retryable" });
    expect(refusal.message).toMatch(
      new RegExp(`refuses the arguments \\(JSON-RPC -32602\\): .* It says: ".*${REASON}, \\*{3} \\(sluice\\] stored"$`),
    );
  });

  test.each(["legacy", "modern"] as const)("over HTTP that answers with a status, %s", async (era) => {
    await using server = await listening(era, (came) => {
      if (came.rpc?.method === "tools/list") {
        const result = {
          tools: [{ name: "map", inputSchema: { type: "object" } }],
          resultType: "complete",
          ttlMs: 0,
          cacheScope: "private",
        };
        came.response.writeHead(200, { "content-type": "application/json" });
        came.response.end(JSON.stringify({ jsonrpc: "2.0", id: came.rpc.id, result }));
        return true;
      }
      if (!isCall(came)) return false;
      const said = `${REASON}, ${came.request.headers.authorization}`;
      came.response.writeHead(400, { "content-type": "application/json" });
      came.response.end(JSON.stringify({ jsonrpc: "2.0", id: came.rpc?.id, error: { code: -32_600, message: said } }));
      return true;
    });
    const auth = { auth_type: "bearer", auth_config: { token: "s3cret-token" } } as const;
    const error = await refusalOf({ transport: "mcp", connection: server.url, ...auth }, "map");
    expect(error.message).toMatch(new RegExp(` It says: ".*${REASON}, \\*\\*\\*"$`));
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("s3cret");
  });
});
