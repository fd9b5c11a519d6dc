/**
 * An HTTP API for pages, described by an OpenAPI document and by a UTCP manual.
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyOf, forPages, listen, type Elsewhere } from "./elsewhere.js";

/** The token that `/me` wants. */
export const TOKEN = "t0ken";

/** Every byte there is, many times over, in no order that a text could have. */
export const NOISE: Buffer = Buffer.from(
  Array.from({ length: 300_000 }, (_, at) => (at * 167 + (at >> 8) * 31) & 0xff),
);

const OK = { 200: { description: "As asked for" } };

const OPENAPI = {
  openapi: "3.1.0",
  info: { title: "Files", version: "1" },
  paths: {
    "/files/{name}": {
      get: {
        operationId: "get_file",
        parameters: [{ name: "name", in: "path", required: true, schema: { type: "string" } }],
        responses: OK,
      },
    },
    "/echo": {
      post: {
        operationId: "echo",
        requestBody: { required: true, content: { "application/json": { schema: { type: "object" } } } },
        responses: OK,
      },
    },
    "/me": { get: { operationId: "me", responses: OK } },
    "/moved": { get: { operationId: "moved", responses: OK } },
    "/busy": { get: { operationId: "busy", responses: OK } },
  },
};

function manualAt(origin: string): object {
  const template = { call_template_type: "http", http_method: "GET" };
  const inputs = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  return {
    utcp_version: "1.0.1",
    manual_version: "1.0.0",
    tools: [
      { name: "file", inputs, tool_call_template: { ...template, url: `${origin}/files/{name}` } },
      {
        name: "lines",
        tool_call_template: { ...template, call_template_type: "streamable_http", url: `${origin}/lines` },
      },
    ],
  };
}

/** Serves `/openapi.json`, `/utcp.json` and what they describe. */
export async function serveApi(): Promise<Elsewhere> {
  let isBusy = false;
  async function answer(request: IncomingMessage, response: ServerResponse, origin: string): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", origin);
    const json = (value: unknown): void => {
      response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    };
    if (pathname === "/openapi.json") json(OPENAPI);
    else if (pathname === "/utcp.json") json(manualAt(origin));
    else if (pathname.startsWith("/files/")) {
      response.setHeader("content-type", "application/octet-stream");
      response.setHeader("content-disposition", 'attachment; filename="noise of today.bin"');
      response.end(NOISE);
    } else if (pathname === "/echo") json(JSON.parse(await bodyOf(request)));
    else if (pathname === "/me") json({ isKnown: request.headers.authorization === `Bearer ${TOKEN}` });
    else if (pathname === "/moved") response.writeHead(302, { location: "/files/noise.bin" }).end();
    else if (pathname === "/lines") {
      response.setHeader("content-type", "application/x-ndjson").write('{"n":1}\n');
      response.end('{"n":2}\n');
    } else if (pathname === "/busy") {
      isBusy = !isBusy;
      if (isBusy) response.writeHead(429, { "retry-after": "1" }).end();
      else json({ isBusy });
    } else response.writeHead(404).end();
  }
  return listen((origin) => forPages((...exchange) => void answer(...exchange, origin)));
}
