/**
 * Clients behind each way that messages take, which keep all that they are told.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import {
  gateFetch,
  GatedStdioTransport,
  MemoryArtifactStore,
  wrapClient,
  type SluiceConfig,
} from "../../../web/src/node.js";
import { serving } from "../../e2e/http/proxies.js";
import { COMMAND as SLUICE } from "../cli/command.js";

type Message = Readonly<Record<string, unknown>>;

/** What a server says to a request of a method, as `saying.mjs` reads it. */
export type Sayings = Readonly<
  Record<string, { readonly before?: readonly Message[]; readonly result?: unknown; readonly error?: unknown }>
>;

/** A client that has introduced itself. */
export interface Listener extends AsyncDisposable {
  /** Messages that it was told since the last request, as JSON text. Those of the introduction are the first. */
  ask(method: string, params: Message): Promise<readonly string[]>;
}

/** A way for messages, whose client introduces itself by a name. */
export interface MessageWay {
  readonly name: string;
  /** Whether its client is one of an SDK, which has a schema for each message and knows none of other methods. */
  readonly isTyped?: boolean;
  listen(at: Saying, client: string, config?: SluiceConfig): Promise<Listener>;
}

/** A server that says what it is told to. */
export interface Saying extends AsyncDisposable {
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly url: string;
  say(sayings: Sayings): Promise<void>;
}

const SERVER = fileURLToPath(new URL("saying.mjs", import.meta.url));

