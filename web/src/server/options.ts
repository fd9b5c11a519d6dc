/**
 * The options of `SluiceServer`, and their checks.
 * @module
 */
import { checkWhole } from "../artifacts/host-store.js";
import type { RetentionConfig, SluiceConfig } from "../config/types.js";
import type { ArtifactStore } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { ANYTHING, checkOptions, COUNT, FUNCTION, OBJECT, TEXT, type OptionTests } from "../errors/arguments.js";
import type { UserFilesOptions } from "../files/options.js";
import type { PlannerBudget } from "../planner/budget.js";
import type { LlmClient } from "../planner/llm/client.js";
import type { NativeTool } from "../planner/tool.js";
import type { McpClientIdentity } from "../tools/auth/mcp-discovery.js";
import type { OAuthProviderConfig } from "../tools/auth/oauth-client.js";
import type { ExternalToolConfig } from "../tools/config/config.js";
import type { Variables } from "../tools/config/variables.js";
import { checkOidc, type OidcOptions } from "./access/access-tokens.js";
import type { Authenticate } from "./session.js";
import type { MetricsOptions } from "../telemetry/metrics-endpoint.js";
import type { ServeState } from "./state.js";
import { checkUserLimits, type UserLimits } from "./usage/user-limits.js";

/** Limits for one session. */
export interface ServeLimits {
  /**
   * Requests per minute.
   * @defaultValue `1200`
   */
  readonly requestsPerMinute?: number;
  /**
   * Sessions that one user starts per minute.
   * @defaultValue `60`
   */
  readonly sessionsPerMinute?: number;
  /**
   * Concurrent requests per process, without event streams.
   * @defaultValue `64`
   */
  readonly concurrentRequests?: number;
  /**
   * Concurrent event streams per process.
   * @defaultValue `16`
   */
  readonly listeners?: number;
  /**
   * Concurrent chat runs per process, without runs that wait for a person.
   * @defaultValue `4`
   */
  readonly runs?: number;
  /**
   * Seconds until a store that is silent fails, for each piece that it reads or writes.
   * @defaultValue `30`
   */
  readonly storeSeconds?: number;
  /**
   * Seconds until an upload that is silent is given up.
   * @defaultValue `30`
   */
  readonly bodySeconds?: number;
  /**
   * Seconds until a session expires.
   * @defaultValue `43200`
   */
  readonly sessionSeconds?: number;
}

/** The default of each limit. */
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

/** Options for `SluiceServer`. Only `store` is required. */
export interface SluiceServerOptions {
  /** Stores the artifacts of sessions. `retention` applies to all of it. */
  readonly store: ArtifactStore;
  /**
   * How long artifacts are kept, and how many.
   * @defaultValue an hour, 50 MB each, 500 MB and 1,000 a session, 100 MB and 100 a trace
   */
  readonly retention?: RetentionConfig;
  /**
   * Seconds between two collections of expired artifacts.
   * @defaultValue `300`
   */
  readonly collectSeconds?: number;
  /** The state that processes share. Defaults to memory. */
  readonly state?: ServeState;
  /** Signs session tokens, at least 32 characters. Defaults to a random secret; required with shared state. */
  readonly secret?: string;
  /** Secrets that other processes still sign with, or did: session tokens that they signed are valid. At most 8. */
  readonly oldSecrets?: readonly string[];
  /** Authenticates users. By default everybody is the same user: only for your own machine. */
  readonly authenticate?: Authenticate;
  /**
   * Authenticates users by access tokens of an OpenID Connect provider, in place of `authenticate`. MCP clients connect to `mcp/{source}` with
   * them and find the provider by themselves. Needs `publicUrl`, which tokens are for.
   */
  readonly oidc?: OidcOptions;
  /** The public URL, such as `https://sluice.example`. By default only this machine can connect. */
  readonly publicUrl?: string;
  /** Further host names or addresses of this server. */
  readonly hosts?: readonly string[];
  /** Further origins whose pages may use the server. */
  readonly origins?: readonly string[];
  /**
   * The path of all routes, for a server within another. Begins and ends with `/`.
   * @defaultValue `/`
   */
  readonly base?: string;
  /** Sources of tools and resources. Each is connected at its first use, and offered to MCP clients at `mcp/{source}`. */
  readonly sources?: readonly ExternalToolConfig[];
  /** Values of `${VAR}` in sources. Defaults to the environment. */
  readonly variables?: Variables | Readonly<Record<string, string | undefined>>;
  /** Further tools for the chat. The `toolContext` of their calls is the user's scope. */
  readonly tools?: readonly NativeTool[];
  /** OAuth providers for sources with `auth_type: "oauth2_user"`, by the provider's or the source's name. */
  readonly providers?: Readonly<Record<string, OAuthProviderConfig>>;
  /** The client identity for providers that MCP servers name. Its `redirect_uri` is the URL of `oauth/callback`. */
  readonly oauthClient?: McpClientIdentity;
  /** Stores users' files permanently. Must differ from `store`, or have another prefix. By default there are none. */
  readonly filesStore?: ArtifactStore;
  /** Further options for users' files, such as folders for tools that take paths. */
  readonly files?: Omit<UserFilesOptions, "store">;
  /** The model of the chat. Without one there is no chat. */
  readonly llm?: LlmClient;
  /** Instructions in front of our own. */
  readonly instructions?: string;
  /** The budget of one chat run. Defaults to 20 steps and 900 seconds. */
  readonly budget?: PlannerBudget;
  /** How tool results in the chat are reduced and clamped. */
  readonly config?: SluiceConfig;
  /** Limits for one session. */
  readonly limits?: ServeLimits;
  /** Limits for one user, over all sessions and processes. There are none by default. */
  readonly userLimits?: UserLimits;
  /** Offers this process's metrics at `GET metrics`, for Prometheus. Off by default. */
  readonly metrics?: MetricsOptions;
  /** Receives failures of stores, sources and host functions, which no client sees. What it throws is ignored. */
  readonly onError?: (error: unknown) => void;
}

