/**
 * The configuration of a source of tools: its type, its checks and defaults, and files of several sources.
 * @module
 */
import { z } from "zod";
import type { SluiceConfig } from "../../config/types.js";
import { checkConnection, isAddress, wordsIn } from "./connection.js";
import { isOrigin } from "../addresses.js";
import { below, missingKey, type ToolConfigError, unknownKey, wrongValue } from "../errors.js";
import type { TransformerContext } from "../context.js";
import { isVariableName } from "./variables.js";

/** The transport of a source. `mcp` chooses stdio, Streamable HTTP or server-sent events from the connection. */
type TransportType = "mcp" | "http" | "utcp" | "cli";

/** How callers are authenticated to the source. */
export type AuthType = "none" | "api_key" | "bearer" | "oauth2_user";

/** What the connection of `http` and `utcp` points to. */
export type UtcpMode = "auto" | "manual_url" | "base_url";

/**
 * Turns a result into an observation, in place of the ordinary layers. May be async.
 *
 * @param tool the source's own name for the tool.
 * @param document the result: with `transformer_input: "reduced"` a CallToolResult with references in place of stored
 *   parts, with `"raw"` the result as the source sent it.
 */
export type OutputTransformer = (tool: string, document: unknown, context: TransformerContext) => unknown;

/** When and how often a call is retried. */
interface RetryPolicy {
  /**
   * Maximum number of attempts, 1 to 10.
   * @defaultValue `3`
   */
  readonly max_attempts?: number;
  /**
   * Minimum seconds before the second attempt, at least 0.01. Each further wait is about twice as long.
   * @defaultValue `0.1`
   */
  readonly wait_exponential_min_s?: number;
  /**
   * Maximum seconds between attempts, at least 0.1 and at least `wait_exponential_min_s`.
   * @defaultValue `5`
   */
  readonly wait_exponential_max_s?: number;
  /**
   * HTTP statuses that are retried, whatever the tool does. Note that a POST answered with 500 may have had its
   * effect.
   * @defaultValue `[429, 500, 502, 503, 504]`
   */
  readonly retry_on_status?: readonly number[];
}

