/**
 * One connection to an MCP server over any transport: how it is opened, its client, its interceptor, its tools and resources.
 * @module
 */
import {
  Client,
  type ClientOptions,
  type JsonSchemaValidator,
  ProtocolError,
  RELATED_TASK_META_KEY,
  specTypeSchemas,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import type { ArtifactStore } from "../../../artifacts/store.js";
import { onAbort } from "../../../core/abort.js";
import type { Sluice } from "../../../core/types.js";
import { MAX_MESSAGE } from "../../../jsonrpc/limits.js";
import { objectOr, stringOr } from "../../../jsonrpc/rpc.js";
import { adaptError } from "../../adapt-error.js";
import { toSubject, ToolClientError, ToolNodeError, type ToolPlace } from "../../errors.js";
import type { JsonSchema, PromptConnection, ResourceConnection, SourceTool } from "../../source-features.js";
import type {
  OpenOptions,
  SourceCall,
  McpReadMethod,
  McpResult,
  McpServerDescription,
  SourceConnection,
  SourceNotice,
  SourceResult,
} from "../../source.js";
import { McpCall } from "./call.js";
import { Asker, Calls } from "./asker.js";
import { DECLINED } from "./elicitation.js";
import { beforeClient, Notices, type ServerMessage } from "./notices.js";
import { McpPrompts } from "./prompts.js";
import { connectionLost, GRACE, NO_LIMIT, sendRequest, settleWithin } from "./requests.js";
import { ENTRY, McpResources, restoreEntries } from "./resources.js";
import { ToolInterceptor } from "./tool-interceptor.js";
import { isObject, checkNamespace } from "../../../errors/arguments.js";

/** Protocol eras: `legacy` has `initialize` (up to 2025-11-25), `modern` has no sessions (from 2026-07-28). */
export type McpEra = "auto" | "legacy" | "modern";

export interface McpDeps {
  /** The source's name, for errors and as a prefix of artifact ids. */
  readonly name: string;
  /** The gate. */
  readonly sluice: Sluice;
  /** The sluice's store. */
  readonly store: ArtifactStore;
  /** Whether hosts answer for a model, so that the server may ask for its reply. Defaults to false. */
  readonly sampling?: boolean;
  /** The client's name and version, for the server. */
  readonly client?: { readonly name: string; readonly version: string };
  /** Defaults to `auto`: modern if the server supports it. */
  readonly era?: McpEra;
  /** Values that errors must not contain. */
  readonly secrets?: readonly string[];
}

/** A transport and what it needs beside. */
export interface OpenedTransport {
  readonly transport: Transport;
  /** Ends the session at the server. */
  readonly leave?: () => Promise<void>;
  /** Kills the program and its child processes. */
  readonly kill?: () => Promise<void>;
  /** Whether the server no longer knows the session. The client is not aware of this. */
  readonly isLost?: () => boolean;
  /** The transport's own error, which may be better than the client's. */
  readonly reason?: () => Error | undefined;
  /** The credentials that were sent. */
  readonly told?: () => readonly string[];
}

const CLIENT = { name: "sluice", version: "1" };

/** The first modern revision, to require it. */
const MODERN = "2026-07-28";

/** The client supports elicitation and tasks. */
const CAPABILITIES: NonNullable<ClientOptions["capabilities"]> = {
  elicitation: { form: {}, url: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

/** The code of JSON-RPC for a reply that was declined (MCP, "Sampling"). */
const REJECTED = -1;

/** What one attempt to connect needs. */
interface Attempt {
  readonly deps: McpDeps;
  readonly options: OpenOptions;
  readonly era: McpEra;
  /** Milliseconds that a server may take to answer the modern probe. After that it counts as legacy. */
  readonly probeTimeout: number;
  readonly transport: (interceptor: ToolInterceptor) => OpenedTransport;
}

/**
 * Connects and negotiates the era.
 *
 * @throws ToolNodeError, or the signal's reason.
 */
export async function connectServer(attempt: Attempt): Promise<McpConnection> {
  const { deps, options } = attempt;
  const { name, sluice, store } = deps;
  const { signal } = options;
  signal.throwIfAborted();
  const interceptor = new ToolInterceptor({ sluice, store, lost: () => connectionLost(name) });
  const opened = attempt.transport(interceptor);
  const client = new Client(deps.client ?? CLIENT, clientOptions(attempt));
  const secrets = (): readonly string[] => [...(deps.secrets ?? []), ...(opened.told?.() ?? [])];
  const made = { ...deps, namespace: checkNamespace(name), client, interceptor, opened, secrets };
  const connection = new McpConnection(made, options);
  // The client observes the signal only after the negotiation.
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
    throw findFailure(error, made);
  } finally {
    forget();
  }
}

function clientOptions({ era, probeTimeout, deps }: Attempt): ClientOptions {
  const mode = era === "modern" ? { pin: MODERN } : era;
  return {
    jsonSchemaValidator: PERMISSIVE,
    capabilities: { ...CAPABILITIES, ...(deps.sampling === true && { sampling: {} }) },
    versionNegotiation: { mode, probe: { timeoutMs: probeTimeout } },
  };
}

/** Finds the original error: the client wraps errors of transports, and loses some. */
function findFailure(
  error: unknown,
  { opened, name, secrets }: Pick<ConnectionDeps, "opened" | "name" | "secrets">,
): Error {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof ToolNodeError) return at;
  }
  return adaptError(opened.reason?.() ?? error, { source: name }, { secrets: secrets() });
}

