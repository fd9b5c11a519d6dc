/**
 * `sluice serve` as a child process, and sessions of it.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { COMMAND, ROOT } from "../command.js";

/** A real server that speaks MCP on its standard streams. */
export const EVERYTHING: readonly string[] = [
  process.execPath,
  join(ROOT, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"),
];

/** Something that serves until it is disposed of. */
export interface Served extends AsyncDisposable {
  /** Ends with `/`. */
  readonly url: string;
  readonly process: ChildProcess;
  /** What it wrote on standard error. */
  readonly said: () => string;
  /** Ends it by a signal; gives its exit code and signal. */
  readonly end: (signal: NodeJS.Signals) => Promise<readonly [number | null, NodeJS.Signals | null]>;
}

/** Starts it on a free port, unless the words say where. Throws with what it said where it does not listen. */
export function serve(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const where = args.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"];
  return started(["serve", ...where, ...args], env);
}

/** Starts a command that listens. `last`: the signal that it is sent when it is disposed of. */
export async function started(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  last: NodeJS.Signals = "SIGKILL",
): Promise<Served> {
  const child = spawn(process.execPath, [COMMAND, ...words], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...env },
  });
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  let said = "";
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`;
    url = /^sluice: listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  if (url === undefined) throw new Error(`it ended before it listened: ${said}`);
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.resume();
  const end: Served["end"] = async (signal) => {
    child.kill(signal);
    return ended;
  };
  return {
    url,
    process: child,
    said: () => said,
    end,
    [Symbol.asyncDispose]: async () => void (await end(last)),
  };
}

/** A session of a server. */
export interface Session {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Asks for a path below the server's. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
}

const JSON_TYPE = { "content-type": "application/json" };

/** Begins a session at a server. Throws with the answer where that is refused. */
export async function begin(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Session> {
  const begun = await fetch(`${url}sessions`, {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: '{"token": true}',
  });
  if (begun.status !== 201) throw new Error(`${begun.status}: ${await begun.text()}`);
  const { id, token } = (await begun.json()) as { id: string; token: string };
  const own = { authorization: `Bearer ${token}` };
  return {
    id,
    headers: own,
    ask: (path, init = {}) => fetch(`${url}${path}`, { ...init, headers: { ...own, ...(init.headers as object) } }),
  };
}

/** The same as the page of the server, whose browser has a cookie. */
export async function beginAsPage(url: string): Promise<Session> {
  const begun = await fetch(`${url}sessions`, { method: "POST", headers: JSON_TYPE, body: "{}" });
  const { id } = (await begun.json()) as { id: string };
  const own = {
    cookie: begun.headers
      .getSetCookie()
      .map((each) => each.split(";", 1)[0])
      .join("; "),
  };
  return {
    id,
    headers: own,
    ask: (path, init = {}) => fetch(`${url}${path}`, { ...init, headers: { ...own, ...(init.headers as object) } }),
  };
}

/** Stores bytes; gives the artifact's id. */
export async function stored({ ask }: Session, bytes: Uint8Array, type = "application/octet-stream"): Promise<string> {
  const answer = await ask("artifacts?filename=some.bin", {
    method: "POST",
    headers: { "content-type": type },
    body: bytes as BodyInit,
  });
  const { artifact } = (await answer.json()) as { artifact: { id: string } };
  return artifact.id;
}

/** Calls a tool to its end; gives the observation. */
export async function called({ ask }: Session, tool: string, args: object): Promise<unknown> {
  const answer = await ask(`tools/${tool}`, {
    method: "POST",
    headers: { ...JSON_TYPE, accept: "application/json" },
    body: JSON.stringify({ args }),
  });
  return answer.json();
}

/** Posts a message of MCP. */
export function posted(
  { ask }: Session,
  source: string,
  message: object,
  headers: Readonly<Record<string, string>> = {},
  way: "mcp" | "raw" = "mcp",
): Promise<Response> {
  return ask(`${way}/${source}`, {
    method: "POST",
    headers: { ...JSON_TYPE, accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
}

/** Begins a session of MCP; gives the headers of what follows. */
export async function initialized(
  session: Session,
  source: string,
  way: "mcp" | "raw" = "mcp",
): Promise<Readonly<Record<string, string>>> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const answer = await posted(session, source, { id: 0, method: "initialize", params }, {}, way);
  await answer.text();
  const headers = {
    "mcp-session-id": answer.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  await (await posted(session, source, { method: "notifications/initialized" }, headers, way)).text();
  return headers;
}

/** The answer to a request with headers that `fetch` does not let one set, such as Host. */
export async function asked(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
  text = "",
): Promise<{ readonly status: number; readonly body: string; readonly headers: IncomingMessage["headers"] }> {
  const sent = request(url, { method, headers });
  sent.end(text);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let body = "";
  for await (const piece of response) body += String(piece);
  return { status: response.statusCode ?? 0, body, headers: response.headers };
}

/** Processes of this machine that have a word in their command line. */
export async function withWord(word: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return lines.filter((line) => line.includes(word)).length;
}
