/**
 * What `SluiceServer` is given.
 * @module
 */
import { checkWhole } from "../artifacts/host-store.js";
import type { RetentionConfig } from "../artifacts/retention/policy.js";
import type { ArtifactStore } from "../artifacts/store.js";
import type { SluiceConfig } from "../core/config.js";
import { SluiceError } from "../errors/error.js";
import { ANYTHING, checkOptions, COUNT, FUNCTION, OBJECT, TEXT, type OptionTests } from "../errors/arguments.js";
import type { UserFilesOptions } from "../files/options.js";
import type { PlannerBudget } from "../planner/budget.js";
import type { LlmClient } from "../planner/llm/client.js";
import type { NativeTool } from "../planner/tool.js";
import type { McpClientIdentity } from "../tools/auth/mcp-discovery.js";
import type { OAuthProviderConfig } from "../tools/auth/oauth-client.js";
import type { ExternalToolConfig } from "../tools/config.js";
import type { Variables } from "../tools/variables.js";
import type { Authenticate, ServedSession } from "./sessions/session.js";
import type { ServeState } from "./state.js";

/** How much one session may have and ask for. All may be left out. */
export interface ServeLimits {
  /**
   * Requests in a minute.
   * @defaultValue `1200`
   */
  readonly requestsPerMinute?: number;
  /**
   * Sessions that one user begins in a minute.
   * @defaultValue `60`
   */
  readonly sessionsPerMinute?: number;
  /**
   * Requests under way at the same time in one process, those that listen to events apart.
   * @defaultValue `64`
   */
  readonly concurrentRequests?: number;
  /**
   * Listeners to events at the same time in one process.
   * @defaultValue `16`
   */
  readonly listeners?: number;
  /**
   * Runs of the chat under way at the same time in one process, those apart that wait for a person.
   * @defaultValue `4`
   */
  readonly runs?: number;
  /**
   * Seconds that a store is waited for, for each piece of what it takes or gives.
   * @defaultValue `30`
   */
  readonly storeSeconds?: number;
  /**
   * Seconds between two pieces of an upload.
   * @defaultValue `30`
   */
  readonly bodySeconds?: number;
  /**
   * Seconds that a session lasts.
   * @defaultValue `43200`
   */
  readonly sessionSeconds?: number;
}

/** Every limit said. */
export const LIMITS: Required<ServeLimits> = {
  requestsPerMinute: 1200,
  sessionsPerMinute: 60,
  concurrentRequests: 64,
  listeners: 16,
  runs: 4,
  storeSeconds: 30,
  bodySeconds: 30,
  sessionSeconds: 12 * 60 * 60,
};

