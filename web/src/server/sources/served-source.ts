/**
 * One source of a server: its nodes, and what is known of it before it is connected.
 * @module
 */
import { sha256 } from "#hash";
import { untilAborted } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import { ToolNode } from "../../tools-node.js";
import type { McpClientIdentity } from "../../tools/auth/mcp-discovery.js";
import type { OAuthManager } from "../../tools/auth/oauth-manager.js";
import type { OAuthStateStore } from "../../tools/auth/pending-requests.js";
import { userKey } from "../../tools/auth/token-store.js";
import type { OAuthProviderConfig } from "../../tools/auth/oauth-client.js";
import { ToolNodeError, ToolRateLimitError, wasClosed } from "../../tools/errors.js";
import type { ExternalToolConfig, ToolConfig } from "../../tools/config.js";
import { transportOf } from "../../tools/connection.js";
import type { ToolContext, ToolNodeEvent, ToolNodeOptions } from "../../tools/options.js";
import { substitute, type Variables } from "../../tools/variables.js";

const MAX_NODES = 256;
const IDLE = 60 * 60 * 1000;

/** What is told of a source to whoever may use it. */
export interface SourceFacts {
  /** The namespace of its tools and resources. */
  readonly name: string;
  /** How it is spoken to. */
  readonly transport: ToolConfig["transport"];
  /** What it is for; empty where nobody said. */
  readonly description: string;
  /** Whether its users have tokens of their own, for which they are asked. */
  readonly asks_consent: boolean;
}

/** What a source is served with. */
interface ServedSourceDeps {
  /** As it was given, and as it was read. */
  readonly given: ExternalToolConfig;
  readonly config: ToolConfig;
  readonly options: Omit<ToolNodeOptions, "onEvent">;
  readonly variables: Variables;
  readonly providers: SharedProviders;
  /** `owner`: the {@link userKey} of whose connection it was; null where all share one. Must not throw. */
  readonly onEvent: (event: ToolNodeEvent, owner: string | null) => void;
  readonly over: AbortSignal;
  /** Users who are connected at a time; 256 when left out. */
  readonly maxNodes?: number;
  /** Milliseconds without use after which a user's connection makes room; an hour when left out. */
  readonly idle?: number;
}

/**
 * A source. Where users have tokens or files of their own each has a node of their own: nobody waits for another's consent,
 * sees the tools that another is offered, or is told of another's resources.
 */
export class ServedSource implements AsyncDisposable {
  readonly facts: SourceFacts;
  readonly #deps: ServedSourceDeps;
  readonly #isPerUser: boolean;
  /** Least recently used first. */
  readonly #nodes = new Map<string, SourceNode>();

  constructor(deps: ServedSourceDeps) {
    const { name, transport, description, auth_type, user_files } = deps.config;
    this.#deps = deps;
    this.#isPerUser = auth_type === "oauth2_user" || user_files;
    this.facts = { name, transport, description, asks_consent: auth_type === "oauth2_user" };
  }

  /** Connected, for whoever asks. Throws as `SourceNode.connected`; E_TOOL_RATE_LIMIT where too many use it. */
  async connected(context: ToolContext): Promise<ToolNode> {
    return this.#nodeOf(context).connected(context);
  }

  /** Sees to it that the provider is known to whom this source's users give access. Throws as `discoverMcpProvider`. */
  async ensureProvider(): Promise<void> {
    const source = this.#tokenSource;
    if (source !== null) await this.#deps.providers.ensure(source);
  }

  /** The same, as far as another process found it out. Never throws. */
  async adoptProvider(): Promise<void> {
    const source = this.#tokenSource;
    if (source !== null) await this.#deps.providers.adopt(source);
  }

  /** Null where no provider is found out. */
  get #tokenSource(): TokenSource | null {
    const { name, auth_type, auth_config } = this.#deps.config;
    const endpoint = endpointOf(this.#deps);
    if (auth_type !== "oauth2_user" || endpoint === undefined || endpoint.kind === "stdio") return null;
    return { source: name, provider: auth_config["provider"] ?? name, url: endpoint.url };
  }

