/**
 * One source of tools, as a planner sees it.
 * @module
 */
import type { ArtifactStore } from "../artifacts/store.js";
import type { Dialect } from "../core/types.js";
import { SluiceError } from "../errors/error.js";
import { ignoreErrors } from "../mcp/interceptor-event.js";
import { ToolClientError, ToolNodeError, wasClosed } from "./errors.js";
import { readToolConfig, type ExternalToolConfig, type ToolConfig } from "./config/config.js";
import { checkToolNode, type ToolNodeOptions, variablesIn } from "./options.js";
import type { ToolNodeEvent } from "./event.js";
import type { ToolResult } from "./result.js";
import type { ToolContext } from "./context.js";
import type { PromptReading } from "./prompts.js";
import type { ListedPrompt, ListedResource, ListedTemplate } from "./source-features.js";
import { fitTools, Refreshing, ToolCatalog, ToolRegistry, type ToolSpec, toolSpecs } from "./registry.js";
import { SingleFlight } from "../core/keyed-work.js";
import type { Listing } from "./resources/listing.js";
import type { ResourceReading } from "./resources/cache.js";
import { assemble, type ArtifactCopies, type RunningSource } from "./running-source.js";
import type { McpReadMethod, McpResult, McpServerDescription, ToolSource } from "./source.js";
import type { SourceParts } from "./sources/web-source.js";
import type { ResolvedToolConfig } from "./config/resolved-config.js";
import type { Variables } from "./config/variables.js";
import { isObject } from "../errors/arguments.js";

/** One connection of a ToolNode, from the start of `connect` to `close`. */
class ConnectionState {
  readonly over = new AbortController();
  source: RunningSource | undefined;
  isConnected = false;

  /** Aborts everything under way and closes the source. */
  async end(reason: unknown): Promise<void> {
    this.over.abort(reason);
    await this.source?.[Symbol.asyncDispose]();
  }
}

/** A source of tools. Subclasses choose the transports. */
export abstract class AnyToolNode<D extends Dialect = Dialect> implements AsyncDisposable {
  readonly #config: ToolConfig;
  readonly #options: ToolNodeOptions;
  readonly #catalog: ToolCatalog;
  /** Every listener gets every event, even if another listener throws. */
  readonly #listeners = new Set<(event: ToolNodeEvent) => void>();
  readonly #onEvent = (event: ToolNodeEvent): void => this.#listeners.forEach((listener) => listener(event));
  /** Callers that connect at the same time share one attempt. */
  readonly #connecting = new SingleFlight<void>();
  #state: ConnectionState | undefined;

  /**
   * @throws ToolConfigError with the path of the wrong key.
   * @throws ToolNodeError for a wrong option.
   */
  constructor(config: ExternalToolConfig, options: ToolNodeOptions<D> = {}) {
    checkToolNode(options);
    this.#config = readToolConfig(config);
    this.#options = options;
    this.#catalog = new ToolCatalog(options.registry ?? new ToolRegistry(), this.#config.name);
    this.#listeners.add(ignoreErrors(options.onEvent));
  }

  /** The source's name, which is the namespace of its tools. */
  get name(): string {
    return this.#config.name;
  }

