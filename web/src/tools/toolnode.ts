/**
 * One source of tools, as a planner sees it (ToolNode 2.1 §2).
 * @module
 */
import { chosenStore } from "../artifacts/choice.js";
import { configured } from "../artifacts/retention/configured.js";
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import type { ArtifactStore, StoredArtifact } from "../artifacts/store.js";
import { standIn } from "../artifacts/unstored.js";
import { createSluiceOver, type WasmSource } from "../core/create.js";
import type { Sluice } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { readDoor, withoutDoor } from "../mcp/door-config.js";
import { heedless } from "../mcp/door-event.js";
import { ArtifactArguments } from "./artifacts/arguments.js";
import { artifactReadTool } from "./artifacts/read-tool.js";
import type { McpClientIdentity } from "./auth/mcp-discovery.js";
import type { OAuthManager } from "./auth/oauth-manager.js";
import { readToolConfig, type ExternalToolConfig, type ToolConfig } from "./config.js";
import type { ToolContext } from "./context.js";
import { ToolClientError, ToolNodeError } from "./errors.js";
import type { ToolNodeEvent } from "./event.js";
import { offered } from "./offer.js";
import { Offers } from "./offers.js";
import { ToolRegistry, type ToolSpec } from "./registry.js";
import type { ListedResource, ListedTemplate } from "./resources/connection.js";
import type { ResourceReading } from "./resources/contents.js";
import type { Listing } from "./resources/listed.js";
import { resourceTools } from "./resources/tools.js";
import { RunningSource } from "./running.js";
import { wasClosed } from "./sessions.js";
import type { ToolSource } from "./source.js";
import type { ToolResult } from "./tool-answer.js";
import { resolveVariables, type ResolvedToolConfig, type Variables } from "./variables.js";

/** What a ToolNode is given beside its configuration; all of it may be left out. */
export interface ToolNodeOptions {
  /** The tools that it shares names with; one of its own when left out. */
  readonly registry?: ToolRegistry;
  /** Where artifacts go; without one nothing is kept, and observations say so. */
  readonly store?: ArtifactStore;
  /** Asked for its artifact store where none is named. */
  readonly stateStore?: unknown;
  /** Users' tokens, for `auth_type: "oauth2_user"`. */
  readonly authManager?: OAuthManager;
  /**
   * Who this program is to the providers of MCP servers that tell of theirs: with it a user's provider need not be
   * configured.
   */
  readonly oauthClient?: McpClientIdentity;
  /** Values of `${VAR}`; the environment in Node, none elsewhere. */
  readonly variables?: Variables;
  /** Told of what happens. What it throws is lost. */
  readonly onEvent?: (event: ToolNodeEvent) => void;
  /** Given what a program that is started writes to standard error, which is untrusted; thrown away when left out. */
  readonly onErrorOutput?: (chunk: Uint8Array) => void;
  /** How HTTP is spoken; that of the platform when left out. */
  readonly fetch?: typeof globalThis.fetch;
  /** Where the core is, when a bundler moved it. */
  readonly wasm?: WasmSource;
}

/** What sources are made of. */
export interface SourceParts extends Pick<ToolNodeOptions, "fetch" | "onErrorOutput"> {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly variables: Variables;
}

/** A source, and the tools that are made for it. */
interface Opened {
  readonly running: RunningSource;
  readonly generated: (hasResources: boolean) => readonly ToolSpec[];
}

/** Copies of artifacts, for tools that take the path of a file. */
export interface ArtifactCopies extends AsyncDisposable {
  /** Writes a copy and gives its path. */
  write(ref: StoredArtifact): Promise<string>;
}

/** A source whose transports are chosen by whoever extends it. */
export abstract class AnyToolNode implements AsyncDisposable {
  readonly #config: ToolConfig;
  readonly #options: ToolNodeOptions;
  readonly #offers: Offers;
  readonly #onEvent: (event: ToolNodeEvent) => void;
  #connecting: Promise<void> | undefined;
  #source: RunningSource | undefined;
  #copies: ArtifactCopies | undefined;

  /** Throws a ToolConfigError with the path of the key that is wrong. */
  constructor(config: ExternalToolConfig, options: ToolNodeOptions = {}) {
    this.#config = readToolConfig(config);
    this.#options = options;
    this.#offers = new Offers(options.registry ?? new ToolRegistry(), this.#config.name);
    this.#onEvent = heedless(options.onEvent);
  }

  /** The source's name: the namespace of its tools. */
  get name(): string {
    return this.#config.name;
  }

