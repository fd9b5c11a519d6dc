/**
 * Sluice over HTTP: sessions, artifacts, resources, events and chat.
 * @module
 */
import { Hono } from "hono";
import { readRetention } from "../artifacts/retention/policy.js";
import { RetainingArtifactStore } from "../artifacts/retention/retaining-store.js";
import { FLAGS, MIB } from "../files/options.js";
import { UserFiles } from "../files/user-files.js";
import { ignoreErrors } from "../mcp/interceptor-event.js";
import { Chats } from "./chat/chats.js";
import { plannersOf } from "./chat/planners.js";
import { Announcer } from "./events/announcer.js";
import { Collector, sweepOf } from "./collector.js";
import { Admission } from "./http/admission.js";
import { forGuests, fromWhereItMay, HostGuard, whileOpen, withSafety } from "./http/host-guard.js";
import { checkServer, LIMITS, type SluiceServerOptions } from "./options.js";
import { failed, nothingThere } from "./refusals.js";
import { artifactRoutes } from "./routes/artifacts.js";
import { chatRoutes } from "./routes/chat.js";
import { eventRoutes } from "./routes/events.js";
import { sessionRoutes } from "./routes/sessions.js";
import { fileRoutes } from "./routes/files.js";
import { healthRoutes, readyRoutes, whileReady } from "./routes/health.js";
import { mcpRoutes } from "./routes/mcp.js";
import { oauthRoutes } from "./routes/oauth.js";
import { pauseRoutes } from "./routes/pauses.js";
import { sourceRoutes } from "./routes/sources.js";
import { toolRoutes } from "./routes/tools.js";
import { resourceRoutes } from "./routes/resources.js";
import { SeenInMemory } from "./artifacts/handler.js";
import { filesEnding, SessionEnding } from "./sessions/end.js";
import { inSession } from "./sessions/entry.js";
import { SessionTokens } from "./sessions/session-token.js";
import { ServedSources } from "./sources/served-sources.js";
import type { Authenticate } from "./sessions/session.js";
import { Readiness } from "./readiness.js";
import { memoryState, type ServeState } from "./state.js";
import type { ServedFiles, ServeEnv, ServeDeps } from "./deps.js";
import { Uploads } from "./uploads.js";

/**
 * Serves sessions of users, for whatever speaks in `Request` and `Response`: `sluice serve`, or a server of the host's own.
 *
 * @example
 * await using server = new SluiceServer({ store, base: "/sluice/", authenticate: (request) => userOf(request) });
 * app.all("/sluice/*", (c) => server.fetch(c.req.raw));
 */
export class SluiceServer implements AsyncDisposable {
  readonly #over = new AbortController();
  readonly #app: Hono<ServeEnv>;
  readonly #deps: ServeDeps;
  readonly #collector: Collector;
  readonly #chats: Chats | null;

  /** Throws SluiceError E_INVALID_ARGUMENT, E_CONFIG_…; a ToolNodeError for a source that is wrong. */
  constructor(options: SluiceServerOptions) {
    checkServer(options);
    this.#deps = termsOf(options, this.#over.signal);
    this.#chats = chatsOf(options, this.#deps);
    this.#app = appOf(this.#deps, this.#chats);
    this.#collector = collectorOf(options, this.#deps);
  }

