/**
 * A source from its connection to its end: who asks, through which session, how patiently, and what becomes of answers.
 * @module
 */
import type { ArtifactStore } from "../artifacts/store.js";
import { Answer } from "../core/answer.js";
import type { Dialect, Sluice, Transformed } from "../core/sluice.js";
import { heedless } from "../mcp/door-event.js";
import type { Args, ArtifactArguments, Prepared } from "./artifacts/arguments.js";
import { authorizeFor, type Authorization } from "./auth/credentials.js";
import type { McpClientIdentity } from "./auth/mcp-discovery.js";
import type { OAuthManager } from "./auth/oauth-manager.js";
import type { OAuthProviderConfig } from "./auth/provider-config.js";
import type { ToolContext } from "./context.js";
import { ToolAuthError } from "./errors.js";
import type { ToolNodeEvent } from "./event.js";
import { untilEither } from "../core/abort.js";
import type { Attempt } from "./resilience/attempt.js";
import { Resilience } from "./resilience/resilience.js";
import type { ResourceReading } from "./resources/contents.js";
import { linkReader } from "./resources/link-reader.js";
import { ResourceReader } from "./resources/reading.js";
import { Sessions } from "./sessions.js";
import type { Authorize, SourceConnection, SourceNotice, SourceResult, SourceTool, ToolSource } from "./source.js";
import { ToolAnswer, type ToolResult } from "./tool-answer.js";
import { transformed } from "./transforming.js";
import type { ResolvedToolConfig } from "./variables.js";

/** What a running source is made of. */
export interface RunningTerms {
  readonly config: ResolvedToolConfig;
  readonly source: ToolSource;
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  /** Puts artifacts into arguments. */
  readonly artifacts: ArtifactArguments;
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

/** Marks the context of what a call does while it holds its turn: waiting for another could be for ever. */
const WITHIN_CALL: unique symbol = Symbol("within a call");

type InnerContext = ToolContext & { readonly [WITHIN_CALL]?: true };

/** What a session is used for. */
interface Used {
  readonly isRepeatable: boolean;
  readonly tool?: string;
}

type Work<T> = (connection: SourceConnection, attempt: Omit<Attempt, "number">) => Promise<T>;

/** A connected source. */
export class RunningSource implements AsyncDisposable {
  readonly resources: ResourceReader;
  readonly #terms: RunningTerms;
  readonly #resilience: Resilience;
  readonly #sessions: Sessions;

