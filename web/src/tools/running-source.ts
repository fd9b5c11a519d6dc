/**
 * A source from its connection to its end, with everything that stands around it: who asks, through which session, and how
 * patiently.
 * @module
 */
import { chosenStore } from "../artifacts/discover.js";
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import { configured } from "../artifacts/retention/retaining-store.js";
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../artifacts/store.js";
import { untilEither } from "../core/abort.js";
import { createSluiceOver } from "../core/create.js";
import type { SluiceConfig } from "../core/config.js";
import type { Dialect, Sluice, Transformed } from "../core/sluice.js";
import type { OnStoreFailure } from "../core/store-access.js";
import { readDoor, withoutDoor } from "../mcp/door-config.js";
import { ArtifactArguments, artifactReadTool, type Args } from "./artifacts.js";
import { authorizeFor, type Authorization } from "./auth/credentials.js";
import { userKey } from "./auth/owner.js";
import type { OAuthProviderConfig } from "./auth/provider-config.js";
import type { ToolConfig } from "./config.js";
import { ToolConfigError } from "./config/problem.js";
import type { ToolContext } from "./context.js";
import { ToolAuthError } from "./errors.js";
import type { ToolNodeEvent } from "./event.js";
import type { SourceParts, ToolNodeOptions } from "./options.js";
import type { ToolSpec } from "./registry.js";
import type { Attempt } from "./resilience/attempt.js";
import { Resilience, type ResilientCall } from "./resilience/resilience.js";
import { ResourceReader } from "./resources/reader.js";
import { resourceTools } from "./resources/tools.js";
import { isOwnProcess, Sessions } from "./sessions.js";
import type { Authorize, SourceConnection, SourceNotice, SourceTool, ToolSource } from "./source.js";
import type { ToolResult } from "./tool-answer.js";
import { ToolCall } from "./tool-call.js";
import { timeoutOf } from "./user-files/call-time.js";
import type { Filing } from "./user-files/filing.js";
import type { UserFileHandling } from "./user-files/handling.js";
import { resolveVariables, type ResolvedToolConfig, type Variables } from "./variables.js";

/** Copies of artifacts, for tools that take the path of a file. */
export interface ArtifactCopies extends AsyncDisposable {
  /** Writes a copy and gives its path. */
  write(ref: StoredArtifact, signal?: AbortSignal): Promise<string>;
}

/** What is assembled, and by whom. */
export interface AssemblyTerms {
  readonly config: ToolConfig;
  readonly options: ToolNodeOptions;
  readonly variables: Variables;
  /** Chooses the transport. */
  readonly source: (config: ResolvedToolConfig, parts: SourceParts) => ToolSource;
  /** Undefined where there are no files. */
  readonly copies: (store: ArtifactStore) => ArtifactCopies | undefined;
  /** Aborted when the source is closed, before what is assembled is disposed of; its reason says so to whoever is under way. */
  readonly over: AbortSignal;
  /** Must not throw. */
  readonly onEvent: (event: ToolNodeEvent) => void;
  /** The source says that its tools are others now. */
  readonly onToolsChanged: () => void;
}

/** What a running source is made of. */
export interface RunningTerms extends Pick<AssemblyTerms, "options" | "over" | "onEvent" | "onToolsChanged"> {
  readonly config: ResolvedToolConfig;
  readonly source: ToolSource;
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  /** The same store; where users' files are kept, with those of whoever asks. */
  readonly reachable: ArtifactStore;
  /** What becomes of a result that the store fails at. */
  readonly onStoreFailure: OnStoreFailure;
  /** Puts artifacts into arguments. */
  readonly artifacts: ArtifactArguments;
  readonly copies: ArtifactCopies | undefined;
  /** Files around calls, where the source's tools have to do with users' files. */
  readonly filing: Filing | undefined;
  /** How results are written where no transformer goes on with them. */
  readonly dialect: Dialect;
}

/**
 * Makes a source of a configuration; nothing is asked of it yet.
 *
 * @throws ToolNodeError where a variable is missing or the configuration does not suffice; SluiceError E_CONFIG_… for what
 * is wrong with `artifact_extraction`.
 */
export async function assembled(terms: AssemblyTerms): Promise<RunningSource> {
  const { options, variables, onEvent } = terms;
  const { stateStore, store: given, wasm, fetch, onErrorOutput, dialect = "observation" } = options;
  const config = resolveVariables(terms.config, variables);
  const handling = handlingFor(config, options);
  // Sources that have nothing to do with users' files need not load what does.
  const filing = handling && (await import("./user-files/filing.js"));
  const { store, config: rest } = configured(chosenStore(given, stateStore), config.artifact_extraction);
  const { on_store_failure, arguments: forms, share } = readDoor(rest);
  const onStoreFailure = on_store_failure === "error" ? "throw" : "answer";
  const made = (each: SluiceConfig | undefined): Promise<Sluice> =>
    createSluiceOver({ store, onFailure: onStoreFailure }, each, wasm);
  const sluice = await made(withoutDoor(rest));
  const source = terms.source(config, {
    sluice: filing === undefined ? sluice : await made(filing.contractConfig(withoutDoor(rest))),
    store,
    variables,
    ...(handling !== undefined && { command: (argv, scope) => handling.command(argv, scope) }),
    ...(fetch !== undefined && { fetch }),
    ...(onErrorOutput !== undefined && { onErrorOutput }),
  });
  const copies = terms.copies(store);
  const writeCopy =
    copies && ((ref: StoredArtifact, signal?: AbortSignal): Promise<string> => copies.write(ref, signal));
  const reachable = handling?.within(store, config.name) ?? store;
  return new RunningSource({
    ...terms,
    config,
    source,
    sluice,
    store,
    reachable,
    onStoreFailure,
    dialect,
    artifacts: new ArtifactArguments({ store: reachable, namespace: config.name, forms, share, writeCopy }),
    copies,
    filing:
      handling &&
      filing &&
      new filing.Filing({
        handling,
        sluice,
        store,
        dialect,
        onProblem: (tool, error) => onEvent({ kind: "failed", tool: `${config.name}.${tool}`, error }),
      }),
  });
}