/** Accepts everything and compiles nothing. */
const PERMISSIVE: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

/** What a connection works with. */
interface ConnectionDeps extends Omit<McpDeps, "client" | "secrets"> {
  /** Prefix of artifact ids. */
  readonly namespace: string;
  readonly client: Client;
  readonly interceptor: ToolInterceptor;
  readonly opened: OpenedTransport;
  readonly calls: Calls;
  /** Values that errors must not contain. */
  readonly secrets: () => readonly string[];
  /** Whether the owner has closed the connection. */
  readonly isClosed: () => boolean;
}

/** A connection to a server. */
class McpConnection implements SourceConnection {
  readonly #deps: ConnectionDeps;
  readonly #notices: Notices;
  #resources: ResourceConnection | undefined;
  #isOpen = true;
  #isClosed = false;
  #killing: Promise<void> | undefined;
  readonly kill: (() => Promise<void>) | undefined;
  /** Tools that only run as tasks. Undefined until the tools are listed. */
  #taskTools: ReadonlySet<string> | undefined;

  /** Created before the client connects, so that no notification is lost. */
  constructor(deps: Omit<ConnectionDeps, "calls" | "isClosed">, { onNotice }: Pick<OpenOptions, "onNotice">) {
    this.#deps = { ...deps, calls: new Calls(), isClosed: () => this.#isClosed && this.#killing === undefined };
    this.#notices = new Notices(deps.client, (notice: SourceNotice) => {
      if (notice.kind === "tools_changed") this.#taskTools = undefined;
      if (this.#isOpen) onNotice(notice);
    });
    const { kill } = deps.opened;
    this.kill = kill && (() => this.#kill(kill));
    this.#takeQuestions();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has none
    deps.client.onclose = () => {
      this.#isOpen = false;
    };
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#deps.opened.isLost?.() !== true;
  }

  get isForgotten(): boolean {
    return this.#isOpen && this.#deps.opened.isLost?.() === true;
  }

  get resources(): ResourceConnection | undefined {
    return this.#resources;
  }

