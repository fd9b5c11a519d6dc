/**
 * One source of a server: its connections, and what is known before it is connected.
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
import type { ExternalToolConfig, ToolConfig } from "../../tools/config/config.js";
import { parseConnection } from "../../tools/config/connection.js";
import type { ToolNodeOptions } from "../../tools/options.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import type { ToolContext } from "../../tools/context.js";
import { substitute, type Variables } from "../../tools/config/variables.js";
import { UserLimitReached } from "../usage/user-limits.js";

const MAX_NODES = 256;
const IDLE = 60 * 60 * 1000;

/** A source as clients see it. */
export interface SourceFacts {
  /** The namespace of its tools and resources. */
  readonly name: string;
  /** Its transport. */
  readonly transport: ToolConfig["transport"];
  /** What it is for, or empty. */
  readonly description: string;
  /** Whether users have to consent. */
  readonly asks_consent: boolean;
}

interface ServedSourceDeps {
  /** The configuration, as given and as read. */
  readonly given: ExternalToolConfig;
  readonly config: ToolConfig;
  readonly options: Omit<ToolNodeOptions, "onEvent">;
  readonly variables: Variables;
  readonly providers: SharedProviders;
  /** `owner`: the {@link userKey} of the connection's user, or null for a shared connection. Must not throw. */
  readonly onEvent: (event: ToolNodeEvent, owner: string | null) => void;
  readonly over: AbortSignal;
  /** Holds one of the programs of a context's user. Throws UserLimitReached. */
  readonly holdProgram: (context: ToolContext) => Promise<Disposable>;
  /** Most connected users. Defaults to 256. */
  readonly maxNodes?: number;
  /** Milliseconds until an unused connection may be closed. Defaults to an hour. */
  readonly idle?: number;
}

/**
 * A source. If users have their own tokens or files, each has a connection, so that no user waits for another's
 * consent, sees another's tools or hears of another's resources.
 */
export class ServedSource implements AsyncDisposable {
  readonly facts: SourceFacts;
  readonly #deps: ServedSourceDeps;
  readonly #isPerUser: boolean;
  /** By user, least recently used first. */
  readonly #nodes = new Map<string, SourceNode>();

  constructor(deps: ServedSourceDeps) {
    const { name, transport, description, auth_type, user_files } = deps.config;
    this.#deps = deps;
    this.#isPerUser = auth_type === "oauth2_user" || user_files;
    this.facts = { name, transport, description, asks_consent: auth_type === "oauth2_user" };
  }

  /** Its configuration. */
  get config(): ToolConfig {
    return this.#deps.config;
  }

  /** The connection for a user. Throws as `SourceNode.connected`; E_TOOL_RATE_LIMIT for too many users. */
  async connected(context: ToolContext): Promise<ToolNode> {
    return this.#findNode(context).connected(context);
  }

  /** Makes sure that the source's OAuth provider is known. Throws as `discoverMcpProvider`. */
  async ensureProvider(): Promise<void> {
    const source = this.#tokenSource;
    if (source !== null) await this.#deps.providers.ensure(source);
  }

  /** Takes over the provider if another process discovered it. Never throws. */
  async adoptProvider(): Promise<void> {
    const source = this.#tokenSource;
    if (source !== null) await this.#deps.providers.adopt(source);
  }

  /** Null if no provider is to be discovered. */
  get #tokenSource(): TokenSource | null {
    const { name, auth_type, auth_config } = this.#deps.config;
    const endpoint = findEndpoint(this.#deps);
    if (auth_type !== "oauth2_user" || endpoint === undefined || endpoint.kind === "stdio") return null;
    return { source: name, provider: auth_config["provider"] ?? name, url: endpoint.url };
  }

  /** Whether each user has a program of their own. */
  get isProgramOfUser(): boolean {
    return this.#isPerUser && findEndpoint(this.#deps)?.kind === "stdio";
  }

  /** When a user's connection was last used, by `performance.now`; undefined if there is none. */
  usedAt(key: string): number | undefined {
    return this.#nodes.get(key)?.usedAt;
  }