  /** Closes all of its connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    const nodes = [...this.#nodes.values()];
    this.#nodes.clear();
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
  }

  #nodeOf(context: ToolContext): SourceNode {
    const { over } = this.#deps;
    over.throwIfAborted();
    const key = this.#isPerUser ? userKey(context) : "";
    const known = this.#nodes.get(key);
    if (known === undefined) this.#makeRoom();
    const node = known ?? this.#made(key);
    this.#nodes.delete(key);
    this.#nodes.set(key, node);
    return node;
  }

  #made(key: string): SourceNode {
    const { given, options, onEvent, over } = this.#deps;
    const isOneUsers = this.#isPerUser;
    const owner = isOneUsers ? key : null;
    const node = new ToolNode(given, {
      ...options,
      onEvent: (event) => {
        made.usedAt = performance.now();
        onEvent(event, owner);
      },
    });
    const made: SourceNode = new SourceNode(node, { isOneUsers, prepare: () => this.ensureProvider(), over });
    return made;
  }

  /** Those whom nobody asked for of late go; of the others none is taken from whoever works with it. */
  #makeRoom(): void {
    const { maxNodes = MAX_NODES, idle = IDLE } = this.#deps;
    const before = performance.now() - idle;
    for (const [key, node] of this.#nodes) {
      if (node.usedAt > before) continue;
      this.#nodes.delete(key);
      void node[Symbol.asyncDispose]().catch(() => undefined);
    }
    if (this.#nodes.size < maxNodes) return;
    throw new ToolRateLimitError(
      `As many users work with ${this.facts.name} as it is served to at a time: try again later.`,
      {
        neverSent: true,
      },
    );
  }
}

/** Where an MCP server is; undefined for other sources, and where a variable is missing, which connecting says. */
function endpointOf({ config, variables }: ServedSourceDeps): ReturnType<typeof transportOf> | undefined {
  if (config.transport !== "mcp") return undefined;
  try {
    return transportOf(config.connection, (text) => substitute(text, variables, config.name));
  } catch {
    return undefined;
  }
}

/** Milliseconds that a source which failed is left alone; each further failure doubles them. */
const LEAST_REST = 1000;
const MOST_REST = 30_000;

/** Connects when it is first needed, once for all who ask meanwhile, and after a failure again, with a pause. */
export class SourceNode implements AsyncDisposable {
  /** When it was last asked for, as `performance.now` says it. */
  usedAt: number = performance.now();
  readonly #node: ToolNode;
  readonly #isOneUsers: boolean;
  readonly #prepare: () => Promise<void>;
  readonly #over: AbortSignal;
  #connecting: Promise<void> | undefined;
  #isConnected = false;
  #isClosed = false;
  #rest = 0;
  #failure: { readonly error: unknown; readonly until: number } | undefined;

  /**
   * `isOneUsers`: it is connected for whoever asks, who may be asked for consent; else for all.
   * `prepare` goes before connecting.
   */
  constructor(
    node: ToolNode,
    deps: { readonly isOneUsers: boolean; readonly prepare: () => Promise<void>; readonly over: AbortSignal },
  ) {
    this.#node = node;
    this.#isOneUsers = deps.isOneUsers;
    this.#prepare = deps.prepare;
    this.#over = deps.over;
  }

