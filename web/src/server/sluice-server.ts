/**
 * Sluice over HTTP: sessions, artifacts, resources, events and chat (RFC 0.3 §5.6, §6 phases 3 and 4, §7).
 * @module
 */
import { Hono } from "hono";
import { RetainingArtifactStore } from "../artifacts/retention/retaining-store.js";
import { heedless } from "../mcp/door-event.js";
import { Announcer } from "./events/announcer.js";
import { HostGuard } from "./http/host-guard.js";
import { checkServer, LIMITS, type SluiceServerOptions } from "./options.js";
import { failed, nothingThere, originRefused } from "./refusals.js";
import { artifactRoutes } from "./routes/artifacts.js";
import { eventRoutes } from "./routes/events.js";
import { healthRoutes } from "./routes/health.js";
import { sessionRoutes } from "./routes/sessions.js";
import { SeenInMemory } from "./seen-artifacts.js";
import { SessionEnding } from "./sessions/ending.js";
import { inSession } from "./sessions/entering.js";
import { SessionTokens } from "./sessions/session-token.js";
import type { Authenticate } from "./sessions/session.js";
import { memoryState } from "./state.js";
import type { ServeEnv, ServeTerms } from "./terms.js";

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

  /** Throws SluiceError E_INVALID_ARGUMENT, E_CONFIG_…; a ToolNodeError for a source that is wrong. */
  constructor(options: SluiceServerOptions) {
    checkServer(options);
    this.#terms = termsOf(options, this.#over.signal);
    this.#app = appOf(this.#terms);
  }

  /** Answers a request. Never throws. */
  readonly fetch = async (request: Request): Promise<Response> => this.#app.fetch(request);

  /** Ends all that is under way: listeners, runs, which another process can go on with, and sources. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new DOMException("The server is closed.", "AbortError"));
  }
}

function termsOf(options: SluiceServerOptions, over: AbortSignal): ServeTerms {
  const { publicUrl, hosts, origins, authenticate = oneUser } = options;
  const state = options.state ?? memoryState();
  const report = heedless(options.onError);
  return {
    store: new RetainingArtifactStore(options.store, options.retention),
    state,
    limits: { ...LIMITS, ...options.limits },
    base: options.base ?? "/",
    hosts: new HostGuard({
      ...(publicUrl !== undefined && { publicUrl }),
      ...(hosts !== undefined && { hosts }),
      ...(origins !== undefined && { origins }),
    }),
    tokens: new SessionTokens(options.secret ?? newSecret()),
    authenticate,
    seen: new SeenInMemory(),
    announcer: new Announcer(state.events, report),
    report,
    over,
  };
}

function appOf(terms: ServeTerms): Hono<ServeEnv> {
  const ending = new SessionEnding(terms, []);
  const inner = new Hono<ServeEnv>()
    .route("/artifacts", artifactRoutes(terms))
    .route("/events", eventRoutes(terms));
  const app = new Hono<ServeEnv>({ strict: false }).basePath(terms.base);
  return app
    .use("*", async (c, next) => {
      const refusal = terms.hosts.refusal(c.req.raw, false);
      return refusal === undefined ? next() : originRefused(refusal);
    })
    .route("/health", healthRoutes(terms))
    .route("/sessions", sessionRoutes(terms, ending))
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