  /** Answers a request. Never throws. */
  readonly fetch = async (request: Request): Promise<Response> => {
    try {
      return await this.#app.fetch(request);
    } catch (error) {
      // What is thrown and is no error passes by all handlers.
      return failed(error, this.#deps.report);
    }
  };

  /** Ends all that is under way: listeners, runs, which another process can go on with, and sources. */
  async [Symbol.asyncDispose](): Promise<void> {
    // Before anything ends that runs work with: they are left as they are, and not told of it.
    const left = this.#chats?.[Symbol.asyncDispose]();
    this.#over.abort(new DOMException("The server is closed.", "AbortError"));
    await left;
    await this.#collector[Symbol.asyncDispose]();
    await this.#deps.sources[Symbol.asyncDispose]();
    await this.#deps.files?.userFiles[Symbol.asyncDispose]();
  }
}

function termsOf(options: SluiceServerOptions, over: AbortSignal): ServeDeps {
  const { publicUrl, hosts, origins, authenticate = oneUser } = options;
  const state = options.state ?? memoryState();
  const report = ignoreErrors(options.onError);
  const limits = { ...LIMITS, ...options.limits };
  const base = options.base ?? "/";
  const deps = {
    readiness: readinessOf(options, state),
    store: new RetainingArtifactStore(options.store, options.retention),
    retention: readRetention(options.retention ?? {}),
    files: filesOf(options),
    state,
    limits,
    base,
    hosts: new HostGuard({
      ...(publicUrl !== undefined && { publicUrl }),
      ...(hosts !== undefined && { hosts }),
      ...(origins !== undefined && { origins }),
    }),
    tokens: new SessionTokens(options.secret ?? newSecret()),
    authenticate,
    mcp: options.mcp ?? null,
    seen: new SeenInMemory(),
    admission: new Admission({ state, limits, base, report }),
    uploads: new Uploads(),
    announcer: new Announcer(state.events, report),
    hasChat: options.llm !== undefined,
    report,
    over,
  };
  const { sources = [], variables, providers, oauthClient } = options;
  const userFiles = deps.files?.userFiles ?? null;
  return { ...deps, sources: new ServedSources({ ...deps, sources, variables, providers, oauthClient, userFiles }) };
}

/** An id that no artifact has: looking for it says whether the store answers. */
const NO_ARTIFACT = "sluice_000000000000";

function readinessOf({ store, filesStore }: SluiceServerOptions, state: ServeState): Readiness {
  return new Readiness({
    state: async () => state.sessions.find("none"),
    store: async () => store.stat(NO_ARTIFACT),
    ...(filesStore !== undefined && { files: async () => filesStore.stat(NO_ARTIFACT) }),
  });
}

function filesOf({ filesStore, files }: SluiceServerOptions): ServedFiles | null {
  if (filesStore === undefined) return null;
  const { max_file_size_mb, persist_files_across_sessions: isLasting } = { ...FLAGS, ...files };
  const userFiles = new UserFiles({ ...files, store: filesStore });
  return { userFiles, maxBytes: Math.floor(max_file_size_mb * MIB), isLasting };
}

function collectorOf(
  { store: given, collectSeconds = 300 }: SluiceServerOptions,
  { store, report }: ServeDeps,
): Collector {
  const sweep = sweepOf(given);
  return new Collector({ store, seconds: collectSeconds, report, ...(sweep !== undefined && { sweep }) });
}

function chatsOf(options: SluiceServerOptions, deps: ServeDeps): Chats | null {
  const planner = plannersOf(options, deps);
  const { pauses } = deps.sources;
  return (
    planner && new Chats({ ...deps, planner, noteConsent: (session, asked) => pauses.noteConsent(session, asked) })
  );
}

function appOf(deps: ServeDeps, chats: Chats | null): Hono<ServeEnv> {
  const ending = new SessionEnding(deps, [
    deps.uploads.endOf,
    filesEnding(deps),
    (ended) => deps.sources.ended(ended),
    async (ended) => chats?.ended(ended),
    async ({ session }) => deps.mcp?.end(session.id),
  ]);
  const inner = new Hono<ServeEnv>()
    .use("/artifacts/*", whileReady(deps, "store"))
    .use("/files/*", whileReady(deps, "files"))
    .use("/resources/*", whileReady(deps, "store"))
    .use("/tools/*", whileReady(deps, "store", "files"))
    .use("/chat/*", whileReady(deps, "store", "files"))
    .use("/mcp/*", whileReady(deps, "store"))
    .route("/artifacts", artifactRoutes(deps))
    .route("/events", eventRoutes(deps))
    .route("/files", fileRoutes(deps))
    .route("/sources", sourceRoutes(deps))
    .route("/resources", resourceRoutes(deps))
    .route("/tools", toolRoutes(deps))
    .route("/pauses", pauseRoutes(deps))
    .route("/chat", chatRoutes(chats, deps))
    .route("/mcp", mcpRoutes(deps));
  const app = new Hono<ServeEnv>({ strict: false }).basePath(deps.base);
  return app
    .use("*", withSafety)
    .use("*", whileOpen(deps))
    .use("*", fromWhereItMay(deps))
    .use("*", forGuests(deps))
    .route("/health", healthRoutes(deps))
    .route("/ready", readyRoutes(deps))
    .use("*", whileReady(deps, "state"))
    .route("/sessions", sessionRoutes(deps, ending))
    .route("/oauth", oauthRoutes(deps))
    .use("*", inSession(deps))
    .route("/", inner)
    .all("*", nothingThere)
    .notFound(nothingThere)
    .onError((error) => failed(error, deps.report));
}

const oneUser: Authenticate = () => ({ user_id: "local" });

function newSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}
