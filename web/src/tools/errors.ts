/**
 * Errors of sources of tools. Tell them apart by class, code and category, never by the sentence.
 * @module
 */
import { type ErrorCode, SluiceError } from "../errors/error.js";
import { nearest } from "../errors/arguments.js";

/** What a caller can do about an error. */
export type ErrorCategory =
  | "retryable_server"
  | "retryable_rate"
  | "non_retryable"
  | "auth_required"
  | "network"
  | "cancelled"
  | "unknown";

/** The codes of these errors. */
export type ToolErrorCode = Extract<ErrorCode, "E_TOOL" | `E_TOOL_${string}`>;

/** Details of an error. */
export interface ToolErrorDetails {
  /** The HTTP status, if there is one. */
  readonly status?: number;
  /** Overrides the category of the class, which overrides that of the status. */
  readonly category?: ErrorCategory;
  /** Seconds after which the source may be called again. */
  readonly retryAfterSeconds?: number;
  /** The request was never sent, so it had no effect. */
  readonly neverSent?: boolean;
  /** The source says that the resource does not exist. */
  readonly isNotFound?: boolean;
  /** The cause, which loggers print. Must not hold secrets. */
  readonly cause?: unknown;
  /** Overrides the code of the class. */
  readonly code?: ToolErrorCode;
  /** The code of the JSON-RPC error that an MCP server answered with. */
  readonly rpcCode?: number;
}

/** An error as JSON, for hosts that store or send it. */
interface ToolErrorJson extends ReturnType<SluiceError["toJSON"]> {
  /** The name of the error's class. */
  readonly type: string;
  /** What went wrong, for programs. */
  readonly code: ToolErrorCode;
  /** The HTTP status, or null. */
  readonly status_code: number | null;
  /** What a caller can do about it. */
  readonly category: ErrorCategory;
  /** Whether trying again later may help. */
  readonly is_retryable: boolean;
}

/** An error of a source of tools, or of the connection to it. */
export class ToolNodeError extends SluiceError {
  /** Which error it is; part of the interface. */
  declare readonly code: ToolErrorCode;
  /** What a caller can do about it. */
  readonly category: ErrorCategory;
  /** The HTTP status, if there is one. */
  declare readonly status?: number;
  /** Seconds after which the source may be called again, if it says so. */
  declare readonly retryAfterSeconds?: number;
  /** True if the request was never sent, so that repeating it cannot have its effect twice. */
  declare readonly neverSent?: boolean;
  /** True if the source says that the resource does not exist. Servers answer 404. */
  declare readonly isNotFound?: boolean;
  /** The code of the JSON-RPC error, if an MCP server answered with one. */
  declare readonly rpcCode?: number;
  /**
   * The end of what an MCP server process wrote to standard error, if it exited, could not be connected to, or did
   * not answer: at most 20 lines and 4,096 characters, without the values of `env` and `auth_config`. Untrusted and
   * for the host only: neither the message nor `toJSON()` contains it, and it is not enumerable.
   */
  declare readonly errorOutput?: string;

  constructor(message: string, details: ToolErrorDetails = {}) {
    const { status, category, retryAfterSeconds, neverSent, isNotFound, rpcCode, code = "E_TOOL" } = details;
    super(code, message, {}, "cause" in details ? { cause: details.cause } : undefined);
    this.name = "ToolNodeError";
    this.category = category ?? toCategory(status);
    if (status !== undefined) this.status = status;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
    if (neverSent !== undefined) this.neverSent = neverSent;
    if (isNotFound !== undefined) this.isNotFound = isNotFound;
    if (rpcCode !== undefined) this.rpcCode = rpcCode;
  }

  /**
   * Whether trying again later may help. The first attempt may have had its effect nevertheless; `side_effects` of a
   * ToolSpec says whether a tool only reads.
   */
  get isRetryable(): boolean {
    return this.category === "retryable_server" || this.category === "retryable_rate" || this.category === "network";
  }

  /** The error as JSON, to store or to send on. */
  override toJSON(): ToolErrorJson {
    return {
      type: this.name,
      ...super.toJSON(),
      code: this.code,
      status_code: this.status ?? null,
      category: this.category,
      is_retryable: this.isRetryable,
    };
  }
}

/** Adds standard error to an error that says that a program exited or is silent. Leaves other errors unchanged. */
export function noteErrorOutput(error: unknown, output: string): void {
  const isOfProgram = error instanceof ToolConnectionError || error instanceof ToolTimeoutError;
  if (isOfProgram && output !== "" && error.errorOutput === undefined) {
    Object.defineProperty(error, "errorOutput", { value: output });
  }
}

/** The source rejects the credentials or needs some, or a variable has no value. */
export class ToolAuthError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_AUTH", category: "auth_required", ...details });
    this.name = "ToolAuthError";
  }
}

/**
 * The source was silent for too long while it was connected to or asked for a resource, or it reports a timeout
 * itself. A tool call that times out is a result instead.
 */
export class ToolTimeoutError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_TIMEOUT", category: "retryable_server", ...details });
    this.name = "ToolTimeoutError";
  }
}

/** The source cannot be reached, closed the connection, or is not called because it keeps failing. */
export class ToolConnectionError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_CONNECTION", category: "network", ...details });
    this.name = "ToolConnectionError";
  }
}

/**
 * The server does not know the session of a request, so it did nothing. The request is repeated once, in a new
 * session. Hosts see a ToolConnectionError.
 */
export class LostSession extends ToolConnectionError {}

/** The source asks for fewer requests. */
export class ToolRateLimitError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_RATE_LIMIT", category: "retryable_rate", ...details });
    this.name = "ToolRateLimitError";
  }
}