  /**
   * Connects, finds out what tools there are, and registers them. Does nothing when it is connected.
   *
   * @param context who asks, where users have tokens of their own: their tools are those that all are offered.
   * @throws ToolNodeError when the source cannot be reached, a variable is missing, or a name is taken; SluiceError
   * E_CONFIG_… for what is wrong with `artifact_extraction`.
   */
  async connect(context: ToolContext = {}): Promise<void> {
    this.#connecting ??= this.#connect(context).catch(async (error: unknown) => {
      await this.close();
      throw error;
    });
    await this.#connecting;
  }

  /** The tools: the source's own, those for its resources, and the one that reads artifacts. Throws before `connect`. */
  getTools(): readonly ToolSpec[] {
    this.#running();
    return this.#offers.list;
  }

  /**
   * Calls a tool by the name that planners know, or by the source's own. What the tool says of its failure is a result.
   *
   * @throws ToolNodeError; the reason of the context's signal.
   */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    context: ToolContext = {},
  ): Promise<ToolResult> {
    this.#running();
    const tool = this.#offers.find(name);
    if (tool !== undefined) return tool.call(args, context);
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

  /** Values that the source offers for a variable of a template, beginning with what is written of it. */
  complete(template: string, variable: string, value: string, context: ToolContext = {}): Promise<readonly string[]> {
    return this.#running().resources.complete(template, variable, value, context);
  }

  /** Closes all sessions and takes the tools out of the registry. May be connected again. */
  async close(): Promise<void> {
    const [source, copies] = [this.#source, this.#copies];
    this.#source = undefined;
    this.#copies = undefined;
    this.#connecting = undefined;
    this.#offers.clear();
    await source?.[Symbol.asyncDispose]();
    await copies?.[Symbol.asyncDispose]();
  }

  /** As `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The source of a configuration. */
  protected abstract source(config: ResolvedToolConfig, parts: SourceParts): ToolSource;

  /** What `${VAR}` stands for where nobody says it. */
  protected abstract readonly variables: Variables;

  /** Copies of a store's artifacts; undefined where there are no files. */
  protected copies(_store: ArtifactStore): ArtifactCopies | undefined {
    return undefined;
  }

  async #connect(context: ToolContext): Promise<void> {
    const { running, generated } = await this.#opened(() => void refresh());
    this.#source = running;
    const { name } = this;
    const look = async (asking: ToolContext): Promise<void> => {
      const number = this.#offers.look();
      const { tools, hasResources } = await running.look(asking);
      if (this.#source !== running) throw wasClosed(name);
      const own = offered(tools, this.#config, (tool, args, calling = {}) => running.call(tool, args, calling));
      this.#offers.take(own, generated(hasResources), number);
    };
    // Whoever connected may have gone by then: nobody is asked anything.
    const asker = context.scope === undefined ? {} : { scope: context.scope };
    const refresh = (): Promise<void> => this.#refreshed(running, () => look(asker));
    await look(context);
  }

  /** A source that nothing was asked of yet, and the tools that are offered beside its own. */
  async #opened(onToolsChanged: () => void): Promise<Opened> {
    const { stateStore, store: given, wasm, fetch, onErrorOutput, variables = this.variables } = this.#options;
    const config = resolveVariables(this.#config, variables);
    const { store, config: rest } = configured(chosenStore(given, stateStore), config.artifact_extraction);
    const { on_store_failure, arguments: forms, share } = readDoor(rest);
    const onFailure = on_store_failure === "error" ? "throw" : "answer";
    const sluice = await createSluiceOver({ store, standIn, onFailure }, withoutDoor(rest), wasm);
    const source = this.source(config, {
      sluice,
      store,
      variables,
      ...(fetch !== undefined && { fetch }),
      ...(onErrorOutput !== undefined && { onErrorOutput }),
    });
    const copies = this.copies(store);
    this.#copies = copies;
    const writeCopy = copies && ((ref: StoredArtifact): Promise<string> => copies.write(ref));
    const running = new RunningSource({
      config,
      source,
      sluice,
      store,
      parts: this.#options,
      artifacts: new ArtifactArguments({ store, namespace: config.name, forms, share, writeCopy }),
      onEvent: this.#onEvent,
      onToolsChanged,
    });
    const reading = store instanceof NoOpArtifactStore ? [] : [readingTool(config, store, sluice)];
    const generated = (hasResources: boolean): readonly ToolSpec[] =>
      hasResources ? [...forResources(running, config, sluice), ...reading] : reading;
    return { running, generated };
  }

  /** The source has other tools now. */
  async #refreshed(running: RunningSource, look: () => Promise<void>): Promise<void> {
    let error: SluiceError | undefined;
    try {
      await look();
    } catch (thrown) {
      error = thrown instanceof SluiceError ? thrown : unlisted(thrown);
    }
    if (this.#source !== running) return;
    this.#onEvent({ kind: "tools_changed", names: this.#offers.names, ...(error !== undefined && { error }) });
  }

  #running(): RunningSource {
    if (this.#source !== undefined) return this.#source;
    throw new ToolNodeError(`The source ${this.name} is not connected: call connect first.`);
  }
}

/** The tool for a source's artifacts. */
function readingTool(config: ResolvedToolConfig, store: ArtifactStore, sluice: Sluice): ToolSpec {
  const { name: namespace, transport: source, artifact_extraction } = config;
  return artifactReadTool({ namespace, source, store, sluice, config: artifact_extraction });
}

/** The tools for a source's resources. */
function forResources(running: RunningSource, config: ResolvedToolConfig, sluice: Sluice): readonly ToolSpec[] {
  const { name, transport, artifact_extraction } = config;
  const { resources, guardrail } = artifact_extraction;
  if (resources?.enabled === false) return [];
  const tools = resourceTools({
    reader: running.resources,
    namespace: name,
    source: transport,
    sluice,
    config: guardrail === undefined ? {} : { guardrail },
  });
  return tools.map((tool) => telling(tool, running));
}

/** The same tool, of whose results the host is told. */
function telling(tool: ToolSpec, running: RunningSource): ToolSpec {
  const name = tool.name.slice(tool.extra.namespace.length + 1);
  return {
    ...tool,
    call: async (args, context) => {
      const answer = await tool.call(args, context);
      running.tell(name, answer);
      return answer;
    },
  };
}

function unlisted(cause: unknown): ToolNodeError {
  return new ToolNodeError("The tools could not be listed.", { cause });
}
