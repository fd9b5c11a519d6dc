/**
 * A connected source and everything around it: authorization, sessions, retries, files and artifacts.
 * @module
 */
import { chooseStore } from "../artifacts/chosen-store.js";
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import { withRetention } from "../artifacts/retention/retaining-store.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, StoredArtifact } from "../artifacts/store.js";
import { untilEither } from "../core/abort.js";
import { createSluiceOver } from "../core/sluice.js";
import type { SluiceConfig } from "../config/types.js";
import type { Sluice, Transformed } from "../core/types.js";
import { limitStoreTime } from "../core/store-access.js";
import { readToolName } from "../mcp/artifact-reader/definition.js";
import { DescriptionGuard } from "../mcp/description-guard.js";
import { showImages } from "../mcp/shown-media.js";
import { readInterceptor, withoutInterceptor } from "../mcp/interceptor-config.js";
import { ArtifactArguments, artifactTools, type Args } from "./artifacts.js";
import { authorizeFor, type Authorization } from "./auth/credentials.js";
import { userKey } from "./auth/token-store.js";
import type { OAuthProviderConfig } from "./auth/oauth-client.js";
import { callTime, type SessionUse, type SessionWork, checkTimeout, ToolCall, type ToolCallDeps } from "./tool-call.js";
import type { ToolNodeOptions } from "./options.js";
import type { ToolNodeEvent } from "./event.js";
import { type ToolResult, ToolAnswer } from "./result.js";
import type { ToolContext } from "./context.js";
import type { ToolConfig } from "./config/config.js";
import { LostSession, ToolAuthError, ToolConfigError, toUnsupportedError } from "./errors.js";
import type { ToolSpec } from "./registry.js";
import type { SilenceListener } from "./resilience/attempt.js";
import { Resilience } from "./resilience/resilience.js";
import { getPrompt, listPrompts, type PromptDeps, type PromptReading } from "./prompts.js";
import type { LeftOutTool, ListedPrompt, SourceTool } from "./source-features.js";
import type { Listing } from "./resources/listing.js";
import { ResourceReader } from "./resources/reader.js";
import { resourceTools, type RunTool } from "./resources/tools.js";
import { Sessions } from "./sessions.js";
import type { Authorize, McpReadMethod, McpResult, McpServerDescription, SourceNotice, ToolSource } from "./source.js";
import type { SourceParts } from "./sources/web-source.js";
import type { UserFileHandling } from "./user-files.js";
import { resolveVariables, collectSecrets, type ResolvedToolConfig } from "./config/resolved-config.js";
import type { Variables } from "./config/variables.js";
import { admitTools, toolAttributes } from "../telemetry/names.js";
import { observeOperation, type OperationInfo } from "../telemetry/operation.js";

/** Copies of artifacts as files, for tools that take a path. */
export interface ArtifactCopies extends AsyncDisposable {
  /** Writes a copy and returns its path. */
  write(ref: StoredArtifact, signal?: AbortSignal): Promise<string>;
}

interface AssemblyDeps {
  readonly config: ToolConfig;
  readonly options: ToolNodeOptions;
  readonly variables: Variables;
  /** Chooses the transport. */
  readonly source: (config: ResolvedToolConfig, parts: SourceParts) => ToolSource;
  /** Returns undefined where there is no file system. */
  readonly copies: (store: ArtifactStore) => ArtifactCopies | undefined;
  /**
   * Aborted when the source is closed, before the assemble parts are disposed of. Its reason is thrown by calls
   * under way.
   */
  readonly over: AbortSignal;
  /** Must not throw. */
  readonly onEvent: (event: ToolNodeEvent) => void;
  /** Called when the source reports that its tools changed. */
  readonly onToolsChanged: () => void;
}

/** The parts of a running source. */
export interface RunningDeps extends ToolCallDeps, Pick<AssemblyDeps, "options" | "onToolsChanged"> {
  readonly source: ToolSource;
  /** The store that calls read from: with users' files, those of the caller are in it too. */
  readonly reachable: ArtifactStore;
  readonly copies: ArtifactCopies | undefined;
}

/**
 * Creates a source from its configuration. Sends nothing yet.
 *
 * @throws ToolNodeError when a variable is missing or the configuration is incomplete.
 * @throws SluiceError E_CONFIG_… for a wrong `artifact_extraction`.
 */
