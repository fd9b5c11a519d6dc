/**
 * The interface between a ToolNode and the manager of users' files. Names become paths in arguments, and files become
 * names in results.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { AnswerRef, Transformed } from "../core/types.js";
import type { Display } from "../core/contract-types.js";
import type { SluiceError } from "../errors/error.js";
import type { JsonSchema } from "./source-features.js";
import { isObject } from "../errors/arguments.js";

/** A call of a tool that takes and makes users' files. */
export interface FileCall {
  /** The source's own name for the tool. */
  readonly tool: string;
  /** The source's name, which prefixes the ids of its artifacts. */
  readonly namespace: string;
  /** Whether the tool has an argument `username`. */
  readonly takesUsername: boolean;
  /** Whether the tool runs as a program on this machine. */
  readonly isProgram: boolean;
  /** The caller's scope. */
  readonly scope: ArtifactScope;
  /** Cancels the call. */
  readonly signal: AbortSignal;
  /** Called with what the call was refused, for the host's log. Must not throw. */
  readonly onRefused: (refusal: FileRefusal) => void;
}

/** A refusal of a tool or its caller. For logs, never for a model. */
export interface FileRefusal {
  /**
   * Where the file was named: in the `arguments`, in the `result`, or in a `write` that the sandbox denied, if the
   * result reports it.
   */
  readonly where: "arguments" | "result" | "write";
  /** The tool that was called: `{namespace}.{tool}`. */
  readonly tool: string;
  /** The caller. */
  readonly user_id: string;
  /** The caller's tenant, or null. */
  readonly tenant_id: string | null;
  /** The time, as ISO 8601. */
  readonly time: string;
  /** The path or name, without invisible characters, folders of this machine, and names of other users. */
  readonly refused: string;
  /** The reason: `E_INVALID_PATH`, `E_NOT_FOUND`, `E_FILE_TOO_LARGE`, `E_TOOL_CONTRACT` or `E_STORE_DENIED`. */
  readonly error: SluiceError;
  /** The refusal as one line for a log. */
  readonly message: string;
}

/** What happens to a call: it is made with other arguments, or answered without being made. */
export type FiledArguments =
  | {
      /** The tool is called. */
      readonly kind: "call";
      /** The arguments. */
      readonly args: Readonly<Record<string, unknown>>;
      /** Call this when the call is over. Until then, files stay at the paths that the tool was given. */
      readonly done?: () => void;
    }
  | {
      /** The tool is not called. */
      readonly kind: "answer";
      /** The answer for the model. */
      readonly value: ErrorResult;
    };

/** An error in place of a result. */
export interface ErrorResult {
  /** For people and models. */
  readonly results: {
    /** The message. */
    readonly error: string;
    /** The tool's own words, where the message is ours. */
    readonly said?: string;
  };
  /** For programs. */
  readonly meta_data: Readonly<Record<string, unknown>>;
}

/** Creates an error result, with keys in the specified order. */
export function errorResult(
  error: string,
  reason: string,
  error_code: string,
  details: Readonly<Record<string, unknown>>,
  retryable = false,
): ErrorResult {
  return { results: { error }, meta_data: { is_error: true, reason, error_code, details, retryable } };
}

/** A result whose files are stored. */
export interface FiledResult {
  /** What the model sees before the guardrail, as JSON text. */
  readonly text: string;
  /** The stored artifacts, in the order of the result. */
  readonly artifacts: readonly AnswerRef[];
  /** Ids of the call's artifacts that are files now. */
  readonly spent?: readonly string[];
  /** Errors of the store, and violations of the contract, for the host's log. */
  readonly failures: readonly SluiceError[];
  /** The tool did something that is not allowed. `text` says what. */
  readonly isError?: boolean;
  /** What a host's viewer should do. */
  readonly display?: ResultDisplay;
}

/** What the tool wants its viewer to do, and the files it refers to. */
export interface ResultDisplay extends Display {
  /** The files that can be opened. */
  readonly files: readonly DisplayedFile[];
}

/** A file of a result, for a viewer. */
export interface DisplayedFile {
  /** Its name in My Files, or within the result if it is temporary. */
  readonly name: string;
  /** The artifact's id. */
  readonly id: string;
  /** The best viewer: `image`, `pdf`, `html`, `code` or `data`. */
  readonly viewer?: string;
  /** Whether to open it at once. */
  readonly auto_open: boolean;
}

/** Adds users' files to prompts. Implemented by `UserFiles` of `mcp-sluice/files`. */
export interface UserFilePrompts {
  /** Returns the prompt with the files of the scope's user, in at most `maxChars` code points. */
  prompt(prompt: string, scope: ArtifactScope, options?: { readonly maxChars?: number }): Promise<string>;
}

/** Manages users' files. Implemented by `UserFiles` of `mcp-sluice/files`. */
export interface UserFileHandling {
  /** Replaces file names with paths, and fills in the user's name. */
  prepare(args: Readonly<Record<string, unknown>>, call: FileCall): Promise<FiledArguments>;
  /**
   * Stores the files of a result.
   *
   * @param reduced the result in the mcp dialect.
   * @param store where the call's own artifacts are.
   * @returns undefined for a result that does not follow the contract.
   */
  receive(reduced: Transformed, call: FileCall, store: ArtifactStore): Promise<FiledResult | undefined>;
  /**
   * Replaces paths in the user's folder with names in a tool's text or JSON. Reports a write that the sandbox denied
   * to the call's `onRefused`.
   */
  cleaned(said: string, call: FileCall): Promise<string>;
  /** Extends a store so that the user's own files are found in it, as if they came from the source. */
  within(store: ArtifactStore, namespace: string): ArtifactStore;
  /** The owner of a scope's files. Never throws. Users with the same owner may share processes. */
  ownerKey(scope: ArtifactScope): string;
  /** The command that starts a server for one user. Throws ToolAuthError if no user is named. */
  command(argv: readonly string[], scope: ArtifactScope): Promise<readonly string[]>;
}

/**
 * The argument for the user's name. It is always filled in by Sluice, never by a model. No other name is recognised.
 */
export const USERNAME: string = "username";

/** Whether a tool has that argument. */
export function takesUsername(schema: JsonSchema): boolean {
  const { properties } = schema;
  return isObject(properties) && Object.hasOwn(properties, USERNAME);
}

/** The schema without that argument, for models. */
export function withoutUsername(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema;
  if (!isObject(properties) || !takesUsername(schema)) return schema;
  const { [USERNAME]: _, ...others } = properties;
  if (!Array.isArray(required)) return { ...schema, properties: others };
  return { ...schema, properties: others, required: required.filter((name) => name !== USERNAME) };
}
