/**
 * What goes wrong at a model's server, or on the way to it.
 * @module
 */
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import { ToolNodeError, type ErrorCategory, type ToolErrorCode } from "../../tools/errors.js";

/** The codes of this module's errors. */
export type LlmErrorCode = Extract<ErrorCode, "E_LLM" | `E_LLM_${string}`>;

/** What is known of an error beside its sentence. */
export interface LlmErrorDetails {
  /** `E_LLM` when left out. */
  readonly code?: LlmErrorCode;
  /** What to do about it; `unknown` when left out. */
  readonly category?: ErrorCategory;
  /** The HTTP status that came, if one came. */
  readonly status?: number;
  /** How long the server asks to be left alone. */
  readonly retryAfterSeconds?: number;
  /** Shown by whoever logs the error: it must hold no secret. */
  readonly cause?: unknown;
}

/** A model gave no answer. Told apart by `code`; `category` says what to do, as for tools. */
export class LlmError extends SluiceError {
  /** What to do about it. */
  readonly category: ErrorCategory;
  /** The HTTP status that came, if one came. */
  declare readonly status?: number;
  /** How long the server asks to be left alone, if it does. */
  declare readonly retryAfterSeconds?: number;

  constructor(message: string, details: LlmErrorDetails = {}) {
    const { code = "E_LLM", category = "unknown", status, retryAfterSeconds, cause } = details;
    super(code, message, {}, cause === undefined ? undefined : { cause });
    this.name = "LlmError";
    this.category = category;
    if (status !== undefined) this.status = status;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
  }
}

const CODES: Readonly<Partial<Record<ToolErrorCode, LlmErrorCode>>> = {
  E_TOOL_AUTH: "E_LLM_AUTH",
  E_TOOL_TIMEOUT: "E_LLM_TIMEOUT",
  E_TOOL_CONNECTION: "E_LLM_CONNECTION",
  E_TOOL_RATE_LIMIT: "E_LLM_RATE_LIMIT",
  E_TOOL_CLIENT: "E_LLM_REQUEST",
  E_TOOL_SERVER: "E_LLM_SERVER",
};

/** Requests to models and to tools' sources fail alike, and are tried again alike: only who failed is another. */
export function asLlmError(error: unknown): unknown {
  if (!(error instanceof ToolNodeError)) return error;
  const { message, code, category, status, retryAfterSeconds, cause } = error;
  return new LlmError(message, {
    code: CODES[code as ToolErrorCode] ?? "E_LLM",
    category,
    ...(status !== undefined && { status }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  });
}