/** A source of tools. Unknown keys and wrong values are refused with their path. */
export interface ExternalToolConfig {
  /** The namespace of the tools, unique in a registry: 1 to 64 ASCII letters, digits, '-' and '_'. */
  readonly name: string;
  /**
   * A description for people.
   * @defaultValue `""`
   */
  readonly description?: string;
  /** The transport. */
  readonly transport: TransportType;
  /**
   * Where the source is. `${VAR}` is replaced. Commands run without a shell.
   *
   * - `mcp`: a command or a URL.
   * - `http`: the base URL of an API, the URL of an OpenAPI document, or the document itself.
   * - `utcp`: the URL of a manual, or the manual itself.
   * - `cli`: a UTCP manual with `cli` call templates, the path of one, or a command, which becomes the tool `run`.
   */
  readonly connection: string;
  /**
   * What the connection of `http` and `utcp` points to. `auto` finds out, and treats anything but a document as the
   * base URL of an API. With `cli`, `manual_url` runs the command and reads the manual that it prints. `mcp` takes
   * only `auto`.
   * @defaultValue `"auto"`
   */
  readonly utcp_mode?: UtcpMode;
  /**
   * Environment variables for a started process, which otherwise inherits only PATH, HOME and the like; also
   * variables for UTCP manuals. `${VAR}` is replaced.
   * @defaultValue `{}`
   */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * How callers are authenticated.
   * @defaultValue `"none"`
   */
  readonly auth_type?: AuthType;
  /**
   * Credentials. `${VAR}` is replaced.
   *
   * - `bearer`: `token`.
   * - `api_key`: `api_key`, and `header` if it is not X-API-Key.
   * - `oauth2_user`: `provider`, if it differs from the source's name.
   * - For programs also `env`: the environment variable that gets the credential.
   * @defaultValue `{}`
   */
  readonly auth_config?: Readonly<Record<string, string>>;
  /**
   * Types of UTCP call templates that a manual's tools may use: `http`, `sse`, `streamable_http`, `websocket`, `mcp`,
   * `cli`, `text`, `file`. The last three, and `mcp` servers that are programs, are allowed only in an inline manual.
   * null or an empty list allows those that use the network; with the transport `cli`, only `cli`.
   * @defaultValue `null`
   */
  readonly allowed_communication_protocols?: readonly CallTemplateType[] | null;
  /**
   * Further hosts that a document or a redirect may send requests to: `api.example.com` or `*.example.com`, with a
   * port if it is not 443. They get no credentials.
   * @defaultValue `[]`
   */
  readonly allowed_hosts?: readonly string[];
  /**
   * Further origins that may get requests and credentials, such as `https://api.example.com`.
   * @defaultValue `[]`
   */
  readonly trusted_origins?: readonly string[];
  /**
   * Seconds of silence allowed in one attempt at a call, 1 to 300. Restarts with progress of an MCP server, and with
   * each piece of a long result or an HTTP body. For a command it is the total time. No attempt takes longer than an
   * hour.
   * @defaultValue `30`
   */
  readonly timeout_s?: number;
  /**
   * Seconds of silence after which the user is told that a call takes long: three rising numbers from 0.1 to 300.
   * Values at or above the time limit are skipped.
   * @defaultValue `[15, 20, 25]`
   */
  readonly notify_after_s?: readonly [first: number, second: number, third: number];
  /** When and how often a call is retried. */
  readonly retry_policy?: RetryPolicy;
  /**
   * Maximum number of concurrent calls, 1 to 100. Further calls wait.
   * @defaultValue `10`
   */
  readonly max_concurrency?: number;
  /**
   * Regular expressions, anchored at the start of the source's own tool names. Tools that match one are offered; null
   * or an empty list offers all. Tools for resources and artifacts are always offered.
   * @defaultValue `null`
   */
  readonly tool_filter?: readonly string[] | null;
  /**
   * Whether the tools take and make users' files: the arguments `filename`, `filenames` and `username` are filled in,
   * and results that follow the tool output contract give files to the user. Requires the option `userFiles` of the
   * ToolNode.
   * @defaultValue `false`
   */
  readonly user_files?: boolean;
  /**
   * How artifacts are extracted from results. The core checks it when the source is used.
   * @defaultValue `{}`
   */
  readonly artifact_extraction?: SluiceConfig;
  /**
   * Creates observations in place of the ordinary layers. If it throws or takes too long, they are used after all.
   * @defaultValue `null`
   */
  readonly output_transformer?: OutputTransformer | null;
  /**
   * What the transformer gets: `reduced` is the result with references in place of stored parts, `raw` the result as
   * the source sent it, up to a size limit.
   * @defaultValue `"reduced"`
   */
  readonly transformer_input?: "reduced" | "raw";
  /**
   * Seconds for the transformer to return and its value to be stored, 0.001 to 300.
   * @defaultValue `30`
   */
  readonly transformer_timeout_s?: number;
}

/** A checked source with all defaults filled in and patterns compiled. Variables are not replaced yet. */
export interface ToolConfig extends Required<Omit<ExternalToolConfig, "retry_policy" | "tool_filter">> {
  /** When and how often a call is retried. */
  readonly retry_policy: Required<RetryPolicy>;
  /** Which tools are offered, see `matchesFilter`. */
  readonly tool_filter: ToolFilter;
}

/**
 * Checks the configuration of a source and fills in defaults.
 *
 * @param path prefix for the paths in errors, such as `sources[2]`.
 * @throws ToolConfigError E_TOOL_CONFIG with the path of the wrong key and the remedy; E_TOOL_UNSUPPORTED for
 *   WebSockets. Values are never quoted.
 */
export function readToolConfig(input: unknown, path: string = ""): ToolConfig {
  // zod would compile code, which a content security policy may forbid and report.
  const read = SCHEMA.safeParse(input, { jitless: true });
  if (!read.success) throw toProblem(read.error.issues, input, path);
  checkTogether(read.data, path);
  checkProgram(read.data, path);
  return read.data;
}

