/**
 * One server that a person chose, as a source of tools.
 * @module
 */
import type { ArtifactScope, ArtifactStore, SluiceConfig } from "mcp-sluice";
import {
  ToolAuthError,
  ToolNode,
  type ExternalToolConfig,
  type OAuthManager,
  type ToolContext,
  type ToolNodeEvent,
  type ToolNodeOptions,
  type ToolResult,
} from "mcp-sluice/tools";
import type { CallRequest, ServerAddress, ShownProgress, ShownTool } from "./contract.js";
import type { MyFiles } from "./my-files.js";
import type { Pauses } from "./pauses.js";
import { TIMEOUT } from "./time-limit.js";

/** What all connections share. */
export interface ConnectionTerms {
  readonly store: ArtifactStore;
  readonly scope: ArtifactScope;
  /** Keeps people's tokens; loaded when a server asks for one. */
  readonly manager: () => Promise<OAuthManager>;
  /** Where providers send people back to. */
  readonly callback: string;
  readonly pauses: Pauses;
  /** How one of the demos is spoken to. */
  readonly demo: (which: string) => Promise<{ readonly url: string; readonly fetch: typeof globalThis.fetch }>;
  /** My Files, for servers that work with them. */
  readonly myFiles: () => Promise<MyFiles>;
  readonly onEvent: (connection: Connection, event: ToolNodeEvent) => void;
}

/** A server, from being chosen to being left. */
export class Connection implements AsyncDisposable {
  readonly address: ServerAddress;
  readonly #terms: ConnectionTerms;
  /** By what is different of them. */
  readonly #nodes = new Map<string, Promise<ToolNode>>();
  readonly #over = new AbortController();
  #signsIn = false;

  constructor(address: ServerAddress, terms: ConnectionTerms) {
    this.address = address;
    this.#terms = terms;
  }

  /** Connects; asks a person to sign in where the server wants that. Throws ToolNodeError. */
  async open(): Promise<void> {
    try {
      await this.#node();
    } catch (error) {
      // Who comes from there is in its session, or has none any more.
      if (!(error instanceof ToolAuthError) || this.address.token !== undefined || this.address.kind === "serve")
        throw error;
      this.#signsIn = true;
      await this.#node();
    }
  }

  /** What it offers. */
  async tools(): Promise<readonly ShownTool[]> {
    const node = await this.#node();
    return node.getTools().map(({ name, description, input_schema }) => ({ name, description, schema: input_schema }));
  }

  /** Calls a tool; the result can be restored. */
  async call(request: CallRequest, signal: AbortSignal, tell: (progress: ShownProgress) => void): Promise<ToolResult> {
    const node = await this.#node();
    const context = { ...this.#context(signal), timeoutSeconds: request.timeout };
    return node.call(request.tool, request.args, { ...context, ...withWaits(tell) });
  }

  /** The source as a planner takes it: it answers in observations, by this configuration. Those by others end. */
  async planned(config: SluiceConfig): Promise<ToolNode> {
    const key = `planned ${JSON.stringify(config)}`;
    const old = [...this.#nodes.keys()].filter((each) => each.startsWith("planned ") && each !== key);
    await Promise.allSettled(old.map((each) => this.#close(each)));
    return this.#known(key, { dialect: "observation" }, { artifact_extraction: config });
  }

  /** The source itself, for its resources. */
  async use<T>(work: (node: ToolNode, context: ToolContext) => Promise<T>): Promise<T> {
    return work(await this.#node(), this.#context(this.#over.signal));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new DOMException("The server was left.", "AbortError"));
    await Promise.allSettled([...this.#nodes.keys()].map((key) => this.#close(key)));
  }

  async #close(key: string): Promise<void> {
    const node = this.#nodes.get(key);
    this.#nodes.delete(key);
    await (await node)?.close();
  }

  #node(): Promise<ToolNode> {
    return this.#known("called", { dialect: "mcp" }, {});
  }

  #known(key: string, options: ToolNodeOptions, config: Partial<ExternalToolConfig>): Promise<ToolNode> {
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const opening = this.#open(options, config);
    this.#nodes.set(key, opening);
    opening.catch(() => {
      if (this.#nodes.get(key) === opening) this.#nodes.delete(key);
    });
    return opening;
  }

  async #open(options: ToolNodeOptions, config: Partial<ExternalToolConfig>): Promise<ToolNode> {
    const { store, manager, callback, myFiles, onEvent } = this.#terms;
    const { kind, url, userFiles } = this.address;
    const demo = kind === "demo" ? await this.#terms.demo(url) : undefined;
    const node = new ToolNode(
      { ...this.#config(), ...(demo && { connection: demo.url }), ...config },
      {
        store,
        ...options,
        ...(this.#signsIn && {
          authManager: await manager(),
          oauthClient: { redirect_uri: callback, client_name: "Sluice playground" },
        }),
        onEvent: (event) => onEvent(this, event),
        ...(demo && { fetch: demo.fetch }),
        ...(userFiles === true && { userFiles: (await myFiles()).handling }),
      },
    );
    await node.connect(this.#context(this.#over.signal));
    return node;
  }

  #config(): ExternalToolConfig {
    const { name, url, token, userFiles = false } = this.address;
    const base = { name, transport: "mcp", connection: url, timeout_s: TIMEOUT, user_files: userFiles } as const;
    if (token !== undefined) return { ...base, auth_type: "bearer", auth_config: { token } };
    return this.#signsIn ? { ...base, auth_type: "oauth2_user" } : base;
  }

  #context(signal: AbortSignal): ToolContext {
    const either = AbortSignal.any([signal, this.#over.signal]);
    return { scope: this.#terms.scope, signal: either, pause: this.#terms.pauses.for(this.address.name, either) };
  }
}

/** What a call tells of itself, as one kind of news: how far it is, and that it has been silent since. */
export function withWaits(
  tell: (progress: ShownProgress) => void,
): Required<Pick<ToolContext, "onProgress" | "onWait">> {
  let last: ShownProgress = { progress: 0 };
  return {
    onProgress: (progress) => tell((last = progress)),
    onWait: (wait) => tell({ ...last, wait }),
  };
}
