/**
 * A connection to one server, as a source of tools.
 * @module
 */
import type { ArtifactScope, ArtifactStore, SluiceConfig } from "mcp-sluice";
import type {
  ExternalToolConfig,
  OAuthManager,
  ToolContext,
  ToolNode,
  ToolNodeEvent,
  ToolNodeOptions,
  ToolResult,
} from "mcp-sluice/tools";
import { DEMO_URL, EXAMPLE_ID, fetchExample, readExample, SALES_REPORT } from "../demo/example.js";
import type { CallRequest, ServerAddress, ShownProgress, ShownTool, ToolHint } from "./messages.js";
import type { MyFiles } from "./my-files.js";
import type { Pauses } from "./pauses.js";
import { Recorder } from "./recorder.js";
import { TIMEOUT } from "./time-limit.js";

/** What all connections are wired with. */
export interface ConnectionDeps {
  readonly store: ArtifactStore;
  readonly scope: ArtifactScope;
  /** Keeps OAuth tokens; loaded for the first server that asks for one. */
  readonly manager: () => Promise<OAuthManager>;
  /** The redirect URI for OAuth providers. */
  readonly callback: string;
  readonly pauses: Pauses;
  /** The URL of a demo server and the `fetch` that reaches it. */
  readonly demo: (which: string) => Promise<{ readonly url: string; readonly fetch: typeof globalThis.fetch }>;
  /** My Files, for servers that work with them. */
  readonly myFiles: () => Promise<MyFiles>;
  readonly onEvent: (connection: Connection, event: ToolNodeEvent) => void;
  /** Called when a message was recorded. */
  readonly onMessage: () => void;
}

/** A connection, from connecting to disconnecting. */
export class Connection implements AsyncDisposable {
  readonly address: ServerAddress;
  readonly recorder: Recorder;
  readonly #deps: ConnectionDeps;
  /** By dialect and configuration. */
  readonly #nodes = new Map<string, Promise<ToolNode>>();
  readonly #over = new AbortController();
  #signsIn = false;
  #demoServer: ReturnType<ConnectionDeps["demo"]> | undefined;

  constructor(address: ServerAddress, deps: ConnectionDeps) {
    this.address = address;
    this.#deps = deps;
    this.recorder = new Recorder(deps.onMessage);
  }

  /** Connects, with a sign-in if the server asks for one. Throws ToolNodeError. */
  async open(): Promise<void> {
    try {
      await this.#node();
    } catch (error) {
      const { ToolAuthError } = await import("mcp-sluice/tools");
      // A source of the page's server uses the session there, so a sign-in here would not help.
      if (!(error instanceof ToolAuthError) || this.address.token !== undefined || this.address.kind === "serve")
        throw error;
      this.#signsIn = true;
      await this.#node();
    }
  }

  /** The tools on offer. */
  async tools(): Promise<readonly ShownTool[]> {
    const node = await this.#node();
    return node.getTools().map(({ name, description, input_schema: schema, tags, definition }) => {
      const isAdded = tags.some((tag, index) => index > 1 && (tag === "artifacts" || tag === "resources"));
      return { name, description, schema, ...readForPeople(definition), ...(isAdded && { isAdded }) };
    });
  }

