/**
 * Errors are part of the interface: a code, a sentence that names the remedy, a place where there is one.
 * @module
 */

/** Every code that Sluice throws or prints. */
export type ErrorCode =
  | "E_JSON_SYNTAX"
  | "E_JSON_DEPTH"
  | "E_JSON_NUMBER"
  | "E_JSON_END"
  | "E_TOO_LARGE"
  | "E_CONFIG_JSON"
  | "E_CONFIG_KEY"
  | "E_CONFIG_VALUE"
  | "E_RESTORE_REFS"
  | "E_NOT_RESTORABLE"
  | "E_MISUSE"
  | "E_CORE_LOAD"
  | "E_CORE_TRAP"
  | "E_STORE_READ"
  | "E_STORE_WRITE"
  | "E_STORE_FULL"
  | "E_STORE_DENIED"
  | "E_STORE_CORRUPT"
  | "E_STORE_CLOSED"
  | "E_NOT_FOUND"
  | "E_EXPIRED"
  | "E_INVALID_ARGUMENT"
  | "E_INVALID_PATH"
  | "E_FILE_TOO_LARGE"
  | "E_SESSION"
  | "E_FORBIDDEN"
  | "E_RATE_LIMIT"
  | "E_INTERNAL"
  | "E_CANCELLED"
  | "E_USAGE"
  | "E_TOOL"
  | "E_TOOL_AUTH"
  | "E_TOOL_TIMEOUT"
  | "E_TOOL_CONNECTION"
  | "E_TOOL_RATE_LIMIT"
  | "E_TOOL_CLIENT"
  | "E_TOOL_SERVER"
  | "E_TOOL_UNSUPPORTED"
  | "E_TOOL_CONFIG"
  | "E_TOOL_CONTRACT"
  | "E_LLM"
  | "E_LLM_AUTH"
  | "E_LLM_TIMEOUT"
  | "E_LLM_CONNECTION"
  | "E_LLM_RATE_LIMIT"
  | "E_LLM_REQUEST"
  | "E_LLM_SERVER"
  | "E_PLANNER_TIME"
  | "E_DOCUMENT";

/** Where an error is, if it is somewhere. */
interface ErrorPlace {
  /** From 1. */
  readonly line?: number;
  /** From 1, in code points. */
  readonly column?: number;
  /** A configuration key or a JSON pointer. */
  readonly path?: string;
}

/** What Sluice throws. Match by `code`, never by message. */
export class SluiceError extends Error {
  /** Which error it is; part of the interface. */
  readonly code: ErrorCode;
  /** From 1, where the error is in a text. */
  declare readonly line?: number;
  /** From 1, in code points. */
  declare readonly column?: number;
  /** A configuration key or a JSON pointer. */
  declare readonly path?: string;

  // What is declared only is no property until it has a value: logs show all properties.
  constructor(code: ErrorCode, message: string, place: ErrorPlace = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = "SluiceError";
    this.code = code;
    if (place.line !== undefined) this.line = place.line;
    if (place.column !== undefined) this.column = place.column;
    if (place.path !== undefined) this.path = place.path;
  }

  /** The shape the command line prints. */
  toJSON(): {
    /** Which error it is. */
    code: ErrorCode;
    /** The sentence. */
    message: string;
  } & ErrorPlace {
    const { code, message, line, column, path } = this;
    return {
      code,
      message,
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
      ...(path !== undefined && { path }),
    };
  }
}
