/**
 * One connection to an MCP server: one client, one door, tools and resources.
 * @module
 */
import { RELATED_TASK_META_KEY, type Client, type Tool } from "@modelcontextprotocol/client";
import { objectOr } from "../../../mcp/rpc.js";
import type { ResourceConnection } from "../../resources/connection.js";
import type {
  OpenOptions,
  SourceCall,
  SourceConnection,
  SourceNotice,
  SourceResult,
  SourceTool,
} from "../../source.js";
import { MAX_MESSAGE } from "../../../transports/limits.js";
import { subjectOf, type ToolPlace } from "../../adapting/place.js";
import { ToolClientError } from "../../errors.js";
import { asked } from "./asking.js";
import { Asker } from "./asker.js";
import { Calling } from "./calling.js";
import { Calls } from "./calls.js";
import { GRACE, NO_LIMIT } from "./limits.js";
import { Notices } from "./notices.js";
import { patiently } from "./patience.js";
import { DECLINED } from "./question.js";
import { McpResources } from "./resources.js";
import type { McpTerms, OpenedTransport } from "./terms.js";
import type { ToolDoor } from "./tool-door.js";

/** What a connection is made of. */
export interface ConnectionTerms extends Omit<McpTerms, "client"> {
  /** Prefix of artifacts' ids. */
  readonly namespace: string;
  readonly client: Client;
  readonly door: ToolDoor;
  readonly opened: OpenedTransport;
  readonly calls: Calls;
  /** Whether whoever opened the connection has closed it. */
  readonly isClosed: () => boolean;
}

/** A server, connected. */
export class McpConnection implements SourceConnection {
  readonly #terms: ConnectionTerms;
  readonly #notices: Notices;
  #resources: ResourceConnection | undefined;
  #isOpen = true;
  #isClosed = false;
  #killing: Promise<void> | undefined;
  /** Tools that run as tasks only; undefined until they were listed. */
  #taskTools: ReadonlySet<string> | undefined;

  /** Before the client is connected, so that nothing that the server says is lost. */
  constructor(terms: Omit<ConnectionTerms, "calls" | "isClosed">, { onNotice }: Pick<OpenOptions, "onNotice">) {
    this.#terms = { ...terms, calls: new Calls(), isClosed: () => this.#isClosed && this.#killing === undefined };
    this.#notices = new Notices(terms.client, (notice: SourceNotice) => {
      if (notice.kind === "tools_changed") this.#taskTools = undefined;
      if (this.#isOpen) onNotice(notice);
    });
    this.#takeQuestions();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has none
    terms.client.onclose = () => {
      this.#isOpen = false;
    };
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#terms.opened.isLost?.() !== true;
  }

  get resources(): ResourceConnection | undefined {
    return this.#resources;
  }

  /** The client is connected: hears from now on what the server says unasked. */
  async begin(signal: AbortSignal): Promise<void> {
    if (this.#terms.client.getServerCapabilities()?.resources !== undefined) {
      this.#resources = new McpResources(this.#terms, this.#notices);
    }
    await this.#notices.listen(signal);
  }

  async tools(signal: AbortSignal): Promise<readonly SourceTool[]> {
    const { client } = this.#terms;
    // The client would say on the console that there are none.
    if (client.getServerCapabilities()?.tools === undefined) return [];
    const ask = (): ReturnType<Client["listTools"]> =>
      client.listTools(undefined, { signal, timeout: NO_LIMIT, cacheMode: "refresh" });
    const { tools } = await asked({ ask, signal }, this.#terms);
    this.#taskTools = new Set(tools.filter(isTaskOnly).map(({ name }) => name));
    return tools.map(({ name, description = "", inputSchema, outputSchema, annotations, _meta: meta }) => ({
      name,
      description,
      input_schema: inputSchema,
      ...(outputSchema !== undefined && { output_schema: outputSchema }),
      ...(meta !== undefined && { meta }),
      isRepeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
      isReadOnly: annotations?.readOnlyHint === true,
    }));
  }

  async call(call: SourceCall): Promise<SourceResult> {
    const { tool, args } = call;
    const { calls, name } = this.#terms;
    if (JSON.stringify(args).length > MAX_MESSAGE) throw tooLarge({ source: name, tool });
    const asker = new Asker(call, name);
    const { signal } = asker;
    const calling = new Calling(this.#terms, { ...call, signal }, asker);
    try {
      return await calls.during(asker, async () => calling.result(await this.#runsAsTask(tool, signal)));
    } catch (error) {
      if (call.signal.aborted) call.onGivenUp?.(() => calling.isAnswered);
      throw error;
    }
  }

  async kill(): Promise<void> {
    const { opened } = this.#terms;
    if (opened.kill === undefined) return;
    this.#isOpen = false;
    this.#killing ??= opened.kill();
    await this.#killing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    this.#isClosed = true;
    // The next one is started when this one has gone.
    await this.#killing?.catch(() => undefined);
    const { client, opened, calls } = this.#terms;
    await patiently(calls.cancel(), GRACE);
    await patiently(Promise.all([this.#notices.close(), opened.leave?.()]), GRACE);
    await client.close().catch(() => undefined);
    // A client that was never connected knows of no transport.
    await opened.transport.close().catch(() => undefined);
  }

  /** Until 2025-11-25 a server asks whenever it likes, and need not say for which call. */
  #takeQuestions(): void {
    const { client, door, calls } = this.#terms;
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq: { id, signal } }) => {
      // Later it asks in the answer to a call, and what comes here belongs to no call.
      if (client.getProtocolEra() === "modern") return DECLINED;
      const { taskId } = objectOr(objectOr(params["_meta"])[RELATED_TASK_META_KEY]);
      const asker = calls.askerOf(taskId) ?? door.askerOf(id) ?? calls.only;
      return asker === undefined ? DECLINED : asker.answer(params, signal);
    });
  }

  /** Whether that has to be said: since 2026-07-28 the server alone decides. */
  async #runsAsTask(tool: string, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#terms;
    if (client.getServerCapabilities()?.tasks?.requests?.tools?.call === undefined) return false;
    // Others may have listed the tools over connections of their own.
    if (this.#taskTools === undefined) await this.tools(signal);
    return this.#taskTools?.has(tool) === true;
  }
}

function isTaskOnly({ execution }: Tool): boolean {
  return execution?.taskSupport === "required";
}

function tooLarge(place: ToolPlace): ToolClientError {
  const size = `${MAX_MESSAGE / 1024 / 1024} MiB`;
  const remedy = "servers close the connection at more; send less at a time";
  return new ToolClientError(`${subjectOf(place)} takes ${size} of arguments at most: ${remedy}.`);
}