  /** Closes a user's connection, if there is one. */
  async close(key: string): Promise<void> {
    const node = this.#nodes.get(key);
    this.#nodes.delete(key);
    await node?.[Symbol.asyncDispose]();
  }

  /** Closes all of its connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    const nodes = [...this.#nodes.values()];
    this.#nodes.clear();
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
  }

  #findNode(context: ToolContext): SourceNode {
    const { over } = this.#deps;
    over.throwIfAborted();
    const key = this.#isPerUser ? userKey(context) : "";
    const known = this.#nodes.get(key);
    if (known === undefined) this.#makeRoom();
    const node = known ?? this.#makeNode(key);
    this.#nodes.delete(key);
    this.#nodes.set(key, node);
    return node;
  }

  #makeNode(key: string): SourceNode {
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
    const prepare = (): Promise<void> => this.ensureProvider();
    const { holdProgram } = this.#deps;
    const hold = this.isProgramOfUser ? { holdProgram } : {};
    const made: SourceNode = new SourceNode(node, { isOneUsers, prepare, over, ...hold });
    return made;
  }

  /** Closes unused connections. Connections in use are never closed for another user. */
  #makeRoom(): void {
    const { maxNodes = MAX_NODES, idle = IDLE } = this.#deps;
    const before = performance.now() - idle;
    for (const [key, node] of this.#nodes) {
      if (node.usedAt > before) continue;
      this.#nodes.delete(key);
      void node[Symbol.asyncDispose]().catch(() => undefined);
    }
    if (this.#nodes.size < maxNodes) return;
    throw new ToolRateLimitError(`Too many users are using ${this.facts.name} at the same time: try again later.`, {
      neverSent: true,
    });
  }
}

/** The address of an MCP server. Undefined for other sources, and if a variable is missing: connecting tells that. */
function findEndpoint({ config, variables }: ServedSourceDeps): ReturnType<typeof parseConnection> | undefined {
  if (config.transport !== "mcp") return undefined;
  try {
    return parseConnection(config.connection, (text) => substitute(text, variables, config.name));
  } catch {
    return undefined;
  }
}

/** Milliseconds until a failed source is tried again. Each further failure doubles them. */
const LEAST_REST = 1000;
const MOST_REST = 30_000;

/** Connects at first use, once for all concurrent users, and again after a failure and a pause. */
export class SourceNode implements AsyncDisposable {
  /** The time of the last use, by `performance.now`. */
  usedAt: number = performance.now();
  readonly #node: ToolNode;
  readonly #isOneUsers: boolean;
  readonly #prepare: () => Promise<void>;
  readonly #over: AbortSignal;
  readonly #holdProgram: ServedSourceDeps["holdProgram"] | undefined;
  #held: Disposable | undefined;
  #connecting: Promise<void> | undefined;
  #isConnected = false;
  #isClosed = false;
  #rest = 0;
  #failure: { readonly error: unknown; readonly until: number } | undefined;

  /**
   * `isOneUsers`: connects as the user, who may be asked for consent. `prepare` runs before connecting. `holdProgram`:
   * it is a program of the user's own.
   */
  constructor(
    node: ToolNode,
    deps: {
      readonly isOneUsers: boolean;
      readonly prepare: () => Promise<void>;
      readonly over: AbortSignal;
      readonly holdProgram?: ServedSourceDeps["holdProgram"];
    },
  ) {
    this.#holdProgram = deps.holdProgram;
    this.#node = node;
    this.#isOneUsers = deps.isOneUsers;
    this.#prepare = deps.prepare;
    this.#over = deps.over;
  }

