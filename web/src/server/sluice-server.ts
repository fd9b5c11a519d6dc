/**
 * Sluice over HTTP: sessions, artifacts, resources, events and chat.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { readRetention } from "../artifacts/retention/policy.js";
import { RetainingArtifactStore } from "../artifacts/retention/retaining-store.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { FLAGS, MIB } from "../files/options.js";
import { tierStores, UserFiles } from "../files/user-files.js";
import { ignoreErrors } from "../mcp/interceptor-event.js";
import { SeenInMemory } from "./artifacts/handler.js";
import { Calls } from "./calls/calls.js";
import { Chats, createMakePlanner } from "./chat/chats.js";
import type { ServeEnv } from "./http/context.js";
import { Admission } from "./access/admission.js";
import { forGuests, fromWhereItMay, HostGuard, whileOpen, withSafety } from "./http/host-guard.js";
import { withTelemetry } from "./http/telemetry.js";
import { refuseError, nothingThere } from "./http/refusals.js";
import { within } from "./http/time-limit.js";
import { checkServer, LIMITS, type ServeLimits, type SluiceServerOptions } from "./options.js";
import { artifactRoutes } from "./routes/artifacts.js";
import { chatRoutes } from "./routes/chat.js";
import { fileRoutes, type ServedFiles } from "./routes/files.js";
import { healthRoutes, readyRoutes } from "./routes/health.js";
import { type Part, Readiness, whileReady } from "./http/readiness.js";
import { McpGateway } from "./mcp/gateway.js";
import { metricsRoutes } from "./routes/metrics.js";
import { oauthRoutes } from "./routes/oauth.js";
import { resourceRoutes } from "./routes/resources.js";
import { documentRoutes } from "./routes/openapi.js";
import { AccessTokens } from "./access/access-tokens.js";
import { OidcAccess } from "./access/oidc-access.js";
import { WELL_KNOWN } from "./access/protected-resource.js";
import { eventRoutes, sessionRoutes } from "./routes/sessions.js";
import { usageRoutes } from "./routes/usage.js";
import { mcpRoutes, rawRoutes } from "./routes/mcp.js";
import { callRoutes, pauseRoutes, sourceRoutes, toolRoutes } from "./routes/tools.js";
import { Announcer } from "./sessions/announcer.js";
import { inSession, SessionTokens } from "./access/credentials.js";
import { filesEnding, SessionEnding } from "./sessions/session-end.js";
import { SessionWork } from "./sessions/session-work.js";
import { toOwner, type Authenticate, type Identity } from "./session.js";
import { ServedSources } from "./sources/served-sources.js";
import { memoryState, type ServeState } from "./state.js";
import { limitArtifacts, limitFiles } from "./usage/bounded-store.js";
import { UserUsage } from "./usage/user-usage.js";
import { WorkKeeper } from "./work/work-keeper.js";

/**
 * Serves users' sessions over HTTP, as `sluice serve` does. `fetch` takes a `Request` and gives a `Response`, so it
 * fits into a server of your own.
 *
 * @example
 * const server = new SluiceServer({ store, base: "/sluice/", authenticate: (request) => userOf(request) });
 * app.all("/sluice/*", (c) => server.fetch(c.req.raw));
 * // When the process ends:
 * await server[Symbol.asyncDispose]();
 */
