/**
 * The sources of a server, for all of its sessions.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import { untilLate } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import type { ToolNode } from "../../tools-node.js";
import type { McpClientIdentity } from "../../tools/auth/mcp-discovery.js";
import { OAuthManager } from "../../tools/auth/oauth-manager.js";
import type { OAuthProviderConfig } from "../../tools/auth/oauth-client.js";
import { readToolConfig, type ExternalToolConfig, type ToolConfig } from "../../tools/config/config.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import type { ToolContext } from "../../tools/context.js";
import { environmentVariables } from "../../tools/sources/node-source.js";
import { ToolNodeError, ToolTimeoutError } from "../../tools/errors.js";
import type { UserFileHandling } from "../../tools/user-files.js";
import { resolveVariables } from "../../tools/config/resolved-config.js";
import { toVariables, type Variables } from "../../tools/config/variables.js";
import type { Announcer } from "../sessions/announcer.js";
import type { EndedSession } from "../sessions/session-register.js";
import { toOwner, type ServedSession } from "../session.js";
import type { ServeState } from "../state.js";
import { Pauses } from "./pauses.js";
import { ServedSource, SharedProviders, type SourceFacts } from "./served-source.js";
import { Watching } from "./watcher.js";
import { userKey } from "../../tools/auth/token-store.js";
import { UserLimitReached } from "../usage/user-limits.js";
import type { UserUsage } from "../usage/user-usage.js";

/** A source that cannot be used now. */
interface UnavailableSource {
  /** Its name. */
  readonly source: string;
  /** Why. */
  readonly error: unknown;
}

/** Milliseconds after which a user's program may be ended for another one: longer than a call may be silent. */
const IDLE_PROGRAM = 6 * 60 * 1000;

/** Milliseconds that a list of all sources waits for one of them. */
const LIST_TIMEOUT = 15_000;

/** All sources. Each is connected at its first use. */
export class ServedSources implements AsyncDisposable {
  /** Users' consent and tokens, over all processes. */
  readonly oauth: OAuthManager;
  /** Questions to people, over all processes. */
  readonly pauses: Pauses;
  readonly #sources: ReadonlyMap<string, ServedSource>;
  readonly #watching: Watching;
  readonly #report: (error: unknown) => void;
  readonly #usage: UserUsage;
  readonly #register: ServeState["sessions"];