  get prompts(): PromptConnection | undefined {
    const hasPrompts = this.#deps.client.getServerCapabilities()?.prompts !== undefined;
    return hasPrompts ? new McpPrompts(this.#deps) : undefined;
  }

  /** Called once the client is connected. Starts listening to notifications. */
  async begin(signal: AbortSignal): Promise<void> {
    const { client } = this.#deps;
    beforeClient(client, (message) => withFitTools(message, client.getProtocolEra() === "modern"));
    if (client.getServerCapabilities()?.resources !== undefined) {
      this.#resources = new McpResources(this.#deps, this.#notices);
    }
    await this.#notices.listen(signal);
  }

  get server(): McpServerDescription {
    const { client } = this.#deps;
    const instructions = client.getInstructions();
    return {
      capabilities: objectOr(client.getServerCapabilities()),
      info: objectOr(client.getServerVersion()),
      ...(instructions !== undefined && { instructions }),
    };
  }

  async request(method: McpReadMethod, params: McpResult, signal: AbortSignal): Promise<McpResult> {
    const { client } = this.#deps;
    const ask = (): Promise<McpResult> =>
      client.request({ method, params: { ...params } }, specTypeSchemas.Result, { signal, timeout: NO_LIMIT });
    return restoreEntries(await sendRequest({ ask, signal }, this.#deps));
  }

  async tools(signal: AbortSignal): Promise<readonly SourceTool[]> {
    const { client } = this.#deps;
    // The client would log a warning that the server has no tools.
    if (client.getServerCapabilities()?.tools === undefined) return [];
    const ask = (): ReturnType<Client["listTools"]> =>
      client.listTools(undefined, { signal, timeout: NO_LIMIT, cacheMode: "refresh" });
    const { tools } = await sendRequest({ ask, signal }, this.#deps);
    const listed = tools.map(readListedTool);
    this.#taskTools = new Set(listed.filter(({ isTaskOnly }) => isTaskOnly).map(({ name }) => name));
    return listed.map(({ isTaskOnly: _, ...tool }) => tool);
  }

  async call(call: SourceCall): Promise<SourceResult> {
    const { tool, args } = call;
    const { calls, name } = this.#deps;
    if (JSON.stringify(args).length > MAX_MESSAGE) throw tooLarge({ source: name, tool });
    const asker = new Asker(call, this.#deps);
    const { signal } = asker;
    const calling = new McpCall(this.#deps, { ...call, signal }, asker);
    return calls.during(asker, async () => calling.result(await this.#runsAsTask(tool, signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    this.#isClosed = true;
    await this.#killing?.catch(() => undefined);
    const { client, opened, calls } = this.#deps;
    await settleWithin(calls.cancel(), GRACE);
    await settleWithin(Promise.all([this.#notices.close(), opened.leave?.()]), GRACE);
    await client.close().catch(() => undefined);
    // An unconnected client does not close the transport.
    await opened.transport.close().catch(() => undefined);
  }

  async #kill(kill: () => Promise<void>): Promise<void> {
    this.#isOpen = false;
    this.#killing ??= kill();
    await this.#killing;
  }

  /** Handles questions. Legacy servers may ask at any time, without naming the call. */
  #takeQuestions(): void {
    const { client, interceptor, calls, sampling = false } = this.#deps;
    const findAsker = (params: Readonly<Record<string, unknown>>, id: string | number): Asker | undefined => {
      // Modern servers ask in the answer to a call, so this question belongs to none.
      if (client.getProtocolEra() === "modern") return undefined;
      const { taskId } = objectOr(objectOr(params["_meta"])[RELATED_TASK_META_KEY]);
      return calls.askerOf(taskId) ?? interceptor.askerOf(id) ?? calls.only;
    };
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq: { id, signal } }) => {
      return (await findAsker(params, id)?.elicit(params, signal)) ?? DECLINED;
    });
    if (!sampling) return;
    client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq: { id, signal } }) => {
      const reply = await findAsker(params, id)?.sample(params, signal);
      if (reply === undefined) throw new ProtocolError(REJECTED, "User rejected sampling request");
      return reply;
    });
  }

  /** Whether a call must be requested as a task. Modern servers decide that themselves. */
  async #runsAsTask(tool: string, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#deps;
    if (client.getServerCapabilities()?.tasks?.requests?.tools?.call === undefined) return false;
    // The tools may have been listed over another connection.
    if (this.#taskTools === undefined) await this.tools(signal);
    return this.#taskTools?.has(tool) === true;
  }
}

function tooLarge(place: ToolPlace): ToolClientError {
  const size = `${MAX_MESSAGE / 1024 / 1024} MiB`;
  const remedy = "servers close the connection above that; send less at a time";
  return new ToolClientError(`${toSubject(place)} takes at most ${size} of arguments: ${remedy}.`);
}

/**
 * Replaces the tools in a list by minimal ones that the client always accepts. The original entries are attached for
 * `readListedTool`.
 *
 * @param isModern whether the client reads input schemas for headers, which it does from 2026-07-28.
 */
function withFitTools(message: ServerMessage, isModern: boolean): ServerMessage {
  const result = objectOr(message["result"]);
  const { tools } = result;
  if (!Array.isArray(tools)) return message;
  const fit = tools.map((entry: unknown) => {
    const { name, input_schema: schema, unfit } = toolIn(entry);
    const inputSchema = isModern && unfit === undefined ? schema : { type: "object" };
    return { name, inputSchema, _meta: { [ENTRY]: entry } };
  });
  return { ...message, result: { ...result, tools: fit } };
}

/** A tool, and whether it only runs as a task (2025-11-25). */
interface ListedTool extends SourceTool {
  readonly isTaskOnly: boolean;
}

/** Reads the original entry of a tool. */
function readListedTool({ _meta }: Tool): ListedTool {
  return toolIn(objectOr(_meta)[ENTRY]);
}

function toolIn(entry: unknown): ListedTool {
  const given = objectOr(entry);
  const { outputSchema, annotations, execution, _meta: meta } = given;
  const { readOnlyHint, idempotentHint } = objectOr(annotations);
  const name = stringOr(given["name"]);
  const schema = inputSchemaIn(given["inputSchema"]);
  const unfit = name === undefined ? "its name is not a string" : schema === undefined ? NO_SCHEMA : undefined;
  return {
    name: name ?? "",
    description: stringOr(given["description"]) ?? "",
    input_schema: schema ?? {},
    ...(isObject(outputSchema) && { output_schema: outputSchema }),
    ...(meta !== undefined && { meta }),
    definition: given,
    isRepeatable: readOnlyHint === true || idempotentHint === true,
    isReadOnly: readOnlyHint === true,
    isTaskOnly: objectOr(execution)["taskSupport"] === "required",
    ...(unfit !== undefined && { unfit }),
  };
}

const NO_SCHEMA = "its inputSchema is not the schema of an object";

/** Undefined if it does not describe an object. A missing type means an object. */
function inputSchemaIn(value: unknown): JsonSchema | undefined {
  if (!isObject(value)) return undefined;
  const { type = "object", properties = {}, required = [] } = value;
  if (type !== "object" || !isObject(properties) || !Array.isArray(required)) return undefined;
  return value["type"] === undefined ? { type, ...value } : value;
}