  /**
   * Connects, lists the tools, and registers them. Does nothing when connected. Concurrent callers share one attempt.
   *
   * @param context the user whose token lists the tools, where users have their own; every user is then offered these
   *   tools. Its signal cancels this wait; the attempt itself ends when no caller waits for it any more.
   * @throws ToolNodeError when the source cannot be reached, a variable is missing, a name is taken, or the source
   *   was closed meanwhile.
   * @throws SluiceError E_CONFIG_… for a wrong `artifact_extraction`.
   */
  async connect(context: ToolContext = {}): Promise<void> {
    if (this.#state?.isConnected === true) return;
    await this.#connecting.join("", context.signal, (signal) => this.#connect({ ...context, signal }));
  }

  /**
   * The tools: the source's own, those for its resources, and the one that reads artifacts.
   *
   * @throws ToolNodeError E_TOOL before `connect` and after `close`.
   */
  getTools(): readonly ToolSpec[] {
    this.#running();
    return this.#catalog.list;
  }

  /**
   * Calls a tool, by its full name or by the source's own name. A failure that the tool reports is a result with
   * `isError`, and so is a timeout (`E_TIMEOUT`).
   *
   * @throws ToolNodeError, whose message may be shown to a model.
   * @throws the reason of the context's signal.
   * @throws SluiceError when the store fails and `interceptor.on_store_failure` is `error`.
   */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    context: ToolContext = {},
  ): Promise<ToolResult<D>> {
    this.#running();
    const tool = this.#catalog.find(name);
    if (tool !== undefined) return tool.call(checkArguments(args, tool.name), context);
    throw new ToolClientError(`The source ${this.name} has no tool ${JSON.stringify(name)}: see getTools.`);
  }

  /** Lists all resources. Follows pages. Throws E_TOOL_UNSUPPORTED if the source has no resources. */
  listResources(context: ToolContext = {}): Promise<Listing<ListedResource>> {
    return this.#running().resources.listResources(context);
  }

  /** Lists all resource templates. Follows pages. */
  listResourceTemplates(context: ToolContext = {}): Promise<Listing<ListedTemplate>> {
    return this.#running().resources.listResourceTemplates(context);
  }

  /** Reads a resource: short texts are returned as they are, long texts and bytes as artifacts. */
  readResource(uri: string, context: ToolContext = {}): Promise<ResourceReading> {
    return this.#running().resources.readResource(uri, context);
  }

  /** Subscribes to changes of a resource, which `onEvent` reports. */
  subscribe(uri: string, context: ToolContext = {}): Promise<void> {
    return this.#running().resources.subscribe(uri, context);
  }

  /** Undoes one `subscribe`. */
  unsubscribe(uri: string, context: ToolContext = {}): Promise<void> {
    return this.#running().resources.unsubscribe(uri, context);
  }

  /** Completes a template variable: at most 100 values that start with `value`, or none. */
  complete(template: string, variable: string, value: string, context: ToolContext = {}): Promise<readonly string[]> {
    return this.#running().resources.complete(template, variable, value, context);
  }

  /** Lists all prompts. Follows pages. Throws E_TOOL_UNSUPPORTED if the source has no prompts. */
  async listPrompts(context: ToolContext = {}): Promise<Listing<ListedPrompt>> {
    return this.#running().listPrompts(context);
  }

