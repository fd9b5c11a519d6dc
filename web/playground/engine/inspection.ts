/**
 * What a person looks into: the messages of all servers, how each introduced itself, whether it still answers, and its prompts.
 * Loaded when a view shows it.
 * @module
 */
import type { ListedPrompt } from "mcp-sluice/tools";
import type { Connection } from "./connection.js";
import { readAbout, listExchanges } from "./exchanges.js";
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

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** The newest exchanges, or those of one call. */
  exchanges(call?: string): readonly ShownExchange[] {
    return this.#servers
      .all()
      .flatMap((connection) => listExchanges(connection.address.name, connection.recorder))
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
    return connection && readAbout(connection.recorder);
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

  /** The prompts of a server; none if it has no prompts. */
  async prompts(server: string): Promise<Outcome<readonly ShownPrompt[]>> {
    const listed = await outcome(() =>
      this.#servers.get(server).use(async (node, context) => (await node.listPrompts(context)).items),
    );
    if (!listed.ok) return listed.problem.code === "E_TOOL_UNSUPPORTED" ? { ok: true, value: [] } : listed;
    return { ok: true, value: listed.value.slice(0, MAX_PROMPTS).map(toShownPrompt) };
  }

  /** Gets a prompt. */
  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
  ): Promise<Outcome<readonly ShownPromptMessage[]>> {
    return outcome(() =>
      this.#servers.get(server).use(async (node, context) => (await node.getPrompt(name, args, context)).messages),
    );
  }
}

/** With its arguments as a schema, which a form is made of. */
function toShownPrompt({ name, title = name, description = "", arguments: args }: ListedPrompt): ShownPrompt {
  const properties = Object.fromEntries(
    args.map((each) => [each.name, { type: "string", description: each.description ?? "" }]),
  );
  const required = args.filter((each) => each.required).map((each) => each.name);
  return { name, title, description, schema: { type: "object", properties, required } };
}