export async function assemble(deps: AssemblyDeps): Promise<RunningSource> {
  const { options, variables } = deps;
  const { stateStore, store: given, wasm, fetch, onErrorOutput, sampling, dialect = "observation" } = options;
  const config = resolveVariables(deps.config, variables);
  const handling = handlingFor(config, options);
  // Loaded only for sources with `user_files`.
  const callFiles = handling && (await import("./call-files.js"));
  const { store: kept, config: rest } = withRetention(chooseStore(given, stateStore), config.artifact_extraction);
  const store = limitStoreTime(kept);
  const { on_store_failure, arguments: forms, share } = readInterceptor(rest);
  const onStoreFailure = on_store_failure === "error" ? "throw" : "answer";
  const createSluiceFor = (each: SluiceConfig | undefined): Promise<Sluice> =>
    createSluiceOver({ store: kept, onFailure: onStoreFailure, readTool: readToolName, show: showImages }, each, wasm);
  const sluice = await createSluiceFor(withoutInterceptor(rest));
  const source = deps.source(config, {
    sluice:
      callFiles === undefined ? sluice : await createSluiceFor(callFiles.contractConfig(withoutInterceptor(rest))),
    store,
    variables,
    secrets: collectSecrets(deps.config, config, variables),
    ...(handling !== undefined && { command: (argv, scope) => handling.command(argv, scope) }),
    ...(fetch !== undefined && { fetch }),
    ...(onErrorOutput !== undefined && { onErrorOutput }),
    ...(sampling !== undefined && { sampling }),
  });
  const copies = deps.copies(store);
  const writeCopy =
    copies && ((ref: StoredArtifact, signal?: AbortSignal): Promise<string> => copies.write(ref, signal));
  const reachable = handling?.within(store, config.name) ?? store;
  return new RunningSource({
    ...deps,
    config,
    source,
    sluice,
    store,
    reachable,
    onStoreFailure,
    dialect,
    artifacts: new ArtifactArguments({ store: reachable, namespace: config.name, forms, share, writeCopy }),
    copies,
    files:
      handling &&
      callFiles &&
      new callFiles.CallFiles({
        handling,
        sluice,
        store,
      }),
  });
}

/** The handler of users' files, for sources with `user_files`. */
function handlingFor({ user_files }: ResolvedToolConfig, { userFiles }: ToolNodeOptions): UserFileHandling | undefined {
  if (!user_files) return undefined;
  if (userFiles !== undefined) return userFiles;
  const message =
    "user_files needs a place for files: give the ToolNode the option userFiles, or try the source with sluice serve.";
  throw new ToolConfigError("user_files", message);
}

/** A call as an operation of telemetry. That of a server's tool is the request to the server, too. */
function toolOperation(namespace: string, name: string, isMcp: boolean): OperationInfo {
  const tool = toolAttributes(namespace, name);
  return {
    kind: isMcp ? "client" : "internal",
    name: `execute_tool ${tool["gen_ai.tool.name"]}`,
    durations: ["gen_ai.execute_tool.duration", ...(isMcp ? (["mcp.client.operation.duration"] as const) : [])],
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      ...tool,
      ...(isMcp && { "mcp.method.name": "tools/call" }),
    },
  };
}

/** A connected source. */
export class RunningSource implements AsyncDisposable {
  readonly deps: RunningDeps;
  readonly resources: ResourceReader;
  readonly #resilience: Resilience;
  readonly #sessions: Sessions;
  readonly #descriptions: DescriptionGuard;