  /** Gets a prompt: short texts are returned as they are, long texts and bytes as artifacts. */
  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    context: ToolContext = {},
  ): Promise<PromptReading> {
    return this.#running().getPrompt(name, args, context);
  }

  /** The MCP server as it describes itself. Undefined for sources that are no MCP servers. */
  async describeServer(context: ToolContext = {}): Promise<McpServerDescription | undefined> {
    return this.#running().describeServer(context);
  }

  /**
   * Sends a request of MCP that reads something, and gives its result as the server wrote it: nothing of it is stored or
   * shortened, so it is not for a model. At most 8 MiB.
   *
   * @throws ToolNodeError E_TOOL_UNSUPPORTED if the source is no MCP server; `rpcCode` is the code of the server's error.
   */
  async request(
    method: McpReadMethod,
    params: Readonly<Record<string, unknown>> = {},
    context: ToolContext = {},
  ): Promise<McpResult> {
    return this.#running().request(method, params, context);
  }

  /**
   * Adds a listener for events, beside `onEvent`. Errors that it throws are ignored.
   *
   * @returns a function that removes the listener.
   */
  listen(listener: (event: ToolNodeEvent) => void): () => void {
    const heard = ignoreErrors(listener);
    this.#listeners.add(heard);
    return () => void this.#listeners.delete(heard);
  }

  /** Closes all sessions, cancels a pending `connect`, and unregisters the tools. You can connect again afterwards. */
  async close(): Promise<void> {
    const state = this.#state;
    this.#connecting.close();
    this.#leave(state);
    await state?.end(wasClosed(this.name));
  }

  /** Same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Creates the source for a configuration. */
  protected abstract source(config: ResolvedToolConfig, parts: SourceParts): ToolSource;

  /** Values of `${VAR}` when the options give none. */
  protected abstract readonly variables: Variables;

  /**
   * Copies of a store's artifacts as files. Undefined where there is no file system.
   *
   * @hidden
   */
  protected copies(_store: ArtifactStore): ArtifactCopies | undefined {
    return undefined;
  }

  async #connect(context: ToolContext & { readonly signal: AbortSignal }): Promise<void> {
    const state = new ConnectionState();
    this.#state = state;
    const signal = AbortSignal.any([context.signal, state.over.signal]);
    try {
      await this.#enter(state, { ...context, signal });
      signal.throwIfAborted();
      state.isConnected = true;
    } catch (error) {
      this.#leave(state);
      await state.end(error);
      throw error;
    }
  }

  async #enter(state: ConnectionState, context: ToolContext): Promise<void> {
    // The user who connected may be gone by the time tools change, so `pause` is left out.
    const later = { signal: state.over.signal, ...(context.scope !== undefined && { scope: context.scope }) };
    const refreshing = new Refreshing(() => this.#refresh(state, later), state.over.signal);
    const source = await assemble({
      config: this.#config,
      options: this.#options,
      variables: variablesIn(this.#options, this.variables),
      source: (config, parts) => this.source(config, parts),
      copies: (store) => this.copies(store),
      over: state.over.signal,
      onEvent: this.#onEvent,
      onToolsChanged: () => refreshing.ask(),
    });
    state.source = source;
    context.signal?.throwIfAborted();
    await this.#look(state, source, context);
  }

  /** Lists the source's tools and offers them. */
  async #look(state: ConnectionState, source: RunningSource, context: ToolContext): Promise<void> {
    const number = this.#catalog.look();
    const { tools: all, generated, leftOut: others } = await source.look(context);
    if (this.#state !== state) throw wasClosed(this.name);
    const { fit, unfit } = fitTools(all);
    const leftOut = [...others, ...unfit];
    if (leftOut.length > 0)
      this.#onEvent({ kind: "left_out", count: leftOut.length, tools: leftOut.slice(0, MAX_TOLD) });
    const own = toolSpecs(fit, this.#config, (tool, args, calling = {}) => source.call(tool, args, calling));
    this.#catalog.take(own, generated, number);
  }

  /** Handles the source's notice that its tools changed. */
  async #refresh(state: ConnectionState, context: ToolContext): Promise<void> {
    if (state.source === undefined) return;
    let error: SluiceError | undefined;
    try {
      await this.#look(state, state.source, context);
    } catch (thrown) {
      error = thrown instanceof SluiceError ? thrown : listingFailed(thrown);
    }
    if (this.#state !== state) return;
    this.#onEvent({ kind: "tools_changed", names: this.#catalog.names, ...(error !== undefined && { error }) });
  }

  /** Forgets the connection; the next `connect` starts over. */
  #leave(state: ConnectionState | undefined): void {
    if (this.#state !== state) return;
    this.#state = undefined;
    this.#catalog.clear();
  }

  #running(): RunningSource {
    if (this.#state?.isConnected === true && this.#state.source !== undefined) return this.#state.source;
    throw new ToolNodeError(`The source ${this.name} is not connected: call connect first.`, NOT_THERE);
  }
}

/** Maximum number of tool names in one event. */
const MAX_TOLD = 20;

const NOT_THERE = { category: "non_retryable" } as const;

function checkArguments(args: unknown, tool: string): Readonly<Record<string, unknown>> {
  if (isObject(args)) return args;
  throw new ToolClientError(`The arguments of ${tool} must be an object, such as {"name": "value"}.`);
}

function listingFailed(cause: unknown): ToolNodeError {
  return new ToolNodeError("The tools could not be listed.", { cause });
}