export class SluiceServer implements AsyncDisposable {
  readonly #ends: Ends = {
    draining: new AbortController(),
    streamsEnd: new AbortController(),
    over: new AbortController(),
  };
  #ended: Promise<void> | undefined;
  readonly #app: Hono<ServeEnv>;
  readonly #deps: ServeDeps;
  readonly #collector: Collector;
  readonly #chats: Chats | null;

  /**
   * Checks the options. Sources are connected at their first use.
   *
   * @throws SluiceError E_INVALID_ARGUMENT with the option that is wrong, or E_CONFIG_… with the key.
   * @throws ToolNodeError for a source that is wrong.
   */
  constructor(options: SluiceServerOptions) {
    checkServer(options);
    const state = options.state ?? memoryState();
    const clock = state.clock && { clock: state.clock };
    const retaining = new RetainingArtifactStore(options.store, options.retention, clock);
    this.#deps = createDeps({ ...options, state }, retaining, this.#ends);
    this.#chats = createChats(options, this.#deps);
    this.#app = createApp(this.#deps, this.#chats);
    this.#collector = createCollector(options, retaining, this.#deps);
  }

  /** Answers a request. Never throws. */
  readonly fetch = async (request: Request): Promise<Response> => {
    try {
      return await this.#app.fetch(request);
    } catch (error) {
      // Hono passes on thrown values that are no Error.
      return refuseError(error, this.#deps.report);
    }
  };

  /**
   * Begins the end, as `listen` does when it is disposed of: `GET ready` answers 503 from now on, and everything else goes on.
   * After `seconds`, or earlier by the signal, event streams end with an event `closing`, and it resolves: close the port then.
   * Defaults to 0 seconds.
   */
  readonly drain = async (
    options: { readonly seconds?: number; readonly signal?: AbortSignal } = {},
  ): Promise<void> => {
    const { seconds = 0, signal } = options;
    this.#ends.draining.abort();
    if (seconds > 0) await sleep(seconds * 1000, undefined, { ...(signal && { signal }) }).catch(() => undefined);
    this.#ends.streamsEnd.abort();
  };

  /** Ends event streams, runs, which another process can continue, and sources. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#ended ??= this.#end());
  }

  async #end(): Promise<void> {
    const takenUp = this.#deps.keeper[Symbol.asyncDispose]();
    // Before anything ends that runs use: they are left for others, and not told of it.
    const left = this.#chats?.[Symbol.asyncDispose]();
    const { draining, streamsEnd, over } = this.#ends;
    draining.abort();
    streamsEnd.abort();
    over.abort(new DOMException("The server is closed.", "AbortError"));
    await left;
    await takenUp;
    await this.#deps.calls[Symbol.asyncDispose]();
    await this.#deps.mcp[Symbol.asyncDispose]();
    await this.#collector[Symbol.asyncDispose]();
    await this.#deps.sources[Symbol.asyncDispose]();
    await this.#deps.files?.userFiles[Symbol.asyncDispose]();
    await this.#deps.usage[Symbol.asyncDispose]();
  }
}

/** What the server is made of. Each room declares which of it it needs. */
type ServeDeps = ReturnType<typeof createDeps>;

/** What tells how far the end has come. */
type Ends = Readonly<Record<"draining" | "streamsEnd" | "over", AbortController>>;

/** The routes in the order in which a request passes them. */
function createApp(deps: ServeDeps, chats: Chats | null): Hono<ServeEnv> {
  const ending = new SessionEnding(deps, [
    ({ session }) => deps.sessionWork.end(session.id),
    filesEnding(deps),
    (ended) => deps.sources.ended(ended),
    async (ended) => chats?.endSession(ended),
    (ended) => deps.calls.endSession(ended),
    async ({ session }) => deps.mcp.end(session.id),
  ]);
  const app = new Hono<ServeEnv>({ strict: false }).basePath(deps.base);
  return app
    .use("*", withSafety)
    .use("*", withTelemetry)
    .use("*", whileOpen(deps))
    .use("*", fromWhereItMay(deps))
    .route("/metrics", metricsRoutes(deps))
    .use("*", forGuests(deps))
    .route("/health", healthRoutes(deps))
    .route("/ready", readyRoutes(deps))
    .route("/openapi.json", documentRoutes(deps, app))
    .use("*", whileReady(deps, "state"))
    .route("/sessions", sessionRoutes(deps, ending))
    .route("/oauth", oauthRoutes(deps))
    .route(`/${WELL_KNOWN}`, deps.access?.routes() ?? new Hono<ServeEnv>())
    .use("*", inSession(deps))
    .route("/", sessionApp(deps, chats))
    .all("*", nothingThere)
    .notFound(nothingThere)
    .onError((error) => refuseError(error, deps.report));
}

/** What needs a session: each path with its routes, and with what has to answer before they do. */
function sessionApp(deps: ServeDeps, chats: Chats | null): Hono<ServeEnv> {
  const app = new Hono<ServeEnv>();
  const mount = (path: string, routes: Hono<ServeEnv>, ...needed: readonly Part[]): void => {
    if (needed.length > 0) app.use(`${path}/*`, whileReady(deps, ...needed));
    app.route(path, routes);
  };
  mount("/artifacts", artifactRoutes(deps), "store");
  mount("/events", eventRoutes(deps));
  mount("/files", fileRoutes(deps), "files");
  mount("/sources", sourceRoutes(deps));
  mount("/resources", resourceRoutes(deps), "store");
  mount("/tools", toolRoutes(deps), "store", "files");
  mount("/calls", callRoutes(deps));
  mount("/pauses", pauseRoutes(deps));
  mount("/chat", chatRoutes(chats, deps), "store", "files");
  mount("/mcp", mcpRoutes(deps), "store", "files");
  mount("/raw", rawRoutes(deps), "store", "files");
  mount("/usage", usageRoutes(deps), "store", "files");
  return app;
}

function createDeps(
  options: SluiceServerOptions & { readonly state: ServeState },
  retaining: RetainingArtifactStore,
  ends: Ends,
) {
  const { state, publicUrl, hosts, origins, oidc, authenticate = oidc === undefined ? oneUser : refuseAll } = options;
  const report = ignoreErrors(options.onError);
  const limits: Required<ServeLimits> = { ...LIMITS, ...options.limits };
  const base = options.base ?? "/";
  const announcer = new Announcer(state.events, report);
  const usage = new UserUsage({ state, limits: options.userLimits ?? {}, announcer, report });
  const deps = {
    readiness: createReadiness(options, state),
    store: limitArtifacts(retaining, usage),
    retention: readRetention(options.retention ?? {}),
    files: createFiles(options, state, usage),
    usage,
    state,
    limits,
    base,
    hosts: new HostGuard({ publicUrl, hosts, origins }),
    tokens: new SessionTokens({ secret: options.secret ?? newSecret(), oldSecrets: options.oldSecrets }, state.clock),
    authenticate,
    access: createAccess(options, base),
    metrics: options.metrics ?? null,
    seen: new SeenInMemory(),
    admission: new Admission({ state, limits, usage, report }),
    sessionWork: new SessionWork(state.events, report),
    announcer,
    keeper: new WorkKeeper({ register: state.work, draining: ends.draining.signal, report }),
    hasChat: options.llm !== undefined,
    report,
    over: ends.over.signal,
    draining: ends.draining.signal,
    streamsEnd: ends.streamsEnd.signal,
  };
  const { sources = [], variables, providers, oauthClient } = options;
  const userFiles = deps.files?.userFiles ?? null;
  const served = new ServedSources({ ...deps, sources, variables, providers, oauthClient, userFiles });
  const all = { ...deps, sources: served };
  return { ...all, calls: new Calls(all), mcp: new McpGateway(all) };
}

/** The sign-in by access tokens, or null. */
function createAccess({ oidc, publicUrl = "", sources = [] }: SluiceServerOptions, base: string): OidcAccess | null {
  if (oidc === undefined) return null;
  const root = new URL(publicUrl);
  // A public URL without a path is that of the host, which may have the server below another path.
  root.pathname = root.pathname === "/" ? base : root.pathname.replace(/\/*$/, "/");
  return new OidcAccess({
    tokens: new AccessTokens(oidc),
    root,
    base,
    sources: new Set(sources.map(({ name }) => name)),
  });
}

/** Ids that nothing has. Looking one up shows whether the state or the store answers. */
const NO_SESSION = "none";
const NO_ARTIFACT = "sluice_000000000000";

function createReadiness({ store, filesStore }: SluiceServerOptions, state: ServeState): Readiness {
  return new Readiness({
    state: async () => state.sessions.find(NO_SESSION),
    store: async () => store.stat(NO_ARTIFACT),
    ...(filesStore !== undefined && { files: async () => filesStore.stat(NO_ARTIFACT) }),
  });
}

function createFiles(
  { filesStore, files = {} }: SluiceServerOptions,
  state: ServeState,
  usage: UserUsage,
): ServedFiles | null {
  if (filesStore === undefined) return null;
  const { largeStore, ...flags } = files;
  const { max_file_size_mb, persist_files_across_sessions: isLasting, base64_size_limit_mb } = { ...FLAGS, ...flags };
  const both = largeStore === undefined ? filesStore : tierStores(filesStore, largeStore, base64_size_limit_mb);
  // Files that do not outlive a session are the session's.
  const listScopes = async (identity: Identity): Promise<readonly ArtifactScope[]> => {
    if (isLasting) return [toOwner(identity)];
    const sessions = await state.sessions.ofUser(identity);
    return sessions.map((session_id) => ({ ...toOwner(identity), session_id }));
  };
  const userFiles = new UserFiles({ ...flags, store: limitFiles(both, usage, listScopes) });
  return { userFiles, maxBytes: Math.floor(max_file_size_mb * MIB), isLasting };
}

function createCollector(
  { store: given, collectSeconds = 300 }: SluiceServerOptions,
  store: RetainingArtifactStore,
  { report }: Pick<ServeDeps, "report">,
): Collector {
  const sweep = getSweep(given);
  return new Collector({ store, seconds: collectSeconds, report, ...(sweep !== undefined && { sweep }) });
}

/** The chat, or null without a model. */
function createChats(options: SluiceServerOptions, deps: ServeDeps): Chats | null {
  const planner = createMakePlanner(options, deps);
  const { pauses } = deps.sources;
  return (
    planner && new Chats({ ...deps, planner, noteConsent: (session, asked) => pauses.noteConsent(session, asked) })
  );
}

/** Everybody is the same user. */
const oneUser: Authenticate = () => ({ user_id: "local" });

/** With access tokens, a request without one does not say who sends it. */
const refuseAll: Authenticate = () => null;

function newSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

interface CollectorDeps {
  readonly store: RetainingArtifactStore;
  /** Removes what dead processes left behind, for stores that can do so. */
  readonly sweep?: () => Promise<unknown>;
  /** Seconds between two collections. */
  readonly seconds: number;
  /** Receives the store's failures. Must not throw. */
  readonly report: (error: unknown) => void;
  /** Waits, or throws when the signal is aborted. Defaults to a timer; tests have others. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** Sweep after this many collections. */
const SWEEP_EVERY = 12;

/** Milliseconds that disposal waits for a running collection. */
const COLLECTION_END = 5000;

/**
 * Collects at intervals until it is disposed of. Of several processes that share a store, one collects at a time, and
 * one that dies does not block the others for long. Failures are retried with the next collection.
 */
export class Collector implements AsyncDisposable {
  readonly #deps: CollectorDeps;
  readonly #over = new AbortController();
  readonly #done: Promise<void>;

  constructor(deps: CollectorDeps) {
    this.#deps = deps;
    this.#done = this.#run();
  }

  /** Stops collecting, and waits for a running collection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await within(this.#done, COLLECTION_END);
  }

  async #run(): Promise<void> {
    const { wait = waitFor, seconds, store, sweep } = this.#deps;
    for (let round = 1; !this.#over.signal.aborted; round += 1) {
      try {
        // Spreads processes that started together.
        await wait(seconds * 1000 * (0.8 + 0.4 * Math.random()), this.#over.signal);
      } catch {
        return;
      }
      await this.#tryWork(() => store.collect());
      if (sweep !== undefined && round % SWEEP_EVERY === 0) await this.#tryWork(sweep);
    }
  }

  async #tryWork(work: () => Promise<unknown>): Promise<void> {
    if (this.#over.signal.aborted) return;
    try {
      await work();
    } catch (error) {
      this.#deps.report(error);
    }
  }
}

function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal, ref: false });
}

/** The store's `gc` method, if it has one, as file and S3 stores do. */
export function getSweep(store: object): (() => Promise<unknown>) | undefined {
  const { gc } = store as { readonly gc?: unknown };
  return typeof gc === "function" ? async () => (gc as () => unknown).call(store) : undefined;
}