/** Starts the server over HTTP; over stdio each way starts its own. */
export async function startSaying(folder: string): Promise<Saying> {
  const file = join(folder, "says.json");
  const env = { SUITE_SAYS: file };
  await writeFile(file, "{}");
  const child = spawn(process.execPath, [SERVER, "http"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    folder,
    env,
    url: `${url}/mcp`,
    say: (sayings) => writeFile(file, JSON.stringify(sayings)),
    [Symbol.asyncDispose]: async () => void child.kill(),
  };
}

const REVISION = "2025-11-25";

function introduction(name: string): Message {
  const capabilities = { sampling: {}, elicitation: { form: {} } };
  return { protocolVersion: REVISION, capabilities, clientInfo: { name, version: "9.9.9" } };
}

/** Whoever waits for the message with an id, and all that came before it. */
class Inbox {
  #lines: string[] = [];
  readonly #waiting = new Map<number, () => void>();
  #lastId = 0;

  take(line: string): void {
    this.#lines.push(line);
    const { id, method } = JSON.parse(line) as { readonly id?: number; readonly method?: string };
    if (id !== undefined && method === undefined) this.#waiting.get(id)?.();
  }

  /** Sends a request, and gives everything that came until its answer. */
  async ask(method: string, params: Message, send: (message: Message) => Promise<unknown>): Promise<readonly string[]> {
    const id = (this.#lastId += 1);
    const answered = new Promise<void>((resolve) => this.#waiting.set(id, resolve));
    await send({ jsonrpc: "2.0", id, method, params });
    await answered;
    return this.#lines.splice(0);
  }
}

/** Introduces a client, and keeps what that brought for the first request. */
async function introduced(
  ask: (method: string, params: Message) => Promise<readonly string[]>,
  tell: (message: Message) => Promise<unknown>,
  client: string,
): Promise<Listener["ask"]> {
  let first = await ask("initialize", introduction(client));
  await tell({ jsonrpc: "2.0", method: "notifications/initialized" });
  return async (method, params) => {
    const told = [...first, ...(await ask(method, params))];
    first = [];
    return told;
  };
}

/** A store, and a configuration where there is one, as options of the command. */
async function proxyOptions({ folder }: Saying, config?: SluiceConfig): Promise<readonly string[]> {
  const store = await mkdtemp(join(folder, "store-"));
  if (config === undefined) return ["--store", store];
  const file = `${store}.json`;
  await writeFile(file, JSON.stringify(config));
  return ["--store", store, "--config", file];
}

function overLines(args: (at: Saying) => readonly string[]): MessageWay["listen"] {
  return async (at, client, config) => {
    const child = spawn(process.execPath, [SLUICE, "proxy", ...(await proxyOptions(at, config)), ...args(at)], {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, ...at.env },
    });
    const inbox = new Inbox();
    createInterface({ input: child.stdout }).on("line", (line) => inbox.take(line));
    const send = async (message: Message): Promise<void> => void child.stdin.write(`${JSON.stringify(message)}\n`);
    const ask = await introduced((method, params) => inbox.ask(method, params, send), send, client);
    return { ask, [Symbol.asyncDispose]: async () => void child.kill() };
  };
}

/** A client of Streamable HTTP, with what comes in each answer's stream. */
async function overHttp(url: string, fetched: typeof fetch, client: string): Promise<Listener["ask"]> {
  let lastId = 0;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": REVISION,
  };
  const post = async (message: Message): Promise<readonly string[]> => {
    const response = await fetched(url, { method: "POST", headers, body: JSON.stringify(message) });
    const session = response.headers.get("mcp-session-id");
    if (session !== null) headers["mcp-session-id"] = session;
    const text = await response.text();
    const isStream = (response.headers.get("content-type") ?? "").includes("event-stream");
    return isStream ? [...text.matchAll(/^data: ?(\S.*)$/gm)].map(([, data]) => data ?? "") : [text];
  };
  const ask = (method: string, params: Message): Promise<readonly string[]> =>
    post({ jsonrpc: "2.0", id: (lastId += 1), method, params });
  return introduced(ask, post, client);
}

function listening(args: (at: Saying) => readonly string[]): MessageWay["listen"] {
  return async (at, client, config) => {
    const store = await proxyOptions(at, config);
    const service = await serving(["proxy", "--listen", "127.0.0.1:0", ...store, ...args(at)], at.env);
    const ask = await overHttp(service.url, fetch, client);
    return { ask, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
  };
}

const command = (): readonly string[] => ["--", process.execPath, SERVER];
const address = ({ url }: Saying): readonly string[] => ["--url", url];

const options = { namespace: "srv" };

/** The options of the library. */
const inMemory = (config?: SluiceConfig): { readonly store: MemoryArtifactStore; readonly config?: SluiceConfig } => ({
  store: new MemoryArtifactStore(),
  ...(config !== undefined && { config }),
});

async function overTransport(at: Saying, client: string, config?: SluiceConfig): Promise<Listener> {
  const [program, args] = [process.execPath, [SERVER]];
  const transport = new GatedStdioTransport({
    ...options,
    ...inMemory(config),
    command: program,
    args,
    env: at.env,
  });
  const inbox = new Inbox();
  Object.assign(transport, { onmessage: (message: Message) => inbox.take(JSON.stringify(message)) });
  await transport.start();
  const send = (message: Message): Promise<void> => transport.send(message);
  const ask = await introduced((method, params) => inbox.ask(method, params, send), send, client);
  return { ask, [Symbol.asyncDispose]: () => transport.close() };
}

/** What a program says of its host, as it does not see what a client says of itself. */
const HOSTS: Readonly<Record<string, string>> = { "@cline/core": "cline", "codex-mcp-client": "codex" };

/** A client of SDK v1, wrapped: all that its program is told by handlers, results and errors. */
async function overClient(at: Saying, name: string, config?: SluiceConfig): Promise<Listener> {
  const heard: string[] = [];
  const inner = new Client({ name, version: "9.9.9" }, { capabilities: { sampling: {}, elicitation: {} } });
  const host = HOSTS[name];
  const client = wrapClient(inner, {
    ...options,
    ...inMemory(config),
    ...(host !== undefined && { host }),
  });
  const keep = (method: string, params: unknown): void => void heard.push(JSON.stringify({ method, params }));
  const onprogress = (progress: unknown): void => keep("notifications/progress", progress);
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ method, params }) => keep(method, params));
  client.setRequestHandler(CreateMessageRequestSchema, ({ method, params }) => {
    keep(method, params);
    return { role: "assistant", content: { type: "text", text: "" }, model: "none" };
  });
  client.setRequestHandler(ElicitRequestSchema, ({ method, params }) => {
    keep(method, params);
    return { action: "cancel" };
  });
  const env = { ...(process.env as Record<string, string>), ...at.env };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER], env }));
  const result = { instructions: client.getInstructions(), serverInfo: client.getServerVersion() };
  heard.push(JSON.stringify({ id: 0, result }));
  return {
    ask: async (method, params) => {
      try {
        heard.push(
          JSON.stringify({ id: 1, result: await client.request({ method, params }, ResultSchema, { onprogress }) }),
        );
      } catch (error) {
        const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
        heard.push(JSON.stringify({ id: 1, error: { code, message, data } }));
      }
      return heard.splice(0);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** All of them. */
export const MESSAGE_WAYS: readonly MessageWay[] = [
  { name: "sluice proxy", listen: overLines(command) },
  { name: "sluice proxy --url", listen: overLines(address) },
  { name: "sluice proxy --listen", listen: listening(command) },
  { name: "sluice proxy --listen --url", listen: listening(address) },
  { name: "GatedStdioTransport", listen: overTransport },
  {
    name: "gateFetch",
    listen: async (at, client, config) => {
      const fetched = gateFetch(fetch, { ...options, ...inMemory(config) });
      return {
        ask: await overHttp(at.url, fetched as typeof fetch, client),
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
  },
  { name: "wrapClient", isTyped: true, listen: overClient },
];