  /** Calls a tool. The result is in the mcp dialect, which `restore` undoes. */
  async call(request: CallRequest, signal: AbortSignal, tell: (progress: ShownProgress) => void): Promise<ToolResult> {
    const node = await this.#node();
    const context = { ...this.#context(signal), timeoutSeconds: request.timeout };
    const tool = request.tool.slice(this.address.name.length + 1);
    const ended = this.recorder.call(request.id, tool, request.args);
    try {
      return await node.call(request.tool, request.args, { ...context, ...withWaits(tell) });
    } finally {
      ended();
    }
  }

  /** Whether it can be called before it is connected, by `callExample`. */
  isExample({ tool }: CallRequest): boolean {
    const { kind, url, name } = this.address;
    return this.#nodes.size === 0 && kind === "demo" && url === "" && tool === `${name}.${SALES_REPORT.listed.name}`;
  }

  /** Calls the demo's example without what connects servers. Returns the result as JSON text. */
  async *callExample({ id, tool, args }: CallRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const name = tool.slice(this.address.name.length + 1);
    const ended = this.recorder.call(id, name, args);
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: EXAMPLE_ID,
      method: "tools/call",
      params: { name, arguments: args },
    });
    try {
      const response = await this.recorder.fetch(fetchExample)(DEMO_URL, { method: "POST", body, signal });
      yield* readExample(response);
    } finally {
      ended();
    }
  }

  /** Where the server is reached, by a `fetch` that records. */
  async way(): Promise<{ readonly url: string; readonly fetch: typeof globalThis.fetch }> {
    const { kind, url } = this.address;
    const demo = kind === "demo" ? await this.#demo() : undefined;
    return { url: demo?.url ?? url, fetch: this.recorder.fetch(demo?.fetch ?? ((...args) => fetch(...args))) };
  }

  /** The demo server, which all connections to it share. */
  #demo(): ReturnType<ConnectionDeps["demo"]> {
    return (this.#demoServer ??= this.#deps.demo(this.address.url));
  }

  /** Whether a person signed in, or was asked to. */
  get signsIn(): boolean {
    return this.#signsIn;
  }

  /** Aborted when the server is disconnected. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** The source for a planner: it returns observations under this configuration. Closes sources for other configurations. */
  async planned(config: SluiceConfig): Promise<ToolNode> {
    const key = `planned ${JSON.stringify(config)}`;
    const old = [...this.#nodes.keys()].filter((each) => each.startsWith("planned ") && each !== key);
    await Promise.allSettled(old.map((each) => this.#close(each)));
    return this.#findKnown(key, { dialect: "observation" }, { artifact_extraction: config });
  }

  /** Runs work with the source, for its resources. */
  async use<T>(work: (node: ToolNode, context: ToolContext) => Promise<T>): Promise<T> {
    return work(await this.#node(), this.#context(this.#over.signal));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new DOMException("The server was disconnected.", "AbortError"));
    await Promise.allSettled([...this.#nodes.keys()].map((key) => this.#close(key)));
  }

  async #close(key: string): Promise<void> {
    const node = this.#nodes.get(key);
    this.#nodes.delete(key);
    await (await node)?.close();
  }

  #node(): Promise<ToolNode> {
    return this.#findKnown("called", { dialect: "mcp" }, {});
  }

  #findKnown(key: string, options: ToolNodeOptions, config: Partial<ExternalToolConfig>): Promise<ToolNode> {
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
    const { store, manager, callback, myFiles, onEvent } = this.#deps;
    const { userFiles } = this.address;
    const [{ ToolNode }, { url, fetch }] = await Promise.all([import("mcp-sluice/tools"), this.way()]);
    const node = new ToolNode(
      { ...this.#config(), connection: url, ...config },
      {
        store,
        sampling: true,
        ...options,
        ...(this.#signsIn && {
          authManager: await manager(),
          oauthClient: { redirect_uri: callback, client_name: "Sluice playground" },
        }),
        onEvent: (event) => onEvent(this, event),
        fetch,
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
    return { scope: this.#deps.scope, signal: either, pause: this.#deps.pauses.for(this.address.name, either) };
  }
}

/** Merges progress and waits of a call into one stream of reports. */
function withWaits(tell: (progress: ShownProgress) => void): Required<Pick<ToolContext, "onProgress" | "onWait">> {
  let last: ShownProgress = { progress: 0 };
  return {
    onProgress: (progress) => tell((last = progress)),
    onWait: (wait) => tell({ ...last, wait }),
  };
}

/** The events that are logged. */
type LoggedEvent = Exclude<ToolNodeEvent, { readonly kind: "resource" | "tools_changed" }>;

/** The log line of an event. */
export function logLine(event: LoggedEvent): { readonly level: "info" | "warn"; readonly text: string } {
  switch (event.kind) {
    case "stored": {
      const ids = event.artifacts.map(({ id }) => id).join(", ");
      return { level: "info", text: `${event.tool}: stored ${ids}` };
    }
    case "expanded":
      return { level: "info", text: `${event.tool}: ${event.id} was put into ${event.path} as ${event.form}` };
    case "failed":
      return { level: "warn", text: `${event.tool}: ${event.error.message}` };
    case "retry":
      return { level: "warn", text: `${event.error.message} Trying again in ${event.wait_s.toFixed(1)} s.` };
    case "waiting":
      return { level: event.is_over ? "warn" : "info", text: `${event.tool}: silent for ${event.after_s} s` };
    case "left_alone":
      return { level: "warn", text: "The server keeps failing, and is left alone for a while." };
    case "recovered":
      return { level: "info", text: "The server answers again." };
    case "refused":
      return { level: "warn", text: event.message };
    default:
      return { level: "warn", text: describeLeftOut(event) };
  }
}

function describeLeftOut({ count, tools }: Extract<LoggedEvent, { readonly kind: "left_out" }>): string {
  const named = tools.map(({ name, reason }) => `${JSON.stringify(name)} (${reason})`).join(", ");
  const rest = count > tools.length ? `, and ${count - tools.length} more` : "";
  return `Tools left out: ${named}${rest}.`;
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const satisfies ToolHint[];

/** Characters of the longest title that is shown. */
const MAX_TITLE = 200;

/** What a tool's entry says to people. */
function readForPeople(definition: Readonly<Record<string, unknown>> = {}): Pick<ShownTool, "title" | "hints"> {
  const given: unknown = definition["annotations"];
  const annotations = typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
  const titles = [definition["title"], annotations["title"]].filter((each) => typeof each === "string");
  const title = titles.find((each) => each !== "");
  const hints = HINTS.filter((hint) => annotations[hint] === true);
  return {
    ...(title !== undefined && { title: title.slice(0, MAX_TITLE) }),
    ...(hints.length > 0 && { hints }),
  };
}