/** The request is wrong: the source refuses it, the arguments do not fit, or there is no such tool. */
export class ToolClientError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_CLIENT", category: "non_retryable", ...details });
    this.name = "ToolClientError";
  }
}

/** The source failed. */
export class ToolServerError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_SERVER", category: "retryable_server", ...details });
    this.name = "ToolServerError";
  }
}

/** The category of an HTTP status. */
function toCategory(status: number | undefined): ErrorCategory {
  if (status === undefined) return "unknown";
  if (status === 429) return "retryable_rate";
  if (status >= 500 && status <= 504) return "retryable_server";
  if (status === 401 || status === 403) return "auth_required";
  return status >= 400 && status < 500 ? "non_retryable" : "unknown";
}

/** Maximum characters of a key in a message. */
const MAX_KEY = 64;

/** A configuration that cannot be used. `path` is the key, such as `sources[2].retry_policy.max_attempts`. */
export class ToolConfigError extends ToolNodeError {
  /** The wrong key. Empty for the configuration as a whole. */
  override readonly path: string;

  constructor(path: string, message: string, code: ToolErrorCode = "E_TOOL_CONFIG") {
    super(message, { code, category: "non_retryable" });
    this.name = "ToolConfigError";
    this.path = path;
  }
}

/** A value is wrong. `wanted` completes "must be". */
export function wrongValue(path: string, wanted: string): ToolConfigError {
  return new ToolConfigError(path, `${keyNamed(path)} must be ${wanted}.`);
}

/** A key is missing. `wanted` completes "must be". */
export function missingKey(path: string, wanted: string): ToolConfigError {
  return new ToolConfigError(path, `${keyNamed(path)} is missing: it must be ${wanted}.`);
}

/** A key is unknown. Suggests the nearest key, or lists them all. */
export function unknownKey(
  parent: string,
  key: string,
  known: readonly string[],
  what = "a configuration key",
): ToolConfigError {
  const path = below(parent, key);
  const meant = nearest(key.slice(0, MAX_KEY).toLowerCase().replaceAll("-", "_"), known);
  const all = known.length === 1 ? `the only key is "${known[0]}"` : `the keys are ${known.join(", ")}`;
  const remedy = meant === undefined ? all : `did you mean ${meant}?`;
  return new ToolConfigError(path, `${keyNamed(path)} is not ${what}; ${remedy}`);
}

/** The path of a member or an element, such as `sources[2].env`. */
export function below(parent: string, key: string | number): string {
  if (typeof key === "number") return `${parent}[${key}]`;
  const shown = Array.from(key.slice(0, 2 * MAX_KEY))
    .slice(0, MAX_KEY)
    .join("");
  return parent === "" ? shown : `${parent}.${shown}`;
}

function keyNamed(path: string): string {
  return path === "" ? "The configuration" : JSON.stringify(path);
}

/** A configuration, or a document that it names, cannot be used. */
export function wrong(message: string): ToolNodeError {
  return new ToolNodeError(message, { code: "E_TOOL_CONFIG", category: "non_retryable" });
}

/** Sluice does not support something. */
export function toUnsupportedError(message: string): ToolNodeError {
  return new ToolNodeError(message, { code: "E_TOOL_UNSUPPORTED", category: "non_retryable" });
}

/** The error of calls to a source that was closed. */
export function wasClosed(source: string): ToolNodeError {
  return new ToolNodeError(`The source ${source} was closed: connect it again.`, { category: "non_retryable" });
}

/** Where an error happened: a source, and the tool that was called. */
export interface ToolPlace {
  /** The source's name in the configuration, or the model's. */
  readonly source: string;
  /** The source's own name for the tool. */
  readonly tool?: string;
  /** What kind of thing `source` names. Defaults to `"source"`. */
  readonly kind?: "source" | "model";
}

/** The subject of a message: `The tool "search" of the source "github"`. */
export function toSubject({ source, tool, kind }: ToolPlace): string {
  if (kind === "model") return `The model ${quoteName(source)}`;
  return tool === undefined
    ? `The source ${quoteName(source)}`
    : `The tool ${quoteName(tool)} of the source ${quoteName(source)}`;
}

/** The error for an answer that a repetition would not mend. `what` continues the subject. */
export function badAnswer(
  place: ToolPlace,
  what: string,
  remedy: string = "see the source's own log",
): ToolServerError {
  return new ToolServerError(`${toSubject(place)} ${what}: ${remedy}.`, { category: "non_retryable" });
}

/** What to do about a rejected caller, a rejected request, too many requests, and a timeout. */
interface Remedies {
  readonly unknown: string;
  readonly refused: string;
  readonly fewer: string;
  readonly moreTime: string;
}

const OF_SOURCES: Remedies = {
  unknown: "check auth_type and auth_config, or connect the account again",
  refused: "check the arguments, and the address of the source",
  fewer: "allow fewer calls at a time (max_concurrency)",
  moreTime: "allow it more time (timeout_s)",
};

const OF_MODELS: Remedies = {
  unknown: "check its API key",
  refused: "check its name and its address, and whether the conversation fits",
  fewer: "allow fewer requests at a time (resilience.max_concurrency)",
  moreTime: "allow it more time (resilience.timeout_s)",
};

/** The remedies by the options that exist for a source or a model. */
export function toRemedies({ kind }: ToolPlace): Remedies {
  return kind === "model" ? OF_MODELS : OF_SOURCES;
}

const LONGEST_NAME = 64;

/** A name, quoted for a message. */
export function quoteName(name: string): string {
  return JSON.stringify(toSafeName(name));
}

/**
 * A name as it can be logged: short, without invisible or direction-changing characters. Sources choose the names of
 * their tools.
 */
export function toSafeName(name: string): string {
  const shown = name.slice(0, LONGEST_NAME).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
  return name.length > LONGEST_NAME ? `${shown}…` : shown;
}
