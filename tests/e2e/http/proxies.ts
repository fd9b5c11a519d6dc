/**
 * Proxies that listen, the servers behind them, and requests as a client writes them.
 * @module
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type Served, started } from "../../unit/cli/serve/serving.js";
import type { Message } from "../script.js";

/** The fixture as a command. */
export const FIXTURE: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL("../fixture/stdio.mjs", import.meta.url)),
];

/** Something that serves HTTP until it is disposed of. */
export type Serving = Pick<Served, "url" | "said" | "process" | typeof Symbol.asyncDispose>;

/** Starts `sluice proxy --listen`, on a free port where nothing else is said. */
export function listening(
  args: readonly string[],
  env: Record<string, string> = {},
  address = "127.0.0.1:0",
): Promise<Serving> {
  return serving(["proxy", "--listen", address, ...args], env);
}

/** Starts a command that listens, which has time to end what it started. */
export function serving(args: readonly string[], env: Record<string, string> = {}): Promise<Serving> {
  return started(args, env, "SIGTERM");
}

/** A server for pages: where it speaks MCP to one session, and by which header that is known. */
export interface Offered extends Serving {
  readonly headers: Readonly<Record<string, string>>;
}

/** Starts `sluice serve` in front of a command, on a free port, and begins a session. */
export async function offered(command: readonly string[] = FIXTURE, options: readonly string[] = []): Promise<Offered> {
  const served = await serving(["serve", "--listen", "127.0.0.1:0", ...options, "--", ...command]);
  const headers = await begun(served.url);
  const { sources } = (await (await fetch(`${served.url}sources`, { headers })).json()) as {
    sources: readonly { name: string }[];
  };
  const url = `${served.url}mcp/${sources[0]?.name ?? ""}`;
  return { ...served, url, headers };
}

/** Begins a session of the server at a URL, which ends with `/`. */
async function begun(home: string): Promise<Readonly<Record<string, string>>> {
  const response = await fetch(`${home}sessions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"token": true}',
  });
  const { token } = (await response.json()) as { token: string };
  return { authorization: `Bearer ${token}` };
}

/** A server of the test's own. */
export interface Upstream extends AsyncDisposable {
  readonly url: string;
}

/** Answers every request by a function; the body comes as text. */
export async function upstream(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void | Promise<void>,
): Promise<Upstream> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      await answer(request, response, body);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with JSON. */
export function json(response: ServerResponse, message: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(message));
}

/** Sends a message. */
export function post(url: string, message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
}

/** The messages of a response, whichever way it carries them. */
export async function messagesOf(response: Response): Promise<readonly Message[]> {
  const text = await response.text();
  if (!/event-stream/.test(response.headers.get("content-type") ?? "")) return [JSON.parse(text)].flat() as Message[];
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data ?? "") as Message);
}

const PREFIX = "io.modelcontextprotocol/";

/** A request of 2026-07-28 with its headers. */
export function modern(id: string | number, method: string, params: Message = {}): [Message, Record<string, string>] {
  const meta = { [`${PREFIX}protocolVersion`]: "2026-07-28", [`${PREFIX}clientCapabilities`]: {} };
  const message = { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } };
  const headers: Record<string, string> = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
  if (typeof params["name"] === "string") headers["mcp-name"] = params["name"];
  return [message, headers];
}

/** Begins a session of 2025-11-25; gives the headers of what follows, with those that are wanted anyway. */
export async function session(
  url: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "http", version: "1.0.0" } };
  const response = await post(url, { jsonrpc: "2.0", id: "begin", method: "initialize", params }, more);
  await response.text();
  const headers = {
    ...more,
    "mcp-session-id": response.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, headers);
  return headers;
}

/** A call of a tool as a message. */
export function calling(id: string | number, name: string, args: Message = {}): Message {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
}