  /**
   * The connected node. Throws what `ToolNode.connect` throws, after a failure the same error for a while; the reason
   * of the context's signal.
   */
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
    try {
      await this.#node.close();
    } finally {
      this.#release();
    }
  }

  #release(): void {
    this.#held?.[Symbol.dispose]();
    this.#held = undefined;
  }

  async #connect(context: ToolContext): Promise<void> {
    try {
      await this.#prepare();
      this.#held ??= await this.#holdProgram?.(context);
      // A connection made after closing would stay open.
      if (this.#isClosed) throw wasClosed(this.#node.name);
      await this.#node.connect(context);
      this.#isConnected = true;
      this.#rest = 0;
    } catch (error) {
      this.#release();
      this.#note(error);
      throw error;
    }
  }

  /** The connecting user may give up if they are asked. Otherwise connecting goes on for later users. */
  #whoConnects(context: ToolContext): ToolContext {
    if (this.#isOneUsers && context.pause !== undefined) return context;
    const { scope } = context;
    return { signal: this.#over, ...(this.#isOneUsers && scope !== undefined && { scope }) };
  }

  /** Missing consent is no reason for a pause, nor is a limit of the user's. */
  #note(error: unknown): void {
    const isTheirs = error instanceof ToolNodeError && error.category === "auth_required" && this.#isOneUsers;
    if (isTheirs || error instanceof UserLimitReached || !(error instanceof SluiceError)) return;
    this.#rest = Math.min(MOST_REST, Math.max(LEAST_REST, 2 * this.#rest));
    this.#failure = { error, until: performance.now() + this.#rest };
  }
}

/** Seconds that a discovered provider is stored for other processes. A state store may keep it for less. */
const KEPT = 24 * 60 * 60;

interface SharedProviderDeps {
  readonly manager: OAuthManager;
  readonly states: OAuthStateStore;
  /** The client identity. Without it nothing is discovered. */
  readonly client: McpClientIdentity | undefined;
}

/** An MCP server whose users have their own tokens. */
interface TokenSource {
  /** The source's name. */
  readonly source: string;
  /** The provider's. */
  readonly provider: string;
  /** The server's URL. */
  readonly url: string;
}

/**
 * Discovers the OAuth providers of MCP servers. All processes have to be the same client of a provider: a request for
 * consent may be answered in another process.
 */
export class SharedProviders {
  readonly #deps: SharedProviderDeps;

  constructor(deps: SharedProviderDeps) {
    this.#deps = deps;
  }

  /** Makes sure that the manager knows a source's provider. Throws what `discoverMcpProvider` throws. */
  async ensure(of: TokenSource): Promise<void> {
    const { manager, client } = this.#deps;
    if (client === undefined || (await this.adopt(of))) return;
    const { source, provider, url } = of;
    const key = await hashClientKey(of, client);
    await manager.ensureProvider(provider, () =>
      manager.discoverProvider({ source, url, client }).then((found) => this.#keepProvider(key, found)),
    );
  }

  /** Takes over a provider that another process discovered. Returns false if there is none. Never throws. */
  async adopt(of: TokenSource): Promise<boolean> {
    const { manager, client } = this.#deps;
    if (manager.hasProvider(of.provider)) return true;
    if (client === undefined) return false;
    try {
      const kept = await this.#load(await hashClientKey(of, client));
      if (kept === null) return false;
      await manager.ensureProvider(of.provider, async () => kept);
      return true;
    } catch {
      // A provider that cannot be read is discovered again.
      return false;
    }
  }

  /** A provider that another process stored meanwhile takes precedence. */
  async #keepProvider(key: string, found: OAuthProviderConfig): Promise<OAuthProviderConfig> {
    const { states } = this.#deps;
    try {
      const others = await this.#load(key);
      if (others !== null) return others;
      await states.saveOAuthState(key, found, KEPT);
    } catch {
      // This process can use it all the same.
    }
    return found;
  }

  async #load(key: string): Promise<OAuthProviderConfig | null> {
    return (await this.#deps.states.loadOAuthState(key)) as OAuthProviderConfig | null;
  }
}

/** The key depends on the client identity, which may change with the configuration. */
async function hashClientKey({ source, url }: TokenSource, client: McpClientIdentity): Promise<string> {
  return `provider ${await sha256.whole(new TextEncoder().encode(JSON.stringify([source, url, client])))}`;
}
