/**
 * Sluice over HTTP: sessions, artifacts, resources, events and chat (RFC 0.3 §5.6, §6 phases 3 and 4, §7).
 * @module
 */
import { Hono } from "hono";
import { readRetention } from "../artifacts/retention/policy.js";
import { RetainingArtifactStore } from "../artifacts/retention/retaining-store.js";
import { FLAGS, MIB } from "../files/options.js";
import { UserFiles } from "../files/user-files.js";
import { heedless } from "../mcp/door-event.js";
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
import { healthRoutes } from "./routes/health.js";
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
import { memoryState } from "./state.js";
import type { ServedFiles, ServeEnv, ServeTerms } from "./terms.js";
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
  readonly #terms: ServeTerms;
  readonly #collector: Collector;
  readonly #chats: Chats | null;

  /** Throws SluiceError E_INVALID_ARGUMENT, E_CONFIG_…; a ToolNodeError for a source that is wrong. */
  constructor(options: SluiceServerOptions) {
    checkServer(options);
    this.#terms = termsOf(options, this.#over.signal);
    this.#chats = chatsOf(options, this.#terms);
    this.#app = appOf(this.#terms, this.#chats);
    this.#collector = collectorOf(options, this.#terms);
  }

  /** Answers a request. Never throws. */
  readonly fetch = async (request: Request): Promise<Response> => {
    try {
      return await this.#app.fetch(request);
    } catch (error) {
      // What is thrown and is no error passes by all handlers.
      return failed(error, this.#terms.report);
    }
  };

  /** Ends all that is under way: listeners, runs, which another process can go on with, and sources. */
  async [Symbol.asyncDispose](): Promise<void> {
    // Before anything ends that runs work with: they are left as they are, and not told of it.
    const left = this.#chats?.[Symbol.asyncDispose]();
    this.#over.abort(new DOMException("The server is closed.", "AbortError"));
    await left;
    await this.#collector[Symbol.asyncDispose]();
    await this.#terms.sources[Symbol.asyncDispose]();
    await this.#terms.files?.userFiles[Symbol.asyncDispose]();
  }
}

function termsOf(options: SluiceServerOptions, over: AbortSignal): ServeTerms {
  const { publicUrl, hosts, origins, authenticate = oneUser } = options;
  const state = options.state ?? memoryState();
  const report = heedless(options.onError);
  const limits = { ...LIMITS, ...options.limits };
  const base = options.base ?? "/";
  const terms = {
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
  const userFiles = terms.files?.userFiles ?? null;
  return { ...terms, sources: new ServedSources({ ...terms, sources, variables, providers, oauthClient, userFiles }) };
}

function filesOf({ filesStore, files }: SluiceServerOptions): ServedFiles | null {
  if (filesStore === undefined) return null;
  const { max_file_size_mb, persist_files_across_sessions: isLasting } = { ...FLAGS, ...files };
  const userFiles = new UserFiles({ ...files, store: filesStore });
  return { userFiles, maxBytes: Math.floor(max_file_size_mb * MIB), isLasting };
}

function collectorOf(
  { store: given, collectSeconds = 300 }: SluiceServerOptions,
  { store, report }: ServeTerms,
): Collector {
  const sweep = sweepOf(given);
  return new Collector({ store, seconds: collectSeconds, report, ...(sweep !== undefined && { sweep }) });
}

function chatsOf(options: SluiceServerOptions, terms: ServeTerms): Chats | null {
  const planner = plannersOf(options, terms);
  const { pauses } = terms.sources;
  return (
    planner && new Chats({ ...terms, planner, noteConsent: (session, asked) => pauses.noteConsent(session, asked) })
  );
}

function appOf(terms: ServeTerms, chats: Chats | null): Hono<ServeEnv> {
  const ending = new SessionEnding(terms, [
    terms.uploads.endOf,
    filesEnding(terms),
    (ended) => terms.sources.ended(ended),
    async (ended) => chats?.ended(ended),
    async ({ session }) => terms.mcp?.end(session.id),
  ]);
  const inner = new Hono<ServeEnv>()
    .route("/artifacts", artifactRoutes(terms))
    .route("/events", eventRoutes(terms))
    .route("/files", fileRoutes(terms))
    .route("/sources", sourceRoutes(terms))
    .route("/resources", resourceRoutes(terms))
    .route("/tools", toolRoutes(terms))
    .route("/pauses", pauseRoutes(terms))
    .route("/chat", chatRoutes(chats, terms))
    .route("/mcp", mcpRoutes(terms));
  const app = new Hono<ServeEnv>({ strict: false }).basePath(terms.base);
  return app
    .use("*", withSafety)
    .use("*", whileOpen(terms))
    .use("*", fromWhereItMay(terms))
    .use("*", forGuests(terms))
    .route("/health", healthRoutes(terms))
    .route("/sessions", sessionRoutes(terms, ending))
    .route("/oauth", oauthRoutes(terms))
    .use("*", inSession(terms))
    .route("/", inner)
    .all("*", nothingThere)
    .notFound(nothingThere)
    .onError((error) => failed(error, terms.report));
}

const oneUser: Authenticate = () => ({ user_id: "local" });

function newSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}