/** Checks keys against each other. */
function checkTogether(config: ToolConfig, base: string): void {
  checkAuth(config, base);
  checkMode(config, base);
  const { wait_exponential_min_s: least, wait_exponential_max_s: most } = config.retry_policy;
  if (most < least) {
    const path = below(below(base, "retry_policy"), "wait_exponential_max_s");
    throw wrongValue(path, `at least wait_exponential_min_s, which is ${least}`);
  }
  // With variables, the connection is checked once they are replaced.
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

/** Checks that a program with credentials names an environment variable for them. */
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

/** Whether a source is certainly a program. A leading variable may turn out to be a URL. */
function isProgram({ transport, connection }: ToolConfig): boolean {
  if (transport !== "mcp") return transport === "cli";
  const [first = ""] = wordsIn(connection.trim()) ?? [];
  return !isAddress(first) && !first.includes("${");
}

/** A supported type of UTCP call template. */
export type CallTemplateType = "http" | "sse" | "streamable_http" | "websocket" | "mcp" | "cli" | "text" | "file";

/** Types that use the network. */
export const NETWORK_TYPES = [
  "http",
  "sse",
  "streamable_http",
  "websocket",
  "mcp",
] as const satisfies readonly CallTemplateType[];

/** Types that use this machine. Allowed only in inline manuals. */
export const LOCAL_TYPES = ["cli", "text", "file"] as const satisfies readonly CallTemplateType[];

/** All supported types. */
export const CALL_TEMPLATE_TYPES = [...NETWORK_TYPES, ...LOCAL_TYPES] as const;

/** Maximum number of patterns in a filter. */
const MAX_PATTERNS = 100;
/** Maximum characters of a pattern. */
const MAX_PATTERN = 256;
/** Longer names are not tool names (MCP "Tool Names") and never match. */
const MAX_NAME = 128;
/** Limit for `choicesIn`, about three unbounded repetitions: the worst name then takes less than a second. */
const MAX_CHOICES = 24;

/** Compiled patterns. null lets every tool pass. */
type ToolFilter = readonly RegExp[] | null;

/**
 * Compiles a pattern, anchored at the start only. Undefined if it is not a regular expression, or if matching it
 * could take exponential time.
 */
export function compilePattern(pattern: string): RegExp | undefined {
  try {
    // Compiled alone first: `a)|(b` would become valid inside the group below.
    void new RegExp(pattern);
    return choicesIn(pattern) > MAX_CHOICES ? undefined : new RegExp(`^(?:${pattern})`);
  } catch {
    return undefined;
  }
}

/** Whether a tool passes the filter. An empty filter lets every tool pass. */
export function matchesFilter(filter: ToolFilter, name: string): boolean {
  if (filter === null || filter.length === 0) return true;
  return name.length <= MAX_NAME && filter.some((pattern) => pattern.test(name));
}

/** Choices of an unbounded repetition, as a binary logarithm: one for each of 128 characters. */
const ENDLESS = 7;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:,\d*)?\})\??/y;

/** A group while it is read. */
interface Group {
  /** Ways through its finished alternatives. */
  others: number;
  /** Choices of the current alternative, without its last part. */
  before: number;
  /** Choices of the last part, which a quantifier may repeat. */
  last: number;
}

/**
 * The binary logarithm of the number of ways in which a backtracking engine may try a pattern. Infinity if a group
 * with choices is repeated.
 */
function choicesIn(pattern: string): number {
  const open: Group[] = [];
  let group: Group = { others: 0, before: 0, last: 0 };
  let at = 0;
  while (at < pattern.length) {
    const end = endOfPart(pattern, at);
    const part = pattern[at];
    if (part === "(") {
      open.push(group);
      group = { others: 0, before: 0, last: 0 };
    } else if (part === ")") {
      const choices = countChoices(group);
      const outer = open.pop() ?? { others: 0, before: 0, last: 0 };
      group = { others: outer.others, before: outer.before + outer.last, last: choices };
    } else if (part === "|") {
      group = { others: group.others + 2 ** (group.before + group.last), before: 0, last: 0 };
    } else if (isQuantifier(pattern, at)) {
      group.last = repeatChoices(group.last, pattern.slice(at, end));
    } else {
      group = { others: group.others, before: group.before + group.last, last: 0 };
    }
    at = end;
  }
  return countChoices(group);
}

function countChoices({ others, before, last }: Group): number {
  return others === 0 ? before + last : Math.log2(others + 2 ** (before + last));
}

function repeatChoices(choices: number, quantifier: string): number {
  if (quantifier.startsWith("?")) return choices + 1;
  if (choices > 0) return Number.POSITIVE_INFINITY;
  return /^\{\d+\}/.test(quantifier) ? 0 : ENDLESS;
}

function isQuantifier(pattern: string, at: number): boolean {
  QUANTIFIER.lastIndex = at;
  return QUANTIFIER.test(pattern);
}