  constructor(terms: RunningTerms) {
    const { config, source, store, over, onEvent } = terms;
    const isPerUser = config.auth_type === "oauth2_user";
    this.#terms = terms;
    this.#resilience = new Resilience(config.name, config, {
      onRetry: ({ error, attempt, waitSeconds }) => onEvent({ kind: "retry", error, attempt, wait_s: waitSeconds }),
      onBreak: () => onEvent({ kind: "left_alone" }),
      onRecover: () => onEvent({ kind: "recovered" }),
    });
    this.#sessions = new Sessions({
      source,
      isPerUser,
      timeoutSeconds: config.timeout_s,
      over,
      onNotice: (notice) => this.#notice(notice),
    });
    this.resources = new ResourceReader({
      namespace: config.name,
      use: (context, work) =>
        this.#using(context, { isRepeatable: true }, (connection, { signal }) => work(connection.resources, signal)),
      store,
      ...(config.artifact_extraction.resources !== undefined && { config: config.artifact_extraction.resources }),
      isPerUser,
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

  /** Calls a tool, and gives its result behind the gate. Artifacts that the arguments name are put in before. */
  async call(tool: SourceTool, given: Args, context: ToolContext): Promise<ToolResult> {
    const prepared = await this.#prepared(tool, given, context);
    const { config, sluice, dialect } = this.#terms;
    const isTransformed = config.output_transformer !== null;
    if (prepared.kind === "answer") {
      return ToolAnswer.told(prepared.result, sluice, isTransformed ? "observation" : dialect);
    }
    const { args } = prepared;
    const { scope = {}, pause } = context;
    const onProgress = heedless(context.onProgress);
    const read: ResourceReading[] = [];
    const readResource = linkReader({
      reader: this.resources,
      context: { ...context, [WITHIN_CALL]: true } as InnerContext,
      timeoutSeconds: config.timeout_s,
      onRead: (reading) => read.push(reading),
      ...(config.artifact_extraction.resources !== undefined && { config: config.artifact_extraction.resources }),
    });
    const { reduced, isError } = await this.#using(
      context,
      { isRepeatable: tool.isRepeatable, tool: tool.name },
      (connection, attempt): Promise<SourceResult> =>
        connection.call({
          tool: tool.name,
          args,
          dialect: isTransformed ? "mcp" : dialect,
          scope,
          signal: attempt.signal,
          ...(readResource !== undefined && { readResource: (uri) => aside(attempt, () => readResource(uri)) }),
          ...(pause !== undefined && { pause }),
          unhurried: (work) => attempt.unhurried(work),
          alive: () => attempt.progressed(),
          onProgress: (progress) => {
            attempt.progressed();
            onProgress(progress);
          },
        }),
    );
    const answer = isTransformed ? await this.#transformed(reduced, tool, context) : reduced;
    const whole = withRead(answer, read);
    this.tell(tool.name, whole);
    return new ToolAnswer(whole, isError);
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
  #using<T>(context: InnerContext, call: Used, work: Work<T>): Promise<T> {
    const { over } = this.#terms;
    return untilEither([context.signal, over], (signal) => this.#used({ ...context, signal }, call, work));
  }

  async #used<T>(context: InnerContext & { readonly signal: AbortSignal }, call: Used, work: Work<T>): Promise<T> {
    // A person may take minutes to consent: no turn is held, and no time limit runs, meanwhile.
    const authorize = await this.#authorize(context);
    const { signal } = context;
    const once = (by: Authorize): Promise<T> => {
      if (context[WITHIN_CALL] === true) {
        return this.#sessions.use(context, by, signal, (connection) => work(connection, { ...UNLIMITED, signal }));
      }
      return this.#resilience.run(
        (attempt) => this.#sessions.use(context, by, attempt.signal, (connection) => work(connection, attempt)),
        { ...call, signal },
      );
    };
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
    const { name, endpoint } = config;
    const url = endpoint === null || endpoint.kind === "stdio" ? undefined : endpoint.url;
    const discover = (known: OAuthManager, signal: AbortSignal | undefined): Promise<OAuthProviderConfig> =>
      known.discoverProvider({
        source: name,
        url: url as string,
        client: client as McpClientIdentity,
        ...(fetch !== undefined && { fetch }),
        ...(signal !== undefined && { signal }),
      });
    return authorizeFor(config, context, {
      ...(manager !== undefined && { manager }),
      ...(manager !== undefined &&
        url !== undefined &&
        client !== undefined && { discover: (signal) => discover(manager, signal) }),
      // They are filled in already, and what they held is not looked at again.
      variables: (text) => text,
    });
  }

  #transformed(reduced: Transformed, tool: SourceTool, context: ToolContext): Promise<Transformed> {
    const { config, sluice, store, onEvent } = this.#terms;
    if (config.output_transformer === null) return Promise.resolve(reduced);
    const name = `${config.name}.${tool.name}`;
    return transformed(reduced, { name: tool.name, namespace: config.name }, context, {
      sluice,
      store,
      transformer: config.output_transformer,
      input: config.transformer_input,
      timeout: config.transformer_timeout_s,
      onFailure: (error) => onEvent({ kind: "failed", tool: name, error }),
    });
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

/** What is done within another attempt has that one's time limit. */
const UNLIMITED: Omit<Attempt, "number" | "signal"> = { progressed: () => undefined, unhurried: (work) => work() };

/** Does what the attempt does not fail with: a link that cannot be read costs the result nothing. */
async function aside<T>(attempt: Omit<Attempt, "number">, work: () => Promise<T>): Promise<T> {
  const outcome = await attempt.unhurried(() => Promise.allSettled([work()]));
  const [settled] = outcome;
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

/** An answer with what the links in it led to, which the core did not store itself. */
function withRead(answer: Transformed, read: readonly ResourceReading[]): Transformed {
  if (read.length === 0) return answer;
  const known = new Set(answer.artifacts.map(({ id }) => id));
  const more = read.flatMap(({ artifacts }) => artifacts).filter(({ id }) => !known.has(id));
  return new Answer({
    ...answer,
    refs: answer.refs,
    artifacts: [...answer.artifacts, ...new Map(more.map((ref) => [ref.id, ref])).values()],
    failures: [...answer.failures, ...read.flatMap(({ failures }) => failures)],
  });
}