  constructor(deps: RunningDeps) {
    this.#descriptions = new DescriptionGuard(deps.options.wasm);
    const { config, source, store, over, onEvent } = deps;
    const keyOf = keyFor(deps);
    this.deps = deps;
    this.#resilience = new Resilience(config.name, config, {
      onRetry: ({ error, attempt, waitSeconds }) => onEvent({ kind: "retry", error, attempt, wait_s: waitSeconds }),
      onBreak: () => onEvent({ kind: "left_alone" }),
      onRecover: () => onEvent({ kind: "recovered" }),
    });
    this.#sessions = new Sessions({
      name: config.name,
      source,
      keyOf,
      timeoutSeconds: config.timeout_s,
      over,
      onNotice: (notice, owner) => this.#notice(notice, owner),
    });
    this.resources = new ResourceReader({
      namespace: config.name,
      use: (context, work, silence) =>
        this.using(
          context,
          { isRepeatable: true, silence, isTimeoutFinal: silence !== undefined },
          (connection, { signal }) => work(connection.resources, signal),
        ),
      store,
      config: config.artifact_extraction.resources,
      guardList: (listed) => this.#descriptions.guardList(listed),
      isPerUser: keyOf !== undefined,
      onEvent: (event) => onEvent({ kind: "resource", event }),
    });
  }

  /** Lists the source's tools for the caller, and creates the tools for its resources and artifacts. */
  async look(context: ToolContext): Promise<{
    readonly tools: readonly SourceTool[];
    readonly generated: readonly ToolSpec[];
    readonly leftOut: readonly LeftOutTool[];
  }> {
    return this.using(context, { isRepeatable: true }, async (connection, { signal }) => {
      const tools = await this.#guardTools(await connection.tools(signal));
      admitTools(
        this.deps.config.name,
        tools.map(({ name }) => name),
      );
      return {
        tools,
        leftOut: connection.leftOut ?? [],
        generated: this.#generateTools(connection.resources !== undefined),
      };
    });
  }

  /** Tools without bytes in what a model is told of them. */
  async #guardTools(tools: readonly SourceTool[]): Promise<readonly SourceTool[]> {
    const guarded: SourceTool[] = [];
    for (const tool of tools) {
      const { description, input_schema, output_schema, definition } = tool;
      const told = { description, input_schema, output_schema, definition };
      try {
        const safe = await this.#descriptions.guardValue(told);
        guarded.push(safe === told ? tool : ({ ...tool, ...safe } as SourceTool));
      } catch {
        guarded.push({ ...tool, unfit: "its schema holds bytes, and nests too deep to be taken apart" });
      }
    }
    return guarded;
  }

  /** Calls a tool. Files and artifacts that the arguments name are inserted first. */
  async call(tool: SourceTool, given: Args, context: ToolContext): Promise<ToolResult> {
    const { name, transport } = this.deps.config;
    return observeOperation(
      () => toolOperation(name, tool.name, transport === "mcp"),
      (operation) => new ToolCall(this, tool, context, operation?.carrier()).result(given),
      ({ isError }) => (isError ? { error: "tool_error" } : {}),
    );
  }

  /** The MCP server as it describes itself. Undefined for other sources. */
  describeServer(context: ToolContext): Promise<McpServerDescription | undefined> {
    return this.using(context, { isRepeatable: true }, async ({ server }) => server);
  }

  /** Sends a request of MCP and gives its result as it came. Throws E_TOOL_UNSUPPORTED for other sources. */
  request(method: McpReadMethod, params: McpResult, context: ToolContext): Promise<McpResult> {
    const { name } = this.deps.config;
    return this.using(context, { isRepeatable: true }, async (connection, { signal }) => {
      if (connection.request === undefined) throw toUnsupportedError(`The source ${name} is no MCP server.`);
      return connection.request(method, params, signal);
    });
  }

  /** Lists the source's prompts. */
  async listPrompts(context: ToolContext): Promise<Listing<ListedPrompt>> {
    return listPrompts(this.#prompts, context);
  }

  /** Gets a prompt. */
  async getPrompt(name: string, args: Readonly<Record<string, string>>, context: ToolContext): Promise<PromptReading> {
    return getPrompt(this.#prompts, name, args, context);
  }

  /** Closes everything. `over` is aborted already. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.resources.close();
    await this.#sessions[Symbol.asyncDispose]();
    await this.deps.copies?.[Symbol.asyncDispose]();
  }

  /** Works over the caller's session until the caller cancels or the source is closed. */
  using<T>(context: ToolContext, call: SessionUse, work: SessionWork<T>): Promise<T> {
    return untilEither([context.signal, this.deps.over], (signal) => this.#use({ ...context, signal }, call, work));
  }

  get #prompts(): PromptDeps {
    const { config, store } = this.deps;
    return {
      namespace: config.name,
      store,
      config: config.artifact_extraction.resources,
      guardList: (listed) => this.#descriptions.guardList(listed),
      use: (context, work) =>
        this.using(context, { isRepeatable: true }, async (connection, { signal }) => work(connection.prompts, signal)),
    };
  }

  async #use<T>(
    context: ToolContext & { readonly signal: AbortSignal },
    call: SessionUse,
    work: SessionWork<T>,
  ): Promise<T> {
    // Before the attempt: a person may take minutes to consent, and must neither occupy a slot nor run into the time
    // limit.
    const timeoutSeconds = checkTimeout(context, this.deps.config.timeout_s);
    const authorize = await this.#authorize(context);
    const { signal } = context;
    let isOpening = true;
    const resilient = {
      ...call,
      signal,
      timeoutSeconds,
      // A source that is silent while connecting would be silent again: a retry would only double the wait.
      get isTimeoutFinal() {
        return isOpening || call.isTimeoutFinal === true;
      },
    };
    const once = (by: Authorize): Promise<T> =>
      this.#resilience.run((attempt) => {
        isOpening = true;
        return this.#sessions.use(context, by, attempt.signal, async (connection) => {
          isOpening = false;
          try {
            return await work(connection, attempt);
          } catch (error) {
            isOpening = error instanceof LostSession;
            throw error;
          }
        });
      }, resilient);
    try {
      return await once(authorize);
    } catch (error) {
      if (authorize.refused === undefined || !(error instanceof ToolAuthError) || error.status !== 401) throw error;
      // The token was revoked. Renew it, or ask the user again.
      await authorize.refused();
      return once(await this.#authorize(context));
    }
  }

  #authorize(context: ToolContext): Promise<Authorization> {
    const { config, options } = this.deps;
    const { authManager: manager, oauthClient: client, fetch } = options;
    const { name: source, endpoint } = config;
    const url = endpoint === null || endpoint.kind === "stdio" ? undefined : endpoint.url;
    if (manager === undefined || url === undefined || client === undefined) {
      return authorizeFor(config, context, { manager });
    }
    const discover = (signal: AbortSignal | undefined): Promise<OAuthProviderConfig> =>
      manager.discoverProvider({ source, url, client, fetch, signal });
    return authorizeFor(config, context, { manager, discover });
  }

  /** Reports what was stored of a result, and what failed. */
  tell(tool: string, { artifacts, failures }: Pick<Transformed, "artifacts" | "failures">): void {
    const { config, onEvent } = this.deps;
    const name = `${config.name}.${tool}`;
    for (const error of failures) onEvent({ kind: "failed", tool: name, error });
    if (artifacts.length > 0) onEvent({ kind: "stored", tool: name, artifacts });
  }

  /** Creates the tools that are offered in addition to the source's own. */
  #generateTools(hasResources: boolean): readonly ToolSpec[] {
    const { config, sluice, store, reachable } = this.deps;
    const { name: namespace, transport, artifact_extraction } = config;
    const of = { namespace, source: transport, sluice, config: artifact_extraction };
    const isListed = hasResources && artifact_extraction.resources?.enabled !== false;
    const onStored = (tool: string, ref: ArtifactRef): void => this.tell(tool, { artifacts: [ref], failures: [] });
    const run: RunTool = (tool, context, work) => this.#run(tool, context, work);
    return [
      ...(isListed ? resourceTools({ ...of, reader: this.resources, run }) : []),
      ...(store instanceof NoOpArtifactStore ? [] : artifactTools({ ...of, store: reachable, onStored })),
    ];
  }

  /** Makes a call of a generated tool, with the notices, the limit and the result of the source's own tools. */
  async #run(
    tool: string,
    context: ToolContext,
    work: (silence: SilenceListener) => Promise<ToolAnswer>,
  ): Promise<ToolAnswer> {
    const time = callTime(this.deps, tool, context);
    try {
      const answer = await work(time.silence);
      this.tell(tool, answer);
      return answer;
    } catch (error) {
      const late = time.result(error);
      if (late === undefined) throw error;
      return ToolAnswer.failed(JSON.stringify(late), this.deps.sluice, "observation");
    } finally {
      time.end();
    }
  }

  #notice(notice: SourceNotice, owner: ArtifactScope | undefined): void {
    if (notice.kind === "tools_changed") this.deps.onToolsChanged();
    else this.resources.notice(notice, owner);
  }
}

/**
 * Returns the key by which callers share a connection. Callers have their own where they have their own token or
 * process.
 */
function keyFor({ config, files }: RunningDeps): ((context: ToolContext) => string) | undefined {
  // A manual may start programs, too.
  const isProgram = config.endpoint?.kind === "stdio" || config.transport === "utcp";
  if (files !== undefined && isProgram) return (context) => userKey(context) + files.ownerKey(context);
  return config.auth_type === "oauth2_user" ? userKey : undefined;
}