/** Where the part that starts here ends: an escape, a class, a quantifier, the opening of a group, or a character. */
function endOfPart(pattern: string, at: number): number {
  if (pattern[at] === "\\") return at + 2;
  if (pattern[at] === "[") return endOfClass(pattern, at);
  // The question mark only says which kind of group it is.
  if (pattern[at] === "(") return pattern[at + 1] === "?" ? at + 2 : at + 1;
  return isQuantifier(pattern, at) ? QUANTIFIER.lastIndex : at + 1;
}

function endOfClass(pattern: string, at: number): number {
  let end = at + 1;
  while (end < pattern.length && pattern[end] !== "]") end += pattern[end] === "\\" ? 2 : 1;
  return end + 1;
}

/** One day. Timers overflow at 24.8 days. */
const MAX_WAIT_S = 86_400;
const MAX_STATUSES = 100;
const MAX_DESCRIPTION = 10_000;
/** Large, since a connection may be an inline manual. */
const MAX_CONNECTION = 1_000_000;
const MAX_PAIRS = 256;
const MAX_VALUE = 32_768;

const RETRY_SHAPE = {
  max_attempts: z.int().min(1).max(10).default(3),
  wait_exponential_min_s: z.number().min(0.01).max(MAX_WAIT_S).default(0.1),
  wait_exponential_max_s: z.number().min(0.1).max(MAX_WAIT_S).default(5),
  retry_on_status: z.array(z.int().min(100).max(599)).max(MAX_STATUSES).readonly().default([429, 500, 502, 503, 504]),
} satisfies Record<keyof RetryPolicy, z.ZodType>;

const filterPattern = z
  .string()
  .max(MAX_PATTERN)
  .transform((text, context) => {
    const compiled = compilePattern(text);
    if (compiled !== undefined) return compiled;
    context.addIssue({ code: "custom" });
    return z.NEVER;
  });

/** Names that are valid as environment variables and in headers. */
const pairsSchema = z
  .record(
    z.string().regex(/^[^=\u0000-\u001f]{1,256}$/),
    z
      .string()
      .max(MAX_VALUE)
      .regex(/^[^\u0000]*$/),
  )
  .refine((values) => Object.keys(values).length <= MAX_PAIRS);

const MAX_LIST = 256;
const HOST = /^(?:\*\.)?(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

function isHost(text: string): boolean {
  return HOST.test(text) && URL.canParse(`https://${text.replace(/^\*\./, "")}`);
}

// The core checks its contents.
const extractionSchema = z.custom<SluiceConfig>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

const noticeSeconds = z.number().min(0.1).max(300);

const SHAPE = {
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string().max(MAX_DESCRIPTION).default(""),
  transport: z.enum(["mcp", "http", "utcp", "cli"]),
  connection: z.string().max(MAX_CONNECTION).regex(/\S/),
  utcp_mode: z.enum(["auto", "manual_url", "base_url"]).default("auto"),
  env: pairsSchema.readonly().default({}),
  auth_type: z.enum(["none", "api_key", "bearer", "oauth2_user"]).default("none"),
  auth_config: pairsSchema.readonly().default({}),
  allowed_communication_protocols: z
    .array(z.enum(CALL_TEMPLATE_TYPES))
    .max(MAX_LIST)
    .readonly()
    .nullable()
    .default(null),
  allowed_hosts: z.array(z.string().refine(isHost)).max(MAX_LIST).readonly().default([]),
  trusted_origins: z.array(z.string().refine(isOrigin)).max(MAX_LIST).readonly().default([]),
  timeout_s: z.number().min(1).max(300).default(30),
  notify_after_s: z
    .tuple([noticeSeconds, noticeSeconds, noticeSeconds])
    .refine(([first, second, third]) => first < second && second < third)
    .readonly()
    .default([15, 20, 25]),
  retry_policy: z.strictObject(RETRY_SHAPE).prefault({}),
  max_concurrency: z.int().min(1).max(100).default(10),
  tool_filter: z.array(filterPattern).max(MAX_PATTERNS).readonly().nullable().default(null),
  user_files: z.boolean().default(false),
  artifact_extraction: extractionSchema.default({}),
  output_transformer: z
    .custom<OutputTransformer>((value) => typeof value === "function")
    .nullable()
    .default(null),
  transformer_input: z.enum(["reduced", "raw"]).default("reduced"),
  transformer_timeout_s: z.number().min(0.001).max(300).default(30),
} satisfies Record<keyof ExternalToolConfig, z.ZodType>;

const sourceSchema = z.strictObject(SHAPE);

/** The schema of a source. A test checks it against the documented type. */
export const SCHEMA: z.ZodType<ToolConfig, z.input<typeof sourceSchema>> = sourceSchema;

/** The known keys, by the path of their object. */
export const KEYS: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(SHAPE),
  retry_policy: Object.keys(RETRY_SHAPE),
};

