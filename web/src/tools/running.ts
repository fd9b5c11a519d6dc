/**
 * A source from its connection to its end: who asks, through which session, how patiently, and what becomes of answers.
 * @module
 */
import type { ArtifactStore } from "../artifacts/store.js";
import type { Dialect, Sluice, Transformed } from "../core/sluice.js";
import type { OnStoreFailure } from "../core/store-access.js";
import type { Args, ArtifactArguments, Prepared } from "./artifacts.js";
import { authorizeFor, type Authorization } from "./auth/credentials.js";
import type { McpClientIdentity } from "./auth/mcp-discovery.js";
import { userKey } from "./auth/owner.js";
import type { OAuthManager } from "./auth/oauth-manager.js";
import type { OAuthProviderConfig } from "./auth/provider-config.js";
import type { ToolContext } from "./context.js";
import { ToolAuthError } from "./errors.js";
import type { ToolNodeEvent } from "./event.js";
import { untilEither } from "../core/abort.js";
import { Resilience } from "./resilience/resilience.js";
import type { ResourceReading } from "./resources/contents.js";
import { ResourceReader } from "./resources/reader.js";
import { isOwnProcess, Sessions } from "./sessions.js";
import type { Authorize, SourceNotice, SourceResult, SourceTool, ToolSource } from "./source.js";
import { ToolAnswer, type ToolResult } from "./tool-answer.js";
import { answered, fileCallOf, withRead } from "./answering.js";
import { called, type ToolCalling, type Used, type Work } from "./calling.js";
import { CallTime, timeoutOf } from "./user-files/call-time.js";
import type { Filing } from "./user-files/filing.js";
import type { FiledArguments } from "./user-files/handling.js";
import type { ResolvedToolConfig } from "./variables.js";

/** What a running source is made of. */
export interface RunningTerms {
  readonly config: ResolvedToolConfig;
  readonly source: ToolSource;
  readonly sluice: Sluice;
  /** What the source's results pass first: the same, unless users' files are looked for in them. */
  readonly gate: Sluice;
  readonly store: ArtifactStore;
  /** What becomes of a result that the store fails at. */
  readonly onStoreFailure: OnStoreFailure;
  /** Puts artifacts into arguments. */
  readonly artifacts: ArtifactArguments;
  /** Files around calls, where the source's tools have to do with users' files. */
  readonly filing?: Filing;
  /** How results are written where no transformer goes on with them. */
  readonly dialect: Dialect;
  /** How users' tokens are come by. */
  readonly parts: {
    readonly authManager?: OAuthManager;
    readonly oauthClient?: McpClientIdentity;
    readonly fetch?: typeof globalThis.fetch;
  };
  /** Aborted when the source is closed; its reason says so to whoever is under way. */
  readonly over: AbortSignal;
  /** Must not throw. */
  readonly onEvent: (event: ToolNodeEvent) => void;
  /** The source says that its tools are others now. */
  readonly onToolsChanged: () => void;
}

/** A connected source. */
export class RunningSource implements AsyncDisposable {
  readonly resources: ResourceReader;
  readonly #terms: RunningTerms;
  readonly #resilience: Resilience;
  readonly #sessions: Sessions;

