/**
 * A real HTTP server for a test, and a source that speaks to it.
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../../web/src/artifacts/store.js";
import type { AnswerOptions, Sluice, Transformed } from "../../../../web/src/core/types.js";
import { createSluice } from "../../../../web/src/index.js";
import { httpSource } from "../../../../web/src/tools/sources/http/source.js";
import type { HttpDeps } from "../../../../web/src/tools/sources/document-source.js";
import type { SourceCall, SourceConnection, SourceResult, ToolSource } from "../../../../web/src/tools/source.js";
import type { SourceTool } from "../../../../web/src/tools/source-features.js";
import { serveForTest } from "../serve.js";

/** A request as the server got it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server that answers by path. */
export interface Api {
  /** Without a slash at its end. */
  readonly origin: string;
  readonly seen: Seen[];
}

export type Handler = (request: Seen, response: ServerResponse) => void;

/** Listens until the test is over. */
export async function api(handle: Handler): Promise<Api> {
  const seen: Seen[] = [];
  const origin = await serveForTest((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://localhost");
      const one: Seen = {
        method: request.method ?? "",
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(pieces).toString(),
      };
      seen.push(one);
      handle(one, response);
    });
  });
  return { origin, seen };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}

/** A gate and its store. */
export async function gate(): Promise<{ sluice: Sluice; store: ArtifactStore }> {
  const store = new MemoryArtifactStore({ retention: null });
  return { sluice: await createSluice({ store }), store };
}

/** Opens a source until the test is over. */
export async function opened(
  source: ToolSource,
  authorize: () => Promise<Record<string, string>> = async () => ({}),
): Promise<SourceConnection> {
  const connection = await source.open({ authorize, signal: new AbortController().signal, onNotice: () => undefined });
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return connection;
}

/** A source's result, written as it was asked for. */
export interface Told {
  readonly reduced: Transformed;
  readonly isError: boolean;
}

/** Writes the answer of a result, and lets go of it. */
export async function told({ gated, isError }: SourceResult, options?: AnswerOptions): Promise<Told> {
  await using held = gated;
  return { reduced: await held.answer(options), isError };
}

/** Calls a tool for nobody in particular. */
export async function called(
  connection: SourceConnection,
  tool: string,
  args: Record<string, unknown> = {},
  { readResource, ...options }: Partial<SourceCall> & Pick<AnswerOptions, "readResource"> = {},
): Promise<Told> {
  const { signal } = new AbortController();
  const call = { tool, args, dialect: "observation", keepOriginal: 0, scope: {}, signal, ...options } as const;
  return told(await connection.call(call), readResource === undefined ? {} : { readResource });
}

/** A UTCP manual of HTTP tools, each with its call template. */
export function manual(tools: Record<string, Record<string, unknown>>): Record<string, unknown> {
  return {
    utcp_version: "1.0.1",
    manual_version: "1.0.0",
    tools: Object.entries(tools).map(([name, { inputs = {}, description = "", ...template }]) => ({
      name,
      description,
      inputs,
      tool_call_template: { call_template_type: "http", ...template },
    })),
  };
}

/** The tools of a source. */
export function list(source: SourceConnection): Promise<readonly SourceTool[]> {
  return source.tools(new AbortController().signal);
}

/** The names of them. */
export async function names(source: SourceConnection): Promise<string[]> {
  return (await list(source)).map(({ name }) => name);
}

/** What something fails with; a text where it does not. */
export function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "no error",
    (error: unknown) => error,
  );
}

/** A source whose manual is at `/utcp` of the server that answers its tools, as a rule with what it was asked. */
export async function served(
  tools: (origin: string) => Record<string, Record<string, unknown>>,
  handle: Handler = echo,
  deps: Partial<HttpDeps> = {},
  authorize?: () => Promise<Record<string, string>>,
): Promise<{
  readonly server: Api;
  readonly source: SourceConnection;
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
}> {
  const server = await api((request, response) => {
    if (request.path === "/utcp") sendJson(response, manual(tools(server.origin)));
    else handle(request, response);
  });
  const { sluice, store } = await gate();
  const connection = `${server.origin}/utcp`;
  return {
    server,
    source: await opened(httpSource({ name: "my_api", connection, sluice, ...deps }), authorize),
    sluice,
    store,
  };
}

function echo({ query, ...request }: Seen, response: ServerResponse): void {
  sendJson(response, { ...request, query: [...query] });
}
