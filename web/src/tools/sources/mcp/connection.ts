/**
 * One connection to an MCP server, whatever the transport: how it is opened, its one client, its one door, tools and resources.
 * @module
 */
import {
  Client,
  RELATED_TASK_META_KEY,
  type ClientOptions,
  type JsonSchemaValidator,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import { namespaceOf } from "../../../artifacts/ids.js";
import type { ArtifactStore } from "../../../artifacts/store.js";
import { onAbort } from "../../../core/abort.js";
import type { Sluice } from "../../../core/sluice.js";
import { objectOr } from "../../../mcp/rpc.js";
import { MAX_MESSAGE } from "../../../transports/limits.js";
import { adaptError } from "../../adapt-error.js";
import { subjectOf, type ToolPlace } from "../../adapting/place.js";
import { ToolClientError, ToolNodeError } from "../../errors.js";
import type { ResourceConnection } from "../../resources/connection.js";
import type {
  OpenOptions,
  SourceCall,
  SourceConnection,
  SourceNotice,
  SourceResult,
  SourceTool,
} from "../../source.js";
import { Calling } from "./call.js";
import { Asker, Calls, DECLINED } from "./elicitation.js";
import { asked, connectionLost, GRACE, NO_LIMIT, patiently } from "./requests.js";
import { Notices } from "./notices.js";
import { McpResources } from "./resources.js";
import { ToolDoor } from "./tool-door.js";

/** The protocol's eras: with `initialize`, up to 2025-11-25, and without sessions, from 2026-07-28; or whichever it is. */
export type McpEra = "auto" | "legacy" | "modern";

/** What all sources of MCP servers need. */
export interface McpTerms {
  /** The source's name: for errors, and as prefix of artifacts' ids. */
  readonly name: string;
  /** The one gate. */
  readonly sluice: Sluice;
  /** That of the sluice. */
  readonly store: ArtifactStore;
  /** Whether small images stay in place for a model that sees; false when left out. */
  readonly showImages?: boolean;
  /** Who the server is told that it talks to. */
  readonly client?: { readonly name: string; readonly version: string };
  /** `auto` when left out: the later one, where the server knows it. */
  readonly era?: McpEra;
}

/** A transport, and what there is to it. */
export interface OpenedTransport {
  readonly transport: Transport;
  /** Ends what outlives the transport: a session at the server. */
  readonly leave?: () => Promise<void>;
  /** Ends the program behind it with all that it started, whatever it is doing. */
  readonly kill?: () => Promise<void>;
  /** Whether the server has forgotten the connection, which the client does not know. */
  readonly isLost?: () => boolean;
  /** What the transport knows of a failure better than the client does. */
  readonly reason?: () => Error | undefined;
}

const CLIENT = { name: "sluice", version: "1" };

/** The later era's first revision, to insist on. */
const MODERN = "2026-07-28";

/** A person may be asked, and tasks are followed. */
const CAPABILITIES: NonNullable<ClientOptions["capabilities"]> = {
  elicitation: { form: {}, url: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

/** What one attempt at connecting needs. */
interface Attempt {
  readonly terms: McpTerms;
  readonly options: OpenOptions;
  readonly era: McpEra;
  /** How long, in milliseconds, a server may be silent when asked for the later era; then it is taken for the earlier. */
  readonly probeTimeout: number;
  readonly transport: (door: ToolDoor) => OpenedTransport;
}

/**
 * Connects, and finds out the era.
 *
 * @throws ToolNodeError, or the reason of the signal.
 */
export async function connected(attempt: Attempt): Promise<McpConnection> {
  const { terms, options } = attempt;
  const { name, sluice, store } = terms;
  const { signal } = options;
  signal.throwIfAborted();
  const door = new ToolDoor({ sluice, store, lost: () => connectionLost(name) });
  const opened = attempt.transport(door);
  const client = new Client(terms.client ?? CLIENT, clientOptions(attempt));
  const connection = new McpConnection({ ...terms, namespace: namespaceOf(name), client, door, opened }, options);
  // The client listens to a signal only once it has found out the era.
  const giveUp = (): void => void opened.transport.close().catch(() => undefined);
  const forget = onAbort(signal, giveUp);
  try {
    await client.connect(opened.transport, { timeout: NO_LIMIT, signal });
    signal.throwIfAborted();
    await connection.begin(signal);
    return connection;
  } catch (error) {
    await connection[Symbol.asyncDispose]();
    signal.throwIfAborted();
    throw failureOf(error, opened, name);
  } finally {
    forget();
  }
}

function clientOptions({ era, probeTimeout }: Attempt): ClientOptions {
  const mode = era === "modern" ? { pin: MODERN } : era;
  return {
    jsonSchemaValidator: PERMISSIVE,
    capabilities: CAPABILITIES,
    versionNegotiation: { mode, probe: { timeoutMs: probeTimeout } },
  };
}

/** The client wraps what transports throw, and some of it gets lost. */
function failureOf(error: unknown, { reason }: OpenedTransport, source: string): Error {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof ToolNodeError) return at;
  }
  return adaptError(reason?.() ?? error, { source });
}

/** Takes everything for valid, and compiles nothing. */
const PERMISSIVE: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

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
class McpConnection implements SourceConnection {
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
