/**
 * What a person looks into: the messages of all servers, how each introduced itself, whether it still answers, and its prompts.
 * Loaded when somebody looks.
 * @module
 */
import { Client, type PromptMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SluiceError } from "mcp-sluice";
import type { Connection } from "./connection.js";
import { aboutOf, exchangesOf } from "./exchanges.js";
import type { Outcome, ShownAbout, ShownExchange, ShownPrompt, ShownPromptMessage } from "./messages.js";
import { outcome } from "./outcome.js";
import type { Servers } from "./servers.js";

/** Milliseconds that a server may take to show that it is there. */
const CHECK_MS = 5000;

/** Exchanges shown of all servers. */
const MAX_SHOWN = 200;

/** Prompts of a server that are listed. */
const MAX_PROMPTS = 500;

/** Looks into the connections. */
export class Inspection {
  readonly #servers: Servers;
  /** Checks under way, which those that ask meanwhile share. */
  readonly #checks = new WeakMap<Connection, Promise<void>>();
  readonly #clients = new WeakMap<Connection, Promise<Client>>();

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** The newest exchanges, or those of one call. */
  exchanges(call?: string): readonly ShownExchange[] {
    return this.#servers
      .all()
      .flatMap((connection) => exchangesOf(connection.address.name, connection.recorder))
      .filter((exchange) => call === undefined || exchange.call === call)
      .toSorted((one, other) => other.at - one.at)
      .slice(0, MAX_SHOWN);
  }

  /** Forgets what was recorded, but not how the servers introduced themselves. */
  forget(): void {
    for (const { recorder } of this.#servers.all()) recorder.messages.length = 0;
  }

  /** How a server introduced itself. */
  about(server: string): ShownAbout | undefined {
    const connection = this.#servers.all().find(({ address }) => address.name === server);
    return connection && aboutOf(connection.recorder);
  }

  /**
   * Asks whether anything answers at the address: any HTTP response is a sign of life, so that servers without `ping`
   * (from 2026-07-28) and those that forgot the session count as there.
   */
  async check(server: string): Promise<void> {
    const connection = this.#servers.all().find(({ address }) => address.name === server);
    if (
      connection === undefined ||
      connection.address.kind === "demo" ||
      connection.recorder.headers.get("accept") === null
    )
      return;
    const check =
      this.#checks.get(connection) ?? this.#check(connection).finally(() => this.#checks.delete(connection));
    this.#checks.set(connection, check);
    await check;
  }

  async #check(connection: Connection): Promise<void> {
    const { url, fetch } = await connection.way();
    const headers = new Headers(connection.recorder.headers);
    headers.delete("mcp-name");
    if (headers.has("mcp-method")) headers.set("mcp-method", "ping");
    const signal = AbortSignal.any([connection.over, AbortSignal.timeout(CHECK_MS)]);
    const body = JSON.stringify({ jsonrpc: "2.0", id: `check-${crypto.randomUUID()}`, method: "ping" });
    try {
      const response = await fetch(url, { method: "POST", headers, body, signal });
      await response.text();
      await (await this.#servers.health()).answered(connection);
    } catch (error) {
      if (!connection.over.aborted) await (await this.#servers.health()).fell(connection, error);
    }
  }

  /** The prompts of a server. */
  async prompts(server: string): Promise<Outcome<readonly ShownPrompt[]>> {
    return outcome(async () => {
      const connection = this.#servers.get(server);
      const client = await this.#client(connection);
      const { prompts } = await said(() => client.listPrompts(undefined, { signal: connection.over }), server);
      return prompts.slice(0, MAX_PROMPTS).map(({ name, title, description, arguments: args = [] }) => ({
        name,
        title: title ?? name,
        description: description ?? "",
        schema: {
          type: "object",
          properties: Object.fromEntries(
            args.map((each) => [each.name, { type: "string", description: each.description ?? "" }]),
          ),
          required: args.filter(({ required }) => required === true).map((each) => each.name),
        },
      }));
    });
  }

  /** Gets a prompt. */
  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
  ): Promise<Outcome<readonly ShownPromptMessage[]>> {
    return outcome(async () => {
      const connection = this.#servers.get(server);
      const client = await this.#client(connection);
      const asked = () => client.getPrompt({ name, arguments: { ...args } }, { signal: connection.over });
      const { messages } = await said(asked, server);
      return messages.map(shownMessage);
    });
  }

  /** A client for what a ToolNode does not do, in a session of its own with the credentials of the connection. */
  #client(connection: Connection): Promise<Client> {
    const known = this.#clients.get(connection);
    if (known !== undefined) return known;
    const opening = opened(connection);
    this.#clients.set(connection, opening);
    opening.catch(() => this.#clients.delete(connection));
    return opening;
  }
}

async function opened(connection: Connection): Promise<Client> {
  const { url, fetch } = await connection.way();
  const authorization = connection.recorder.headers.get("authorization");
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    ...(authorization !== null && { requestInit: { headers: { authorization } } }),
  });
  const client = new Client({ name: "sluice", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await said(() => client.connect(transport), connection.address.name);
  connection.ends.push(async () => {
    await transport.terminateSession().catch(() => undefined);
    await client.close();
  });
  return client;
}

/** Errors of the client with the name of the server. */
async function said<T>(work: () => Promise<T>, server: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SluiceError("E_TOOL", `${server} did not answer the request for its prompts: ${why}`);
  }
}

function shownMessage({ role, content }: PromptMessage): ShownPromptMessage {
  if (content.type === "text") return { role, text: content.text, isJson: false };
  return { role, text: JSON.stringify(content, shortened, 2), isJson: true };
}

/** Bytes in Base64 are told of by their length. */
function shortened(_key: string, value: unknown): unknown {
  return typeof value === "string" && value.length > 2000
    ? `${value.slice(0, 200)}… (${value.length} characters)`
    : value;
}