/** Who keeps users' files, where the source's tools have to do with them. */
function handlingFor({ user_files }: ResolvedToolConfig, { userFiles }: ToolNodeOptions): UserFileHandling | undefined {
  if (!user_files) return undefined;
  if (userFiles !== undefined) return userFiles;
  const message = "user_files needs somebody who keeps files: give the ToolNode the option userFiles.";
  throw new ToolConfigError("user_files", message);
}

/** What is known of one attempt over a session. */
export type SessionAttempt = Omit<Attempt, "number">;

/** What a session is used for. */
type Used = Omit<ResilientCall, "signal" | "timeoutSeconds">;

/** What is done over a session, in one attempt. */
type Work<T> = (connection: SourceConnection, attempt: SessionAttempt) => Promise<T>;

/** A connected source. */
export class RunningSource implements AsyncDisposable {
  readonly terms: RunningTerms;
  readonly resources: ResourceReader;
  readonly #resilience: Resilience;
  readonly #sessions: Sessions;

  constructor(terms: RunningTerms) {
    const { config, source, store, over, onEvent } = terms;
    const keyOf = keyFor(terms);
    this.terms = terms;
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
      onNotice: (notice, owner) => this.#notice(notice, owner),
    });
    this.resources = new ResourceReader({
      namespace: config.name,
      use: (context, work) =>
        this.using(context, { isRepeatable: true }, (connection, { signal }) => work(connection.resources, signal)),
      store,
      config: config.artifact_extraction.resources,
      isPerUser: keyOf !== undefined,
      onEvent: (event) => onEvent({ kind: "resource", event }),
    });
  }

  /** What the source offers to whoever asks, and the tools that are made for its resources and artifacts. */
  async look(
    context: ToolContext,
  ): Promise<{ readonly tools: readonly SourceTool[]; readonly generated: readonly ToolSpec[] }> {
    return this.using(context, { isRepeatable: true }, async (connection, { signal }) => ({
      tools: await connection.tools(signal),
      generated: this.#generated(connection.resources !== undefined),
    }));
  }

  /** Calls a tool, and gives its result behind the gate. Files and artifacts that the arguments name are put in before. */
  async call(tool: SourceTool, given: Args, context: ToolContext): Promise<ToolResult> {
    return new ToolCall(this, tool, context).result(given);
  }

  /** Closes what was opened, once `over` is aborted. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.resources.close();
    await this.#sessions[Symbol.asyncDispose]();
    await this.terms.copies?.[Symbol.asyncDispose]();
  }

  /** Works over the session of whoever asks, until they give up or the source is closed. */
  using<T>(context: ToolContext, call: Used, work: Work<T>): Promise<T> {
    return untilEither([context.signal, this.terms.over], (signal) => this.#used({ ...context, signal }, call, work));
  }

  async #used<T>(context: ToolContext & { readonly signal: AbortSignal }, call: Used, work: Work<T>): Promise<T> {
    // A person may take minutes to consent: no turn is held, and no time limit runs, meanwhile.
    const timeoutSeconds = timeoutOf(context, this.terms.config.timeout_s);
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
    const { config, options } = this.terms;
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

  /** Tells the host what was stored of a result, and what failed. */
  tell(tool: string, { artifacts, failures }: Pick<Transformed, "artifacts" | "failures">): void {
    const { config, onEvent } = this.terms;
    const name = `${config.name}.${tool}`;
    for (const error of failures) onEvent({ kind: "failed", tool: name, error });
    if (artifacts.length > 0) onEvent({ kind: "stored", tool: name, artifacts });
  }

  /** The tools that are offered beside the source's own. */
  #generated(hasResources: boolean): readonly ToolSpec[] {
    const { config, sluice, store, reachable } = this.terms;
    const { name: namespace, transport, artifact_extraction } = config;
    const of = { namespace, source: transport, sluice, config: artifact_extraction };
    const isListed = hasResources && artifact_extraction.resources?.enabled !== false;
    const onAnswer = (tool: string, answer: ToolResult): void => this.tell(tool, answer);
    return [
      ...(isListed ? resourceTools({ ...of, reader: this.resources, onAnswer }) : []),
      ...(store instanceof NoOpArtifactStore ? [] : [artifactReadTool({ ...of, store: reachable })]),
    ];
  }

  #notice(notice: SourceNotice, owner: ArtifactScope | undefined): void {
    if (notice.kind === "tools_changed") this.terms.onToolsChanged();
    else this.resources.notice(notice, owner);
  }
}

/** Who shares a connection: nobody with anybody where each has a token, or a process, of their own. */
function keyFor({ config, filing }: RunningTerms): ((context: ToolContext) => string) | undefined {
  if (filing !== undefined && isOwnProcess(config)) return (context) => userKey(context) + filing.ownerKey(context);
  return config.auth_type === "oauth2_user" ? userKey : undefined;
}