type Place = keyof typeof SHAPE | `retry_policy.${keyof typeof RETRY_SHAPE}`;

/** The expected value of each key. Completes "must be". */
const WANTED: Readonly<Record<Place, string>> = {
  name: "a namespace: 1 to 64 ASCII letters, digits, '-' and '_'",
  description: `a string of at most ${MAX_DESCRIPTION} characters`,
  transport: 'one of "mcp", "http", "utcp" and "cli"',
  connection: `a command, a URL or a manual, of at most ${MAX_CONNECTION} characters`,
  utcp_mode: 'one of "auto", "manual_url" and "base_url"',
  env: `an object of at most ${MAX_PAIRS} names without '=' and control characters, each with a string without NUL`,
  auth_type: 'one of "none", "api_key", "bearer" and "oauth2_user"',
  auth_config: `an object of at most ${MAX_PAIRS} names, each with a string such as "\${TOKEN}"`,
  allowed_communication_protocols: `null, or a list of types of UTCP call templates: ${CALL_TEMPLATE_TYPES.join(", ")}`,
  allowed_hosts: `a list of at most ${MAX_LIST} hosts, such as ["api.example.com", "*.example.com:8443"]`,
  trusted_origins: `a list of at most ${MAX_LIST} origins without a path, such as ["https://api.example.com"]`,
  timeout_s: "a number of seconds from 1 to 300",
  notify_after_s: "three numbers of seconds from 0.1 to 300, each larger than the one before, such as [15, 20, 25]",
  retry_policy: 'an object, such as {"max_attempts": 5}',
  max_concurrency: "a whole number from 1 to 100",
  tool_filter:
    `null, or a list of at most ${MAX_PATTERNS} regular expressions of JavaScript, each of at most ${MAX_PATTERN} ` +
    "characters, with few repetitions and alternatives, and none of them inside a repeated group",
  user_files: "true or false",
  artifact_extraction: 'an object, such as {"max_inline_size": 5000}',
  output_transformer: "a function, or null",
  transformer_input: 'one of "reduced" and "raw"',
  transformer_timeout_s: "a number of seconds from 0.001 to 300",
  "retry_policy.max_attempts": "a whole number from 1 to 10",
  "retry_policy.wait_exponential_min_s": `a number of seconds from 0.01 to ${MAX_WAIT_S}`,
  "retry_policy.wait_exponential_max_s": `a number of seconds from 0.1 to ${MAX_WAIT_S}`,
  "retry_policy.retry_on_status": `a list of at most ${MAX_STATUSES} HTTP statuses, such as [429, 503]`,
};

/** The error for the first issue. Unknown keys come first, since they explain missing ones. */
function toProblem(issues: readonly z.core.$ZodIssue[], input: unknown, base: string): ToolConfigError {
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const [key = ""] = issue.keys;
    return unknownKey(toPlace(issue.path, base), key, KEYS[issue.path.join(".")] ?? []);
  }
  const path = issues[0]?.path ?? [];
  if (path.length === 0) return wrongValue(base, "an object");
  const place = toPlace(path, base);
  return valueAt(input, path) === undefined && issues[0]?.code !== "invalid_key"
    ? missingKey(place, describeExpected(path))
    : wrongValue(place, describeExpected(path));
}

/** The path of a key in an issue: `sources[2].name`. */
export function toPlace(path: readonly PropertyKey[], base: string = ""): string {
  return path.reduce<string>((place, key) => below(place, typeof key === "number" ? key : String(key)), base);
}

/** The expected value of a key. For elements and for members with free names, that of the whole. */
function describeExpected(path: readonly PropertyKey[]): string {
  const words: Readonly<Record<string, string>> = WANTED;
  const [first = "", second = ""] = path.map(String);
  return words[`${first}.${second}`] ?? words[first] ?? "something else";
}

/** The value at a path, or undefined. */
export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}
