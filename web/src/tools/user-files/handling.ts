/**
 * What a ToolNode asks of whoever keeps users' files: names become files on the way in, files become names on the way out.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../../artifacts/store.js";
import type { AnswerRef, Transformed } from "../../core/sluice.js";
import type { Display } from "../../core/tool-contract.js";
import type { SluiceError } from "../../errors/error.js";
import type { JsonSchema } from "../source.js";

/** A call of a tool that takes and makes users' files. */
export interface FileCall {
  /** The source's own name of the tool. */
  readonly tool: string;
  /** The source's name: the prefix of the ids of its artifacts. */
  readonly namespace: string;
  /** Whether the tool takes an argument `username`. */
  readonly takesUsername: boolean;
  /** Whose the call is. */
  readonly scope: ArtifactScope;
  /** Gives the call up. */
  readonly signal: AbortSignal;
}

/** What becomes of a call's arguments: they are others now, or the call is answered without being made. */
export type FiledArguments =
  | {
      /** The tool is called. */
      readonly kind: "call";
      /** With these. */
      readonly args: Readonly<Record<string, unknown>>;
      /** Called when the call is over, whatever came of it: until then files stay where the tool was told that they are. */
      readonly done?: () => void;
    }
  | {
      /** It is not. */
      readonly kind: "answer";
      /** What the model is told instead. */
      readonly value: ErrorResult;
    };

/** What a model is told in place of a result (user storage §12). */
export interface ErrorResult {
  /** For people and models. */
  readonly results: {
    /** The sentence. */
    readonly error: string;
  };
  /** The same for programs. */
  readonly meta_data: Readonly<Record<string, unknown>>;
}

/** Such a value, its keys in the order of the specification. */
export function errorResult(
  error: string,
  reason: string,
  error_code: string,
  details: Readonly<Record<string, unknown>>,
  retryable = false,
): ErrorResult {
  return { results: { error }, meta_data: { is_error: true, reason, error_code, details, retryable } };
}

/** A tool's result as it is told once its files are stored. */
export interface FiledResult {
  /** JSON text of what the model sees, before the guardrail. */
  readonly text: string;
  /** What was stored, in the order of the result. */
  readonly artifacts: readonly AnswerRef[];
  /** Ids of artifacts of the call whose bytes are files now. */
  readonly spent?: readonly string[];
  /** What the store failed at, or what was refused: for the host's log. */
  readonly failures: readonly SluiceError[];
  /** The tool did what it may not: `text` says what. */
  readonly isError?: boolean;
  /** What a host with a viewer does. */
  readonly display?: ResultDisplay;
}

/** A result that follows the contract but for something. */
export interface NearContract {
  /** Names the field and the rule; for the tool's author, by way of the host's log. */
  readonly problem: SluiceError;
}

/** What a tool would have its viewer do (user storage §8), with the files that it speaks of. */
export interface ResultDisplay extends Display {
  /** What can be opened, by its name. */
  readonly files: readonly DisplayedFile[];
}

/** A file of a result, for a viewer. */
export interface DisplayedFile {
  /** In My Files, or of the result alone where it is temporary. */
  readonly name: string;
  /** The artifact. */
  readonly id: string;
  /** How it is best looked at: `image`, `pdf`, `html`, `code` or `data`. */
  readonly viewer?: string;
  /** Whether it is to be opened at once. */
  readonly auto_open: boolean;
}

/** Tells a model of a user's files: `UserFiles` of `mcp-sluice/files` does. */
export interface UserFilePrompts {
  /** The prompt with the files of whoever the scope names, in so many code points at most. */
  prompt(prompt: string, scope: ArtifactScope, options?: { readonly maxChars?: number }): Promise<string>;
}

/** Keeps users' files: `UserFiles` of `mcp-sluice/files` does. */
export interface UserFileHandling {
  /** Puts files in the place of their names, and says who asks. */
  prepare(args: Readonly<Record<string, unknown>>, call: FileCall): Promise<FiledArguments>;
  /**
   * Stores the files of a result.
   *
   * @param reduced the result in the mcp dialect.
   * @param store where the call's own artifacts are.
   * @returns undefined for a result that does not follow the contract, which ordinary layers answer for; `problem` says
   * why, where it nearly does.
   */
  receive(reduced: Transformed, call: FileCall, store: ArtifactStore): Promise<FiledResult | NearContract | undefined>;
  /** The same store, in which a user's own files are found too, as if they came from the source. */
  within(store: ArtifactStore, namespace: string): ArtifactStore;
  /** Names the owner of the files of a scope: those who may share one process have one name. Throws nothing, also for nobody. */
  ownerKey(scope: ArtifactScope): string;
  /** The command that starts a server for one user alone. Throws ToolAuthError where that needs a user, and none is named. */
  command(argv: readonly string[], scope: ArtifactScope): Promise<readonly string[]>;
}

/**
 * The argument that says who asks, which is not for a model to say (user storage §3.1, §9.2); no other name is looked for.
 */
export const USERNAME: string = "username";

/** Whether a tool takes it. */
export function takesUsername(schema: JsonSchema): boolean {
  const { properties } = schema;
  return isObject(properties) && Object.hasOwn(properties, USERNAME);
}

/** The schema as a model sees it: an argument that is always overwritten is none to fill in. */
export function withoutUsername(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema;
  if (!isObject(properties) || !takesUsername(schema)) return schema;
  const { [USERNAME]: _, ...others } = properties;
  if (!Array.isArray(required)) return { ...schema, properties: others };
  return { ...schema, properties: others, required: required.filter((name) => name !== USERNAME) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
