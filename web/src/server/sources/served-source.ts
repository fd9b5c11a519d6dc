/**
 * One source of a server: its nodes, and what is known of it before it is connected.
 * @module
 */
import { userKey } from "../../tools/auth/owner.js";
import { transportOf } from "../../tools/config/connection.js";
import type { ExternalToolConfig, ToolConfig } from "../../tools/config.js";
import type { ToolContext } from "../../tools/context.js";
import { ToolRateLimitError } from "../../tools/errors.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import type { ToolNodeOptions } from "../../tools/options.js";
import { substitute, type Variables } from "../../tools/variables.js";
import { ToolNode } from "../../tools-node.js";
import type { SharedProviders, TokenSource } from "./shared-providers.js";
import { SourceNode } from "./source-node.js";

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
export interface ServedSourceTerms {
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
  readonly #terms: ServedSourceTerms;
  readonly #isPerUser: boolean;
  /** Least recently used first. */
  readonly #nodes = new Map<string, SourceNode>();

  constructor(terms: ServedSourceTerms) {
    const { name, transport, description, auth_type, user_files } = terms.config;
    this.#terms = terms;
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
    if (source !== null) await this.#terms.providers.ensure(source);
  }

  /** The same, as far as another process found it out. Never throws. */
  async adoptProvider(): Promise<void> {
    const source = this.#tokenSource;
    if (source !== null) await this.#terms.providers.adopt(source);
  }

  /** Null where no provider is found out. */
  get #tokenSource(): TokenSource | null {
    const { name, auth_type, auth_config } = this.#terms.config;
    const endpoint = endpointOf(this.#terms);
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
    const { over } = this.#terms;
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
    const { given, options, onEvent, over } = this.#terms;
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
    const { maxNodes = MAX_NODES, idle = IDLE } = this.#terms;
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
function endpointOf({ config, variables }: ServedSourceTerms): ReturnType<typeof transportOf> | undefined {
  if (config.transport !== "mcp") return undefined;
  try {
    return transportOf(config.connection, (text) => substitute(text, variables, config.name));
  } catch {
    return undefined;
  }
}
