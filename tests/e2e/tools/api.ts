/**
 * An HTTP API with files, described by an OpenAPI document and by a UTCP manual.
 * @module
 */
import { type IncomingMessage, type ServerResponse } from "node:http";
import type { ExternalToolConfig } from "../../../web/src/tools-node.js";
import { serveForTest } from "../../unit/tools/serve.js";
import { FILES } from "../servers/folder.js";

/** The key that it wants. */
export const KEY = "s3cret-key";

/** A running API. */
export interface Api {
  readonly url: string;
  /** Statuses that the next requests are refused with; "half" of an answer is sent, and then the connection ends. */
  readonly refuses: (
    | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
    | { readonly status: "half" }
  )[];
  /** Paths that were asked for, in order. */
  readonly asked: string[];
  /** What its manual is, in place of the right one. */
  manual: string | undefined;
}

/** What describes it. */
export type Kind = "OpenAPI" | "UTCP";

/** A source of it; `FILES_KEY` is its key. */
export function sourceOf(kind: Kind, { url }: Api): ExternalToolConfig {
  return {
    name: "files",
    ...(kind === "OpenAPI"
      ? { transport: "http", connection: `${url}/openapi.json` }
      : { transport: "utcp", connection: `${url}/utcp.json`, utcp_mode: "manual_url" }),
    auth_type: "api_key",
    auth_config: { api_key: "${FILES_KEY}" },
    retry_policy: { wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 },
  };
}

const TYPES: Readonly<Record<keyof typeof FILES, string>> = {
  "report.pdf": "application/pdf",
  "photo.png": "image/png",
  "sound.wav": "audio/wav",
  "noise.bin": "application/octet-stream",
};

/** Serves it until the test is over. */
export async function serveApi(): Promise<Api> {
  const url = await serveForTest((request, response) => void answer(request, response));
  const api: Api = { url, refuses: [], asked: [], manual: undefined };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", url);
    api.asked.push(pathname);
    const body = await bodyOf(request);
    if (pathname === "/openapi.json") return json(response, OPENAPI);
    if (pathname === "/utcp.json") {
      response.setHeader("content-type", "application/json").end(api.manual ?? JSON.stringify(manualOf(url)));
      return;
    }
    const refusal = api.refuses.shift();
    if (refusal !== undefined && refusal.status !== "half") {
      response.writeHead(refusal.status, refusal.headers ?? {}).end("hunter2");
      return;
    }
    if (request.headers["x-api-key"] !== KEY) return void response.writeHead(401).end();
    const name = decodeURIComponent(pathname.slice("/files/".length)) as keyof typeof FILES;
    if (pathname.startsWith("/files/") && name in FILES) {
      const bytes = FILES[name];
      response.setHeader("content-type", TYPES[name]).setHeader("content-length", bytes.length);
      if (refusal === undefined) response.end(bytes);
      else response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    } else if (pathname === "/rows") {
      json(response, { rows: [{ name: "photo.png", content: FILES["photo.png"].toString("base64") }] });
    } else if (pathname === "/echo") {
      json(response, JSON.parse(body) as unknown);
    } else response.writeHead(404).end();
  }
  return api;
}

function json(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const NAME = { name: "name", in: "path", required: true, schema: { type: "string" } };
const OK = { 200: { description: "As asked for" } };

const OPENAPI = {
  openapi: "3.1.0",
  info: { title: "Files", version: "1" },
  paths: {
    "/files/{name}": { get: { operationId: "get_file", summary: "A file", parameters: [NAME], responses: OK } },
    "/rows": { get: { operationId: "rows", responses: OK } },
    "/echo": {
      post: {
        operationId: "echo",
        requestBody: { required: true, content: { "application/json": { schema: { type: "object" } } } },
        responses: OK,
      },
    },
  },
};

function manualOf(url: string): object {
  const auth = { auth_type: "api_key", api_key: "${api_key}", var_name: "X-API-Key", location: "header" };
  const template = { call_template_type: "http", http_method: "GET", auth };
  return {
    utcp_version: "1.0.1",
    manual_version: "1.0.0",
    tools: [
      {
        name: "get_file",
        description: "A file",
        inputs: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        tool_call_template: { ...template, url: `${url}/files/{name}` },
      },
      { name: "rows", description: "", inputs: {}, tool_call_template: { ...template, url: `${url}/rows` } },
    ],
  };
}