/** What is served, to whom, and within which limits. All but `store` may be left out. */
export interface SluiceServerOptions {
  /** Where sessions' artifacts are kept. All of it is held to `retention`. */
  readonly store: ArtifactStore;
  /**
   * How long artifacts are kept, and how many.
   * @defaultValue the defaults of the RFC: an hour, 50 MB each, 500 MB and 1,000 a session, 100 MB and 100 a trace
   */
  readonly retention?: RetentionConfig;
  /**
   * Seconds after which what has expired, or is too much, is taken away, wherever nobody asked for it meanwhile.
   * @defaultValue `300`
   */
  readonly collectSeconds?: number;
  /** What processes share; in memory when left out. */
  readonly state?: ServeState;
  /** Signs the tokens of sessions, at least 32 characters; made anew when left out, which shared state does not allow. */
  readonly secret?: string;
  /** Who somebody is; left out, everybody is one user: only for one's own machine. */
  readonly authenticate?: Authenticate;
  /** Where it is reached from outside, such as `https://sluice.example`; left out: only as this machine. */
  readonly publicUrl?: string;
  /** Host names or addresses that lead here beside. */
  readonly hosts?: readonly string[];
  /** Origins of pages that may use it beside its own. */
  readonly origins?: readonly string[];
  /**
   * The path that everything is below, for a server within another: begins and ends with `/`.
   * @defaultValue `/`
   */
  readonly base?: string;
  /** Sources of tools and resources. Each is connected when somebody first needs it. */
  readonly sources?: readonly ExternalToolConfig[];
  /** Offers sources to pages at `mcp/{source}`, as `sluice serve` does; left out: they are not. */
  readonly mcp?: ServedMcp;
  /** Values of `${VAR}` in them; those of the environment when left out. */
  readonly variables?: Variables | Readonly<Record<string, string | undefined>>;
  /** Tools beside those of sources, for the chat. The `toolContext` of their calls is the scope of whoever asks. */
  readonly tools?: readonly NativeTool[];
  /** Who gives users tokens for sources with `auth_type: "oauth2_user"`, by the sources' names, or by those that they say. */
  readonly providers?: Readonly<Record<string, OAuthProviderConfig>>;
  /** Who this program is to providers that MCP servers tell of. Its `redirect_uri` leads to `oauth/callback`. */
  readonly oauthClient?: McpClientIdentity;
  /** Where users' files are kept, for good; left out: there are none. Another store, or another prefix, than `store`. */
  readonly filesStore?: ArtifactStore;
  /** More of users' files, such as folders for tools that take paths. */
  readonly files?: Omit<UserFilesOptions, "store">;
  /** Who answers in the chat; there is none when left out. */
  readonly llm?: LlmClient;
  /** Stands before our own instructions to the model. */
  readonly instructions?: string;
  /** How far a run of the chat may go: 20 steps and 900 seconds where it does not say. */
  readonly budget?: PlannerBudget;
  /** How results of the chat are reduced and clamped. */
  readonly config?: SluiceConfig;
  /** How much one session may have. */
  readonly limits?: ServeLimits;
  /** Told what nobody who asks is told: what a store, a source or a host's function failed at. What it throws is lost. */
  readonly onError?: (error: unknown) => void;
}

const LIST = ["a list", (value: unknown): boolean => Array.isArray(value)] as const;

const OPTIONS: OptionTests<SluiceServerOptions> = {
  store: ["an artifact store", () => true],
  retention: OBJECT,
  collectSeconds: COUNT,
  state: OBJECT,
  secret: TEXT,
  authenticate: FUNCTION,
  publicUrl: TEXT,
  hosts: LIST,
  origins: LIST,
  base: ["a path that begins and ends with /", (value) => typeof value === "string" && /^\/(?:.*\/)?$/.test(value)],
  sources: LIST,
  mcp: OBJECT,
  variables: ANYTHING,
  tools: LIST,
  providers: OBJECT,
  oauthClient: OBJECT,
  filesStore: ANYTHING,
  files: OBJECT,
  llm: OBJECT,
  instructions: TEXT,
  budget: OBJECT,
  config: OBJECT,
  limits: OBJECT,
  onError: FUNCTION,
};

const LIMIT_OPTIONS: OptionTests<ServeLimits> = {
  requestsPerMinute: COUNT,
  sessionsPerMinute: COUNT,
  concurrentRequests: COUNT,
  listeners: COUNT,
  runs: COUNT,
  storeSeconds: COUNT,
  bodySeconds: COUNT,
  sessionSeconds: COUNT,
};

/** Throws SluiceError E_INVALID_ARGUMENT that names the option that is wrong, or that there is not. */
export function checkServer(options: SluiceServerOptions): void {
  checkOptions(options, OPTIONS, "a SluiceServer", wrong, ["store"]);
  checkOptions(options.limits ?? {}, LIMIT_OPTIONS, "limits", (sentence, path) => wrong(sentence, `limits.${path}`));
  checkWhole(options.store, "store");
  checkWhole(options.filesStore, "filesStore");
  if (options.state?.isShared === true && options.secret === undefined) {
    throw wrong(
      "Processes that share their state must share the secret that signs tokens: give them the same one.",
      "secret",
    );
  }
}

function wrong(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

/** Offers sources over Streamable HTTP, bytes as they are. */
export interface ServedMcp {
  /** Names of the sources that it offers. */
  readonly names: ReadonlySet<string>;
  /** Answers a request at `mcp/{source}`. What one session began there is found by no other. */
  readonly answer: (source: string, request: Request, session: ServedSession) => Promise<Response>;
  /** Ends what a session, named by its id, began. Must not throw. */
  readonly end: (session: string) => Promise<void>;
}