  constructor(terms: RunningTerms) {
    const { config, source, store, over, onEvent } = terms;
    const keyOf = keyFor(terms);
    this.#terms = terms;
    this.#resilience = new Resilience(config.name, config, {
      onRetry: ({ error, attempt, waitSeconds }) => onEvent({ kind: "retry", error, attempt, wait_s: waitSeconds }),
      onBreak: () => onEvent({ kind: "left_alone" }),
      onRecover: () => onEvent({ kind: "recovered" }),
    });
    this.#sessions = new Sessions({
      source,
      keyOf,
      timeoutSeconds: config.timeout_s,
      over,
      onNotice: (notice) => this.#notice(notice),
    });
    this.resources = new ResourceReader({
      namespace: config.name,
      use: (context, work) =>
        this.#using(context, { isRepeatable: true }, (connection, { signal }) => work(connection.resources, signal)),
      store,
      config: config.artifact_extraction.resources,
      isPerUser: keyOf !== undefined,
      onEvent: (event) => onEvent({ kind: "resource", event }),
    });
  }

  /** What the source offers to whoever asks, and whether it has resources. */
  async look(context: ToolContext): Promise<{ readonly tools: readonly SourceTool[]; readonly hasResources: boolean }> {
    return this.#using(context, { isRepeatable: true }, async (connection, { signal }) => ({
      tools: await connection.tools(signal),
      hasResources: connection.resources !== undefined,
    }));
  }

  /** Calls a tool, and gives its result behind the gate. Files and artifacts that the arguments name are put in before. */
  async call(tool: SourceTool, given: Args, context: ToolContext): Promise<ToolResult> {
    const { filing } = this.#terms;
    const time = this.#timeOf(tool, context);
    const filed = await this.#filed(tool, given, context);
    if (filed.kind === "answer" && filing !== undefined) return filing.error(filed.value);
    const { args, done } = filed.kind === "call" ? filed : { args: given };
    try {
      return await this.#made(tool, args, context, time);
    } finally {
      done?.();
    }
  }

  /** The same once files are in the place of their names. */
  async #made(tool: SourceTool, args: Args, context: ToolContext, time: CallTime | undefined): Promise<ToolResult> {
    const { config, sluice, dialect, filing, over } = this.#terms;
    const prepared = await this.#prepared(tool, args, context);
    if (prepared.kind === "answer") {
      return ToolAnswer.told(prepared.result, sluice, config.output_transformer !== null ? "observation" : dialect);
    }
    let result: SourceResult;
    try {
      result = await this.#called(tool, prepared.args, context, time);
    } catch (error) {
      const late = time?.result(error);
      if (late === undefined || filing === undefined) throw error;
      return filing.error(late);
    }
    await using held = result.gated;
    const read: ResourceReading[] = [];
    const { reduced, isError, display } = await untilEither([context.signal, over], (signal) => {
      const inner = { ...context, signal };
      // The call itself is over: so reading never waits for a turn that the call has.
      const timeoutSeconds = timeoutOf(context, config.timeout_s);
      const readResource = this.resources.linkReader(inner, timeoutSeconds, (reading) => read.push(reading));
      const call = fileCallOf(tool, inner, this.#terms);
      return answered({ ...result, gated: held }, call, inner, { ...this.#terms, readResource });
    });
    const whole = withRead(reduced, read);
    this.tell(tool.name, whole);
    return new ToolAnswer(whole, isError, display);
  }

  /** Makes the call. */
  #called(tool: SourceTool, args: Args, context: ToolContext, time: CallTime | undefined): Promise<SourceResult> {
    const use: ToolCalling["use"] = (used, work) => this.#using(context, used, work);
    return called({ ...this.#terms, tool, args, context, time, use });
  }

  /** What is told of a call's time, where its user is told. */
  #timeOf({ name }: SourceTool, context: ToolContext): CallTime | undefined {
    const { config, filing, onEvent } = this.#terms;
    if (filing === undefined) return undefined;
    const { notify_after_s: notifyAfter, timeout_s } = config;
    const timeoutSeconds = timeoutOf(context, timeout_s);
    return new CallTime({ tool: `${config.name}.${name}`, context, notifyAfter, timeoutSeconds, onEvent });
  }

  #filed(tool: SourceTool, given: Args, context: ToolContext): Promise<FiledArguments> {
    const { filing, over } = this.#terms;
    if (filing === undefined) return Promise.resolve({ kind: "call", args: given });
    const call = fileCallOf(tool, context, this.#terms);
    return untilEither([context.signal, over], (signal) => filing.prepare(given, { ...call, signal }));
  }

  /** Closes what was opened, once `over` is aborted. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.resources.close();
    await this.#sessions[Symbol.asyncDispose]();
  }

  /** What is made of a call's arguments; the host is told of it. */
  async #prepared(tool: SourceTool, args: Args, { scope = {}, signal }: ToolContext): Promise<Prepared> {
    const { artifacts, config, over, onEvent } = this.#terms;
    const prepared = await untilEither([signal, over], (ended) => artifacts.put(tool, args, scope, ended));
    const name = `${config.name}.${tool.name}`;
    if (prepared.kind === "call") {
      for (const { id, path, form } of prepared.expansions) onEvent({ kind: "expanded", tool: name, id, path, form });
    } else if (prepared.failure !== undefined) onEvent({ kind: "failed", tool: name, error: prepared.failure });
    return prepared;
  }

  /** Works over the session of whoever asks, until they give up or the source is closed. */
  #using<T>(context: ToolContext, call: Used, work: Work<T>): Promise<T> {
    const { over } = this.#terms;
    return untilEither([context.signal, over], (signal) => this.#used({ ...context, signal }, call, work));
  }

  async #used<T>(context: ToolContext & { readonly signal: AbortSignal }, call: Used, work: Work<T>): Promise<T> {
    // A person may take minutes to consent: no turn is held, and no time limit runs, meanwhile.
    const timeoutSeconds = timeoutOf(context, this.#terms.config.timeout_s);
    const authorize = await this.#authorize(context);
    const { signal } = context;
    const once = (by: Authorize): Promise<T> =>
      this.#resilience.run(
        (attempt) => this.#sessions.use(context, by, attempt.signal, (connection) => work(connection, attempt)),
        { ...call, signal, timeoutSeconds },
      );
    try {
      return await once(authorize);
    } catch (error) {
      if (authorize.refused === undefined || !(error instanceof ToolAuthError) || error.status !== 401) throw error;
      // The token was taken back at the source: it is renewed, or the user is asked anew.
      await authorize.refused();
      return once(await this.#authorize(context));
    }
  }

  #authorize(context: ToolContext): Promise<Authorization> {
    const { config, parts } = this.#terms;
    const { authManager: manager, oauthClient: client, fetch } = parts;
    const { name: source, endpoint } = config;
    const url = endpoint === null || endpoint.kind === "stdio" ? undefined : endpoint.url;
    if (manager === undefined || url === undefined || client === undefined)
      return authorizeFor(config, context, { manager });
    const discover = (signal: AbortSignal | undefined): Promise<OAuthProviderConfig> =>
      manager.discoverProvider({ source, url, client, fetch, signal });
    return authorizeFor(config, context, { manager, discover });
  }

  /** Tells the host what was stored of a result, and what failed. */
  tell(tool: string, { artifacts, failures }: Pick<Transformed, "artifacts" | "failures">): void {
    const { config, onEvent } = this.#terms;
    const name = `${config.name}.${tool}`;
    for (const error of failures) onEvent({ kind: "failed", tool: name, error });
    if (artifacts.length > 0) onEvent({ kind: "stored", tool: name, artifacts });
  }

  #notice(notice: SourceNotice): void {
    if (notice.kind === "tools_changed") this.#terms.onToolsChanged();
    else this.resources.notice(notice);
  }
}

/** Who shares a connection: nobody with anybody where each has a token, or a process, of their own. */
function keyFor({ config, filing }: RunningTerms): ((context: ToolContext) => string) | undefined {
  if (filing !== undefined && isOwnProcess(config)) return (context) => userKey(context) + filing.ownerKey(context);
  return config.auth_type === "oauth2_user" ? userKey : undefined;
}
