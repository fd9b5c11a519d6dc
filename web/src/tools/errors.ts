/**
 * What goes wrong at a source of tools (ToolNode 2.1 §4): by class, by code and by category, never by the sentence.
 * @module
 */
import { SluiceError, type ErrorCode } from "../errors/error.js";

/** What to do about an error. */
export type ErrorCategory =
  | "retryable_server"
  | "retryable_rate"
  | "non_retryable"
  | "auth_required"
  | "network"
  | "cancelled"
  | "unknown";

/** The codes of this module's errors. */
export type ToolErrorCode = Extract<ErrorCode, "E_TOOL" | `E_TOOL_${string}`>;

/** What is known of an error beside its sentence. */
export interface ToolErrorDetails {
  /** The HTTP status that came, if one came. */
  readonly status?: number;
  /** Goes before the class's own category, and that before what the status says. */
  readonly category?: ErrorCategory;
  /** How long the source asks to be left alone. */
  readonly retryAfterSeconds?: number;
  /** The request did not leave: whatever it asks for was not done. */
  readonly neverSent?: boolean;
  /** The source says that there is no such resource. */
  readonly isNotFound?: boolean;
  /** Shown by whoever logs the error: it must hold no secret. */
  readonly cause?: unknown;
  /** Goes before the class's own code. */
  readonly code?: ToolErrorCode;
}

/** The shape that hosts store and send on (ToolNode 2.1 `to_dict`). */
export interface ToolErrorDict {
  /** The error's class, by name. */
  readonly type: string;
  /** What went wrong, for programs. */
  readonly code: ErrorCode;
  /** What went wrong, for people. */
  readonly message: string;
  /** The HTTP status that came; null where none came. */
  readonly status_code: number | null;
  /** What to do about it. */
  readonly category: ErrorCategory;
  /** Whether trying again later may help. */
  readonly is_retryable: boolean;
}

/** Something went wrong at a source of tools, or on the way to it. */
export class ToolNodeError extends SluiceError {
  /** What to do about it. */
  readonly category: ErrorCategory;
  /** The HTTP status that came, if one came. */
  declare readonly status?: number;
  /** How long the source asks to be left alone, if it does. */
  declare readonly retryAfterSeconds?: number;
  /** True when the request did not leave, so that trying again can do nothing twice. */
  declare readonly neverSent?: boolean;
  /** True when the source says that there is no such resource: servers answer 404. */
  declare readonly isNotFound?: boolean;

  constructor(message: string, details: ToolErrorDetails = {}) {
    const { status, category, retryAfterSeconds, neverSent, isNotFound, code = "E_TOOL" } = details;
    super(code, message, {}, "cause" in details ? { cause: details.cause } : undefined);
    this.name = "ToolNodeError";
    this.category = category ?? categoryOf(status);
    if (status !== undefined) this.status = status;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
    if (neverSent !== undefined) this.neverSent = neverSent;
    if (isNotFound !== undefined) this.isNotFound = isNotFound;
  }

  /**
   * Whether trying again later may help. Whether it does harm is another question: what was asked for may have been done all the
   * same. `side_effects` of a ToolSpec says whether its tool only looks.
   */
  get isRetryable(): boolean {
    return this.category === "retryable_server" || this.category === "retryable_rate" || this.category === "network";
  }

  /** The shape that hosts store and send on. */
  toDict(): ToolErrorDict {
    return {
      type: this.name,
      code: this.code,
      message: this.message,
      status_code: this.status ?? null,
      category: this.category,
      is_retryable: this.isRetryable,
    };
  }
}

/** The source wants to know who asks, or refuses who asks; or a variable has no value. */
export class ToolAuthError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_AUTH", category: "auth_required", ...details });
    this.name = "ToolAuthError";
  }
}

/** The source was silent for too long; what was asked for may be done all the same. */
export class ToolTimeoutError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_TIMEOUT", category: "retryable_server", ...details });
    this.name = "ToolTimeoutError";
  }
}

/** The source cannot be reached, the connection to it ended, or it is left alone since it keeps failing. */
export class ToolConnectionError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_CONNECTION", category: "network", ...details });
    this.name = "ToolConnectionError";
  }
}

/** The source wants fewer requests. */
export class ToolRateLimitError extends ToolNodeError {
  constructor(message: string, details: ToolErrorDetails = {}) {
    super(message, { code: "E_TOOL_RATE_LIMIT", category: "retryable_rate", ...details });
    this.name = "ToolRateLimitError";
  }
}

/** The request is refused as it is: by the source, or here, where arguments do not fit or there is no such tool. */
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

/** What a status says where nobody knows better (ToolNode 2.1 `_infer_category`). */
function categoryOf(status: number | undefined): ErrorCategory {
  if (status === undefined) return "unknown";
  if (status === 429) return "retryable_rate";
  if (status >= 500 && status <= 504) return "retryable_server";
  if (status === 401 || status === 403) return "auth_required";
  return status >= 400 && status < 500 ? "non_retryable" : "unknown";
}
