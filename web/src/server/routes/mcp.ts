/**
 * `/mcp` and `/raw`: each source as an MCP server over Streamable HTTP.
 * @module
 */
import type { Hono } from "hono";
import { z } from "zod";
import type { InSession, ServeEnv } from "../http/context.js";
import { refusal } from "../http/answers.js";
import { nothingThere } from "../http/refusals.js";
import { McpHeader } from "../../mcp/http/headers.js";
import type { McpGateway, McpWay } from "../mcp/gateway.js";
import { whileValid } from "../access/protected-resource.js";
import type { ServedSources } from "../sources/served-sources.js";
import {
  answerEither,
  answerJson,
  answerEmpty,
  declareOperation,
  type Passed,
  mountRoutes,
  describeStream,
} from "../http/operation.js";

const SOURCE = z.object({ source: z.string().describe("The source's name.") });
const HEADERS = {
  Accept: "`application/json, text/event-stream`, as MCP wants it.",
  [McpHeader.session]: "The session of MCP, from the answer to `initialize`.",
  [McpHeader.version]: "The revision that was agreed on.",
  [McpHeader.lastEventId]: "The id of the last event that was received.",
};
const MESSAGE = z.unknown().describe("A message of MCP.");
/** Most bytes of a message: what is larger, the source itself refuses. */
const BODY: Passed = { schema: MESSAGE, most: 8 * 1024 * 1024 };

interface McpRouteDeps {
  readonly mcp: Pick<McpGateway, "answer">;
  readonly sources: Pick<ServedSources, "names">;
}

/** Each source as an MCP server, whose results are reduced. */
export function mcpRoutes(deps: McpRouteDeps): Hono<ServeEnv> {
  return routesFor(
    "mcp",
    "Mcp",
    "Streamable HTTP of MCP, for any client. Results are reduced as a proxy reduces them.",
    deps,
  );
}

/** The same with results as the source answered, for the page that this server serves. */
export function rawRoutes(deps: McpRouteDeps): Hono<ServeEnv> {
  const description =
    "The same as `mcp/{source}`, with results as the source answered: for this server's own page, which has the gate itself.";
  return routesFor("raw", "RawMcp", description, deps);
}

function routesFor(way: McpWay, name: string, description: string, { mcp, sources }: McpRouteDeps): Hono<ServeEnv> {
  const answer = async (c: InSession): Promise<Response> => {
    const source = c.req.param("source") ?? "";
    if (way === "raw" && c.get("isPage") !== true) return notThePage();
    if (!sources.names.includes(source)) return nothingThere();
    return whileValid(c.req.raw, await mcp.answer(way, source, c.req.raw, c.get("session")), c.get("until"));
  };
  const refusals = way === "raw" ? ([403, 404] as const) : ([404] as const);
  const common = { path: SOURCE, headers: HEADERS, refusals, handle: answer };
  return mountRoutes({
    "/:source": {
      get: declareOperation({
        ...common,
        id: `listen${name}`,
        summary: `Listen to a source over MCP${way === "raw" ? ", unreduced" : ""}`,
        answers: { 200: describeStream(MESSAGE, "Messages of MCP, as Streamable HTTP has them.") },
      }),
      post: declareOperation({
        ...common,
        id: `send${name}`,
        summary: `Send a message to a source over MCP${way === "raw" ? ", unreduced" : ""}`,
        description,
        body: BODY,
        answers: {
          200: answerEither(
            answerJson(MESSAGE, "The answer."),
            describeStream(MESSAGE, "Messages, and last the answer."),
          ),
          202: answerEmpty("The message was a notification or an answer."),
        },
      }),
      delete: declareOperation({
        ...common,
        id: `end${name}`,
        summary: `End a session of MCP${way === "raw" ? ", unreduced" : ""}`,
        answers: { 200: answerEmpty("The session has ended.") },
      }),
      otherwise: answer,
    },
  });
}

function notThePage(): Response {
  return refusal(403, "E_FORBIDDEN", "This is for the page of this server alone: connect to mcp/{source}.");
}