  /** Connected. Throws what `ToolNode.connect` throws, for a while after a failure the same; the reason of the context's signal. */
  async connected(context: ToolContext): Promise<ToolNode> {
    this.usedAt = performance.now();
    while (this.#connecting !== undefined) await untilAborted(this.#connecting, context.signal);
    if (this.#isClosed) throw wasClosed(this.#node.name);
    if (this.#isConnected) return this.#node;
    if (this.#failure !== undefined && performance.now() < this.#failure.until) throw this.#failure.error;
    const connecting = this.#connect(this.#whoConnects(context));
    this.#connecting = connecting
      .catch(() => undefined)
      .finally(() => {
        this.#connecting = undefined;
      });
    await untilAborted(connecting, context.signal);
    return this.#node;
  }

  /** Closes it, for good. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#node.close();
  }

  async #connect(context: ToolContext): Promise<void> {
    try {
      await this.#prepare();
      // Whoever closed it meanwhile would leave open what is opened now.
      if (this.#isClosed) throw wasClosed(this.#node.name);
      await this.#node.connect(context);
      this.#isConnected = true;
      this.#rest = 0;
    } catch (error) {
      this.#note(error);
      throw error;
    }
  }

  /** Whoever is asked may give up; where nobody is, it goes on for those who come later. */
  #whoConnects(context: ToolContext): ToolContext {
    if (this.#isOneUsers && context.pause !== undefined) return context;
    const { scope } = context;
    return { signal: this.#over, ...(this.#isOneUsers && scope !== undefined && { scope }) };
  }

  /** What a person has to do, or did not want to, is no reason for a pause. */
  #note(error: unknown): void {
    const isTheirs = error instanceof ToolNodeError && error.category === "auth_required" && this.#isOneUsers;
    if (isTheirs || !(error instanceof SluiceError)) return;
    this.#rest = Math.min(MOST_REST, Math.max(LEAST_REST, 2 * this.#rest));
    this.#failure = { error, until: performance.now() + this.#rest };
  }
}

/** Seconds that what was found out is kept for others: a state store may keep it for less. */
const KEPT = 24 * 60 * 60;

/** What providers are found out with. */
interface SharedProviderDeps {
  readonly manager: OAuthManager;
  readonly states: OAuthStateStore;
  /** Who this program is; undefined: nothing is found out. */
  readonly client: McpClientIdentity | undefined;
}

/** An MCP server whose users have tokens of their own. */
interface TokenSource {
  /** The source's name. */
  readonly source: string;
  /** The provider's. */
  readonly provider: string;
  /** Where it is. */
  readonly url: string;
}

/**
 * Finds out the providers of MCP servers. A request for consent that begins in one process is answered in another only where
 * both are the same client of the provider.
 */
export class SharedProviders {
  readonly #deps: SharedProviderDeps;

  constructor(deps: SharedProviderDeps) {
    this.#deps = deps;
  }

  /** Sees to it that the manager knows the provider of a source. Throws what `discoverMcpProvider` throws. */
  async ensure(of: TokenSource): Promise<void> {
    const { manager, client } = this.#deps;
    if (client === undefined || (await this.adopt(of))) return;
    const { source, provider, url } = of;
    const key = await keyOf(of, client);
    await manager.ensureProvider(provider, () =>
      manager.discoverProvider({ source, url, client }).then((found) => this.#kept(key, found)),
    );
  }

  /** Takes over what another process found out, and asks nobody. False where there is nothing. Never throws. */
  async adopt(of: TokenSource): Promise<boolean> {
    const { manager, client } = this.#deps;
    if (manager.hasProvider(of.provider)) return true;
    if (client === undefined) return false;
    try {
      const kept = await this.#load(await keyOf(of, client));
      if (kept === null) return false;
      await manager.ensureProvider(of.provider, async () => kept);
      return true;
    } catch {
      // What cannot be read, or is damaged, is found out anew.
      return false;
    }
  }

  /** What others found out in the same moment goes before. */
  async #kept(key: string, found: OAuthProviderConfig): Promise<OAuthProviderConfig> {
    const { states } = this.#deps;
    try {
      const others = await this.#load(key);
      if (others !== null) return others;
      await states.saveOAuthState(key, found, KEPT);
    } catch {
      // It is good for this process all the same.
    }
    return found;
  }

  async #load(key: string): Promise<OAuthProviderConfig | null> {
    return (await this.#deps.states.loadOAuthState(key)) as OAuthProviderConfig | null;
  }
}

/** Another client of ours, as after a new configuration, is another one there too. */
async function keyOf({ source, url }: TokenSource, client: McpClientIdentity): Promise<string> {
  return `provider ${await sha256.whole(new TextEncoder().encode(JSON.stringify([source, url, client])))}`;
}
