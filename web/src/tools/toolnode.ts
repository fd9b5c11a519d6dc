/**
 * One source of tools, as a planner sees it (ToolNode 2.1 §2).
 * @module
 */
import type { ArtifactStore } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { heedless } from "../mcp/door-event.js";
import { wasClosed } from "./closed.js";
import { readToolConfig, type ExternalToolConfig, type ToolConfig } from "./config.js";
import type { ToolContext } from "./context.js";
import { ToolClientError, ToolNodeError } from "./errors.js";
import type { ToolNodeEvent } from "./event.js";
import { isNamed, offered, Offers, Refreshing } from "./offers.js";
import { checkToolNode, variablesIn, type SourceParts, type ToolNodeOptions } from "./options.js";
import { ToolRegistry, type ToolSpec } from "./registry.js";
import { Flights } from "./resources/flights.js";
import type { ListedResource, ListedTemplate } from "./resources/connection.js";
import type { ResourceReading } from "./resources/contents.js";
import type { Listing } from "./resources/listed.js";
import { assembled, type ArtifactCopies, type RunningSource } from "./running-source.js";
import type { ToolSource } from "./source.js";
import type { ToolResult } from "./tool-answer.js";
import type { ResolvedToolConfig, Variables } from "./variables.js";

/** One time of being connected: from `connect`, or the attempt at it, to `close`. */
class Stay {
  readonly over = new AbortController();
  source: RunningSource | undefined;
  isConnected = false;

  /** Ends whatever is under way, and everything that was opened. */
  async end(reason: unknown): Promise<void> {
    this.over.abort(reason);
    await this.source?.[Symbol.asyncDispose]();
  }
}

/** A source whose transports are chosen by whoever extends it. */
export abstract class AnyToolNode implements AsyncDisposable {
  readonly #config: ToolConfig;
  readonly #options: ToolNodeOptions;
  readonly #offers: Offers;
  /** Each is told of everything, whatever the others throw. */
  readonly #listeners = new Set<(event: ToolNodeEvent) => void>();
  readonly #onEvent = (event: ToolNodeEvent): void => this.#listeners.forEach((listener) => listener(event));
  /** All who connect meanwhile wait for the same. */
  readonly #connecting = new Flights<void>();
  #stay: Stay | undefined;

  /** Throws a ToolConfigError with the path of the key that is wrong, a ToolNodeError for an option that is. */
  constructor(config: ExternalToolConfig, options: ToolNodeOptions = {}) {
    checkToolNode(options);
    this.#config = readToolConfig(config);
    this.#options = options;
    this.#offers = new Offers(options.registry ?? new ToolRegistry(), this.#config.name);
    this.#listeners.add(heedless(options.onEvent));
  }

  /** The source's name: the namespace of its tools. */
  get name(): string {
    return this.#config.name;
  }

  /**
   * Connects, finds out what tools there are, and registers them. Does nothing when it is connected; whoever comes while
   * it is being connected waits for the same.
   *
   * @param context who asks, where users have tokens of their own: their tools are those that all are offered. Its signal
   * gives up waiting, and when nobody waits any more, connecting.
   * @throws ToolNodeError when the source cannot be reached, a variable is missing, a name is taken, or it was closed
   * meanwhile; SluiceError E_CONFIG_… for what is wrong with `artifact_extraction`.
   */
  async connect(context: ToolContext = {}): Promise<void> {
    if (this.#stay?.isConnected === true) return;
    await this.#connecting.join("", context.signal, (signal) => this.#connect({ ...context, signal }));
  }

  /**
   * The tools: the source's own, those for its resources, and the one that reads artifacts.
   *
   * @throws ToolNodeError E_TOOL before `connect` and after `close`.
   */
  getTools(): readonly ToolSpec[] {
    this.#running();
    return this.#offers.list;
  }

  /**
   * Calls a tool by the name that planners know, or by the source's own. What the tool says of its failure is a result, with
   * `isError`.
   *
   * @throws ToolNodeError, whose sentence may be shown to a model; the reason of the context's signal; another SluiceError
   * where the store fails and `door.on_store_failure` says `error`.
   */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    context: ToolContext = {},
  ): Promise<ToolResult> {
    this.#running();
    const tool = this.#offers.find(name);
    if (tool !== undefined) return tool.call(checkedArguments(args, tool.name), context);
    throw new ToolClientError(`The source ${this.name} offers no tool ${JSON.stringify(name)}: see getTools.`);
  }

  /** What the source has to read, all pages. Throws E_TOOL_UNSUPPORTED where it has nothing. */
  listResources(context: ToolContext = {}): Promise<Listing<ListedResource>> {
    return this.#running().resources.listResources(context);
  }

  /** The templates of its resources' URIs, all pages. */
  listResourceTemplates(context: ToolContext = {}): Promise<Listing<ListedTemplate>> {
    return this.#running().resources.listResourceTemplates(context);
  }

  /** Every content of a resource: short texts as they are, long ones and bytes as artifacts. */
  readResource(uri: string, context: ToolContext = {}): Promise<ResourceReading> {
    return this.#running().resources.readResource(uri, context);
  }