  /** Throws a ToolNodeError for a source or a provider that is wrong, SluiceError E_INVALID_ARGUMENT for two of one name. */
  constructor(deps: ServedSourcesDeps) {
    const { state, announcer, report, over, providers = {} } = deps;
    this.#report = report;
    this.#usage = deps.usage;
    this.#register = state.sessions;
    this.oauth = new OAuthManager({ providers, tokenStore: state.tokens, stateStore: state.runs });
    this.pauses = new Pauses(state.events);
    this.#sources = createSources(deps, this.oauth, {
      onEvent: (event, owner) => this.#take(event, owner),
      holdProgram: (context) => this.#holdProgram(context),
    });
    this.#watching = new Watching({
      get: (name, context) => this.get(name, context),
      report,
      register: state.sessions,
      events: state.events,
      announcer,
      over,
    });
  }

  /** All sources, connected or not, in the order of the configuration. */
  get facts(): readonly SourceFacts[] {
    return Array.from(this.#sources.values(), ({ facts }) => facts);
  }

  /** The names of the sources. */
  get names(): readonly string[] {
    return [...this.#sources.keys()];
  }

  /** The configuration of a source. Throws SluiceError E_NOT_FOUND. */
  config(name: string): ToolConfig {
    const source = this.#sources.get(name);
    if (source === undefined) throw unknownSource();
    return source.config;
  }

  /**
   * A connected source. The user may be asked for consent, by the context's `pause`.
   *
   * @throws SluiceError E_NOT_FOUND for an unknown name; ToolNodeError if it cannot be reached; the reason of the
   * context's signal.
   */
  async get(name: string, context: ToolContext): Promise<ToolNode> {
    const source = this.#sources.get(name);
    if (source === undefined) throw unknownSource();
    return source.connected(context);
  }

  /** All sources that can be connected within 15 seconds. Failures of the others are reported. */
  async planned(context: ToolContext): Promise<readonly ToolNode[]> {
    return (await this.available(context)).nodes;
  }

  /**
   * All sources that can be connected within 15 seconds, and the others with their failures. Throws the reason of the
   * context's signal.
   */
  async available(
    context: ToolContext,
  ): Promise<{ readonly nodes: readonly ToolNode[]; readonly unavailable: readonly UnavailableSource[] }> {
    const tried = await Promise.allSettled(
      this.names.map((name) =>
        untilLate((signal) => this.get(name, { ...context, signal }), {
          most: LIST_TIMEOUT,
          late,
          signal: context.signal,
        }),
      ),
    );
    context.signal?.throwIfAborted();
    const nodes: ToolNode[] = [];
    const unavailable: UnavailableSource[] = [];
    for (const [index, outcome] of tried.entries()) {
      if (outcome.status === "fulfilled") nodes.push(outcome.value);
      else {
        this.#report(outcome.reason);
        unavailable.push({ source: this.names[index] ?? "", error: outcome.reason as unknown });
      }
    }
    return { nodes, unavailable };
  }

  /** Takes over the providers that other processes discovered. Never throws. */
  async adoptProviders(): Promise<void> {
    await Promise.all(Array.from(this.#sources.values(), (source) => source.adoptProvider()));
  }

  /**
   * Watches the resources of a session's subscriptions, as long as a client listens to its events here.
   *
   * @param isBack whether the client listened before: then it hears of everything that may have changed meanwhile.
   */
  watch(session: ServedSession, isBack: boolean = false): Disposable {
    return this.#watching.watch(session, isBack);
  }

  /** Makes every process read a session's subscriptions again. Throws SluiceError E_STORE_WRITE. */
  async subscriptionsChanged(session: ServedSession): Promise<void> {
    await this.#watching.changed(session.id);
  }

  /** Ends watching for a session that is over. Never throws. */
  async ended({ session }: EndedSession): Promise<void> {
    await this.#watching.ended(session.id).catch(this.#report);
    if (this.#usage.limits.programs !== undefined) await this.#endPrograms(session).catch(this.#report);
  }

  /** Ends the programs of a user who has no session any more. */
  async #endPrograms({ identity }: ServedSession): Promise<void> {
    if ((await this.#register.ofUser(identity)).length > 0) return;
    const key = userKey({ scope: toOwner(identity) });
    const programs = [...this.#sources.values()].filter(({ isProgramOfUser }) => isProgramOfUser);
    await Promise.all(programs.map((source) => source.close(key)));
  }

  /** Holds one of a user's programs, in place of the one that has been idle for longest where the user has too many. */
  async #holdProgram(context: ToolContext): Promise<Disposable> {
    const { user_id, tenant_id = null } = context.scope ?? {};
    const identity = { user_id: user_id ?? "", tenant_id };
    try {
      return await this.#usage.hold(identity, "programs");
    } catch (error) {
      if (!(error instanceof UserLimitReached) || !(await this.#closeIdle(userKey(context)))) throw error;
      return this.#usage.hold(identity, "programs");
    }
  }

  /** Closes the user's program that has been idle for longest. Returns false if none is idle. */
  async #closeIdle(key: string): Promise<boolean> {
    const before = performance.now() - IDLE_PROGRAM;
    const idle = [...this.#sources.values()]
      .filter(({ isProgramOfUser }) => isProgramOfUser)
      .map((source) => ({ source, usedAt: source.usedAt(key) ?? Infinity }))
      .filter(({ usedAt }) => usedAt < before)
      .sort((left, right) => left.usedAt - right.usedAt);
    await idle[0]?.source.close(key);
    return idle.length > 0;
  }

  /** Closes all sources. */
  async [Symbol.asyncDispose](): Promise<void> {
    // A source that hangs is not waited for once it is closed.
    await Promise.all(Array.from(this.#sources.values(), (source) => source[Symbol.asyncDispose]()));
    await this.#watching[Symbol.asyncDispose]();
  }

  #take(event: ToolNodeEvent, owner: string | null): void {
    if ((event.kind === "failed" || event.kind === "tools_changed") && event.error !== undefined)
      this.#report(event.error);
    else if (event.kind === "refused") this.#report(new SluiceError(event.error.code, event.message));
    this.#watching.take(event, owner);
  }
}

function late(): ToolTimeoutError {
  return new ToolTimeoutError("The source is not connected yet: try again in a while.");
}

function unknownSource(): SluiceError {
  return new SluiceError("E_NOT_FOUND", "There is no source of that name here: see GET sources.");
}

interface ServedSourcesDeps {
  readonly sources: readonly ExternalToolConfig[];
  /** Values of `${VAR}`. Defaults to the environment. */
  readonly variables?: Variables | Readonly<Record<string, string | undefined>> | undefined;
  readonly providers?: Readonly<Record<string, OAuthProviderConfig>> | undefined;
  readonly oauthClient?: McpClientIdentity | undefined;
  /** Within retention. */
  readonly store: ArtifactStore;
  /** Null if the server keeps no files. */
  readonly userFiles: UserFileHandling | null;
  readonly state: ServeState;
  readonly announcer: Announcer;
  readonly usage: UserUsage;
  /** Must not throw. */
  readonly report: (error: unknown) => void;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
}

/**
 * The sources by name.
 *
 * @throws ToolNodeError for a wrong one, SluiceError E_INVALID_ARGUMENT for two with the same name.
 */
function createSources(
  { sources, variables: given, oauthClient: client, state, store, userFiles, report, over }: ServedSourcesDeps,
  manager: OAuthManager,
  heard: Pick<ConstructorParameters<typeof ServedSource>[0], "onEvent" | "holdProgram">,
): ReadonlyMap<string, ServedSource> {
  const variables =
    given === undefined ? environmentVariables : typeof given === "function" ? given : toVariables(given);
  const providers = new SharedProviders({ manager, states: state.runs, client });
  const served = new Map<string, ServedSource>();
  for (const [index, each] of sources.entries()) {
    const config = readToolConfig(each, `sources[${index}]`);
    check(config, index, served, userFiles);
    // At the start, and not when the first user comes: a variable that is missing, an address that is none.
    resolveVariables(config, variables);
    const options = {
      store,
      authManager: manager,
      variables,
      ...(client !== undefined && { oauthClient: client }),
      ...(userFiles !== null && { userFiles }),
      onErrorOutput: createOutputReporter(config.name, report),
    };
    served.set(config.name, new ServedSource({ given: each, config, options, variables, providers, over, ...heard }));
  }
  return served;
}

function check(
  { name, user_files }: ToolConfig,
  index: number,
  served: ReadonlyMap<string, unknown>,
  userFiles: UserFileHandling | null,
): void {
  if (served.has(name)) {
    const sentence = `Two sources are named ${JSON.stringify(name)}: give each its own name.`;
    throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: `sources[${index}].name` });
  }
  if (!user_files || userFiles !== null) return;
  const sentence = `The source ${JSON.stringify(name)} has user_files, but there is no store for files: set filesStore.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: `sources[${index}].user_files` });
}

/** Most reported bytes of one piece. */
const MAX_BYTES = 2000;

/** Most reported pieces per {@link WHILE}: a program may write for ever. */
const MAX_PIECES = 20;

/** In milliseconds. */
const WHILE = 10_000;

/** Characters that move the cursor in a log or hide text. */
const HIDDEN = /(?!\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Reports a source's standard error, shortened and limited. */
function createOutputReporter(source: string, report: (error: unknown) => void): (chunk: Uint8Array) => void {
  let [since, told] = [0, 0];
  return (chunk) => {
    const now = performance.now();
    if (now - since > WHILE || since === 0) [since, told] = [now, 0];
    told += 1;
    if (told > MAX_PIECES) return;
    const text = new TextDecoder().decode(chunk.subarray(0, MAX_BYTES)).replaceAll(HIDDEN, "").trim();
    if (text !== "") report(new ToolNodeError(`The source ${source} writes to its standard error: ${text}`));
  };
}
