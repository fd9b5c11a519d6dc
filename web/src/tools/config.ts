/**
 * What an external source of tools is, and how it is used (ToolNode 2.1 §1; RFC 0.3 §4.2).
 * @module
 */
import type { SluiceConfig } from "../core/config.js";
import { checkConnection, isAddress, wordsIn } from "./config/connection.js";
import type { ToolFilter } from "./config/filter.js";
import { problemOf, SCHEMA } from "./config/schema.js";
import { below, missingKey, ToolConfigError, wrongValue } from "./config/problem.js";
import type { TransformerContext } from "./transformer.js";
import { isVariableName } from "./variables.js";

/** How a source is spoken to. `mcp` finds stdio, Streamable HTTP or server-sent events out from the connection. */
export type TransportType = "mcp" | "http" | "utcp" | "cli";

/** How a source knows who asks. */
export type AuthType = "none" | "api_key" | "bearer" | "oauth2_user";

/** What the connection of `http` and `utcp` is the address of. */
export type UtcpMode = "auto" | "manual_url" | "base_url";

/**
 * Layer 5: makes an observation of a result, in place of the ordinary layers. May be sync or async.
 *
 * @param tool the source's own name of the tool.
 * @param document the result: with `transformer_input: "reduced"` a CallToolResult with references in place of what was
 *   stored, with `"raw"` the result as the source sent it.
 */
export type OutputTransformer = (tool: string, document: unknown, context: TransformerContext) => unknown;

/** When a call is tried again, and how often. */
export interface RetryPolicy {
  /**
   * Attempts in all, 1 to 10.
   * @defaultValue `3`
   */
  readonly max_attempts?: number;
  /**
   * Seconds before the second attempt, at least; each further wait is about twice as long. At least 0.01.
   * @defaultValue `0.1`
   */
  readonly wait_exponential_min_s?: number;
  /**
   * Seconds that no wait exceeds, at least 0.1 and at least `wait_exponential_min_s`.
   * @defaultValue `5`
   */
  readonly wait_exponential_max_s?: number;
  /**
   * The HTTP statuses after which a call is tried again, whatever its tool does: a POST answered with 500 may have done its work.
   * @defaultValue `[429, 500, 502, 503, 504]`
   */
  readonly retry_on_status?: readonly number[];
}

/** A source of tools. Unknown keys and wrong values are refused with their path. */
export interface ExternalToolConfig {
  /** The namespace of its tools, unique in a registry: 1 to 64 ASCII letters, digits, '-' and '_', without a dot. */
  readonly name: string;
  /**
   * What it is for, for people.
   * @defaultValue `""`
   */
  readonly description?: string;
  /** How it is spoken to. */
  readonly transport: TransportType;
  /**
   * For `mcp` a command or a URL; for `http` a base URL, that of an OpenAPI document, or the document itself; for `utcp`
   * the URL of a manual, or the manual itself; for `cli` a UTCP manual with `cli` call templates, itself or as the path of a
   * file, or a command, which is one tool, `run`. Commands see no shell. `${VAR}` stands for a variable.
   */
  readonly connection: string;
  /**
   * What the connection of `http` and `utcp` is the address of; `auto` finds it out, and takes what is no document for the
   * base URL of an API. With `cli`, `manual_url` reads the manual that the command prints. For `mcp` it is `auto`.
   * @defaultValue `"auto"`
   */
  readonly utcp_mode?: UtcpMode;
  /**
   * Added to the environment of a process that is started, which inherits only PATH, HOME and the like; variables of UTCP
   * manuals. `${VAR}` stands for a variable.
   * @defaultValue `{}`
   */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * How the source knows who asks.
   * @defaultValue `"none"`
   */
  readonly auth_type?: AuthType;
  /**
   * `token` for `bearer`; `api_key` and, where it is not X-API-Key, `header` for `api_key`; `provider` for
   * `oauth2_user`, where it is not the source's name; of programs also `env`, the variable of their environment that the
   * credential goes to. `${VAR}` stands for a variable.
   * @defaultValue `{}`
   */
  readonly auth_config?: Readonly<Record<string, string>>;
  /**
   * Seconds that the source may be silent in one attempt at a call, 1 to 300: counted anew with progress of an MCP server, and
   * with each piece of a long result or of an HTTP answer's body. A command has no more in all, and no attempt more than an hour.
   * @defaultValue `30`
   */
  readonly timeout_s?: number;
  /**
   * Seconds of silence after which the user of a call is told that it takes long: three numbers from 0.1 to 300, each larger than
   * the one before. Those that are not below the time limit are not told. For sources with `user_files` only.
   * @defaultValue `[15, 20, 25]`
   */
  readonly notify_after_s?: readonly [first: number, second: number, third: number];
  /** When a call is tried again, and how often. */
  readonly retry_policy?: RetryPolicy;
  /**
   * Calls under way at the same time, 1 to 100; others wait.
   * @defaultValue `10`
   */
  readonly max_concurrency?: number;
  /**
   * Regular expressions, each anchored at the start of the source's own name of a tool and nowhere else: a tool that one of
   * them matches is offered. null, or none at all: every tool. Tools for resources and artifacts are not filtered.
   * @defaultValue `null`
   */
  readonly tool_filter?: readonly string[] | null;
  /**
   * Whether its tools take and make users' files: the arguments `filename`, `filenames` and `username` are filled in, and results
   * that follow the tool output contract give files to the user. The ToolNode needs `userFiles`.
   * @defaultValue `false`
   */
  readonly user_files?: boolean;
  /**
   * How artifacts are taken out of results; checked by the core when the source is used.
   * @defaultValue `{}`
   */
  readonly artifact_extraction?: SluiceConfig;
  /**
   * Makes observations in place of the ordinary layers. One that throws or takes too long is answered for by them.
   * @defaultValue `null`
   */
  readonly output_transformer?: OutputTransformer | null;
  /**
   * What the transformer is given: `reduced`, the result with references in place of what was stored; `raw`, the result
   * as the source sent it, within a limit of bytes.
   * @defaultValue `"reduced"`
   */
  readonly transformer_input?: "reduced" | "raw";
  /**
   * Seconds until a transformer has returned and what it returned is stored, 0.001 to 300.
   * @defaultValue `30`
   */
  readonly transformer_timeout_s?: number;
}