  /** Asks to be told of a resource's changes, by `onEvent`. */
  subscribe(uri: string, context: ToolContext = {}): Promise<void> {
    return this.#running().resources.subscribe(uri, context);
  }

  /** Takes one asking back. */
  unsubscribe(uri: string, context: ToolContext = {}): Promise<void> {
    return this.#running().resources.unsubscribe(uri, context);
  }

  /** Values that the source offers for a variable of a template, beginning with what is written of it: at most 100, or none. */
  complete(template: string, variable: string, value: string, context: ToolContext = {}): Promise<readonly string[]> {
    return this.#running().resources.complete(template, variable, value, context);
  }

  /**
   * Has somebody told of what happens, beside the `onEvent` of the options, until what is given back is called. What a listener
   * throws is lost.
   */
  listen(listener: (event: ToolNodeEvent) => void): () => void {
    const heard = heedless(listener);
    this.#listeners.add(heard);
    return () => void this.#listeners.delete(heard);
  }

  /** Closes all sessions, ends connecting, and takes the tools out of the registry. May be connected again. */
  async close(): Promise<void> {
    const stay = this.#stay;
    this.#connecting.close();
    this.#leave(stay);
    await stay?.end(wasClosed(this.name));
  }

  /** As `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The source of a configuration. */
  protected abstract source(config: ResolvedToolConfig, parts: SourceParts): ToolSource;

  /** What `${VAR}` stands for where nobody says it. */
  protected abstract readonly variables: Variables;

  /**
   * Copies of a store's artifacts; undefined where there are no files.
   *
   * @hidden
   */
  protected copies(_store: ArtifactStore): ArtifactCopies | undefined {
    return undefined;
  }

  async #connect(context: ToolContext & { readonly signal: AbortSignal }): Promise<void> {
    const stay = new Stay();
    this.#stay = stay;
    const signal = AbortSignal.any([context.signal, stay.over.signal]);
    try {
      await this.#enter(stay, { ...context, signal });
      signal.throwIfAborted();
      stay.isConnected = true;
    } catch (error) {
      this.#leave(stay);
      await stay.end(error);
      throw error;
    }
  }

  async #enter(stay: Stay, context: ToolContext): Promise<void> {
    // Whoever connected may have gone by then: nobody is asked anything.
    const later = { signal: stay.over.signal, ...(context.scope !== undefined && { scope: context.scope }) };
    const refreshing = new Refreshing(() => this.#refreshed(stay, later), stay.over.signal);
    const source = await assembled({
      config: this.#config,
      options: this.#options,
      variables: variablesIn(this.#options, this.variables),
      source: (config, parts) => this.source(config, parts),
      copies: (store) => this.copies(store),
      over: stay.over.signal,
      onEvent: this.#onEvent,
      onToolsChanged: () => refreshing.ask(),
    });
    stay.source = source;
    context.signal?.throwIfAborted();
    await this.#look(stay, source, context);
  }

  /** Finds out what tools there are now. */
  async #look(stay: Stay, source: RunningSource, context: ToolContext): Promise<void> {
    const number = this.#offers.look();
    const { tools: all, generated } = await source.look(context);
    if (this.#stay !== stay) throw wasClosed(this.name);
    const tools = all.filter(isNamed);
    if (tools.length < all.length) this.#onEvent({ kind: "left_out", count: all.length - tools.length });
    const own = offered(tools, this.#config, (tool, args, calling = {}) => source.call(tool, args, calling));
    this.#offers.take(own, generated, number);
  }

  /** The source has other tools now. */
  async #refreshed(stay: Stay, context: ToolContext): Promise<void> {
    if (stay.source === undefined) return;
    let error: SluiceError | undefined;
    try {
      await this.#look(stay, stay.source, context);
    } catch (thrown) {
      error = thrown instanceof SluiceError ? thrown : unlisted(thrown);
    }
    if (this.#stay !== stay) return;
    this.#onEvent({ kind: "tools_changed", names: this.#offers.names, ...(error !== undefined && { error }) });
  }

  /** Whoever connects from now on begins anew. */
  #leave(stay: Stay | undefined): void {
    if (this.#stay !== stay) return;
    this.#stay = undefined;
    this.#offers.clear();
  }

  #running(): RunningSource {
    if (this.#stay?.isConnected === true && this.#stay.source !== undefined) return this.#stay.source;
    throw new ToolNodeError(`The source ${this.name} is not connected: call connect first.`, NOT_THERE);
  }
}

const NOT_THERE = { category: "non_retryable" } as const;

function checkedArguments(args: unknown, tool: string): Readonly<Record<string, unknown>> {
  if (typeof args === "object" && args !== null && !Array.isArray(args)) return args as Record<string, unknown>;
  throw new ToolClientError(`The arguments of ${tool} must be an object, such as {"name": "value"}.`);
}

function unlisted(cause: unknown): ToolNodeError {
  return new ToolNodeError("The tools could not be listed.", { cause });
}