const LIST = ["a list", (value: unknown): boolean => Array.isArray(value)] as const;

const OPTIONS: OptionTests<SluiceServerOptions> = {
  store: ["an artifact store", () => true],
  retention: OBJECT,
  collectSeconds: COUNT,
  state: OBJECT,
  secret: TEXT,
  oldSecrets: LIST,
  authenticate: FUNCTION,
  oidc: OBJECT,
  publicUrl: TEXT,
  hosts: LIST,
  origins: LIST,
  base: ["a path that begins and ends with /", (value) => typeof value === "string" && /^\/(?:.*\/)?$/.test(value)],
  sources: LIST,
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
  userLimits: OBJECT,
  metrics: OBJECT,
  onError: FUNCTION,
};

const LIMIT_OPTIONS = Object.fromEntries(Object.keys(LIMITS).map((name) => [name, COUNT])) as OptionTests<ServeLimits>;

/** Checks the options. Throws SluiceError E_INVALID_ARGUMENT with the option's name. */
export function checkServer(options: SluiceServerOptions): void {
  checkOptions(options, OPTIONS, "a SluiceServer", wrongOption, ["store"]);
  checkOptions(options.limits ?? {}, LIMIT_OPTIONS, "limits", (sentence, path) =>
    wrongOption(sentence, `limits.${path}`),
  );
  checkSignIn(options);
  checkUserLimits(options.userLimits ?? {}, (sentence, path) => wrongOption(sentence, `userLimits.${path}`));
  checkOptions(options.metrics ?? {}, { token: TEXT }, "metrics", (sentence, path) =>
    wrongOption(sentence, `metrics.${path}`),
  );
  checkWhole(options.store, "store");
  checkWhole(options.filesStore, "filesStore");
  if (options.state?.isShared === true && options.secret === undefined) {
    throw wrongOption(
      "Processes that share state must sign tokens with the same secret: give each the same one.",
      "secret",
    );
  }
}

function checkSignIn({ oidc, authenticate, publicUrl }: SluiceServerOptions): void {
  if (oidc === undefined) return;
  checkOidc(oidc);
  if (authenticate !== undefined) {
    throw wrongOption("Users sign in by one of oidc and authenticate: leave the other one out.", "authenticate");
  }
  if (publicUrl === undefined) {
    throw wrongOption("With oidc, tokens are for the server's URL, which it has to know: set publicUrl.", "publicUrl");
  }
}

/** The error for an option that is wrong. */
export function wrongOption(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}