/** A source of tools with every key said and its patterns compiled. Variables are still variables. */
export interface ToolConfig extends Required<Omit<ExternalToolConfig, "retry_policy" | "tool_filter">> {
  /** When a call is tried again, and how often. */
  readonly retry_policy: Required<RetryPolicy>;
  /** Which tools are offered, see `matchesFilter`. */
  readonly tool_filter: ToolFilter;
}

/**
 * Checks a source and fills in the defaults.
 *
 * @param path where it stands in what was read, such as `sources[2]`, for errors.
 * @throws ToolConfigError E_TOOL_CONFIG with the path of the key that is wrong and the remedy; E_TOOL_UNSUPPORTED for
 *   WebSockets. No value is ever quoted.
 */
export function readToolConfig(input: unknown, path: string = ""): ToolConfig {
  // Where no code may be generated, trying to is reported.
  const read = SCHEMA.safeParse(input, { jitless: true });
  if (!read.success) throw problemOf(read.error.issues, input, path);
  checkTogether(read.data, path);
  checkProgram(read.data, path);
  return read.data;
}

/** Checks what one key says against what another says. */
function checkTogether(config: ToolConfig, base: string): void {
  checkAuth(config, base);
  checkMode(config, base);
  const { wait_exponential_min_s: least, wait_exponential_max_s: most } = config.retry_policy;
  if (most < least) {
    const path = below(below(base, "retry_policy"), "wait_exponential_max_s");
    throw wrongValue(path, `at least wait_exponential_min_s, which is ${least}`);
  }
  // Variables may change what a text is: it is checked when they have values.
  if (!config.connection.includes("${")) checkConnection(config, below(base, "connection"));
}

function checkAuth({ auth_type: type, auth_config: auth }: ToolConfig, base: string): void {
  if (type !== "bearer" && type !== "api_key") return;
  const key = type === "bearer" ? "token" : "api_key";
  if (Object.hasOwn(auth, key) && auth[key] !== "") return;
  throw missingKey(below(below(base, "auth_config"), key), `there for auth_type ${type}, such as "\${API_TOKEN}"`);
}

function checkMode({ transport, utcp_mode: mode }: ToolConfig, base: string): void {
  if (mode === "auto" || transport === "http" || transport === "utcp") return;
  if (transport === "cli" && mode === "manual_url") return;
  throw wrongValue(below(base, "utcp_mode"), `"auto" for the transport ${transport}; leave it out`);
}

/** Checks that a program which has to be told who asks can be told: by a variable of its environment. */
function checkProgram(config: ToolConfig, base: string): void {
  const { auth_type: type, auth_config: auth } = config;
  if (type === "none" || !isProgram(config)) return;
  const path = below(below(base, "auth_config"), "env");
  const wanted =
    `the name of an environment variable of the program, such as API_TOKEN, for the credential of auth_type ${type}: ` +
    "a program takes no headers";
  const variable = Object.hasOwn(auth, "env") ? auth["env"] : undefined;
  if (variable === undefined) throw missingKey(path, wanted);
  if (!isVariableName(variable) && !variable.includes("${")) throw wrongValue(path, wanted);
}

/** Whether a source surely is a program: the value of a variable in front may be a URL. */
function isProgram({ transport, connection }: ToolConfig): boolean {
  if (transport !== "mcp") return transport === "cli";
  const [first = ""] = wordsIn(connection.trim()) ?? [];
  return !isAddress(first) && !first.includes("${");
}

export { ToolConfigError };
export { matchesFilter } from "./config/filter.js";
export type { ToolFilter } from "./config/filter.js";
