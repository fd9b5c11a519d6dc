/**
 * The context of one call: whose it is, who is asked, and who is told of it.
 * @module
 */
import type { ToolArtifacts } from "../artifacts/scoped.js";
import type { ArtifactScope } from "../artifacts/store.js";
import type { AnswerRef, Dialect } from "../core/types.js";
import type { JsonSchema, PromptMessage } from "./source-features.js";

/** Why a call waits for a person. */
export type PauseReason = "external_event" | "approval_required" | "await_input";

/**
 * What is asked of a person, as JSON. `pause_type` tells what it has: a user's consent, a form to fill in, a page to
 * open, or messages for a model to answer. A question of your own has what you give it, and no `pause_type`. Texts of a
 * source are untrusted; they have at most 4,000 characters and no invisible ones.
 */
export type PausePayload = Readonly<Record<string, unknown>> &
  (
    | {
        readonly pause_type: "oauth";
        readonly provider: string;
        readonly display_name: string;
        /** Where the user consents. */
        readonly auth_url: string;
        readonly scopes: readonly string[];
      }
    | {
        readonly pause_type: "elicitation";
        readonly message: string;
        /** A flat JSON Schema of the fields. */
        readonly schema: JsonSchema;
        readonly source: string;
        readonly tool: string;
      }
    | {
        readonly pause_type: "url";
        readonly message: string;
        /** The page: `https:`, or on this machine. */
        readonly url: string;
        readonly source: string;
        readonly tool: string;
      }
    | {
        readonly pause_type: "sampling";
        /** Bytes, and texts of more than 4,000 characters, are artifacts of the call's scope. */
        readonly messages: readonly PromptMessage[];
        /** Empty if there is none. */
        readonly system_prompt: string;
        /** Maximum tokens of the reply. */
        readonly max_tokens: number;
        /** Names of models, or parts of names, that the server would like best. */
        readonly model_hints: readonly string[];
        readonly source: string;
        readonly tool: string;
      }
    | { readonly pause_type?: undefined }
  );

/** Progress of a call. `total` is left out if the source does not report it. */
export interface ToolProgress {
  /** Progress so far, in the source's own units. */
  readonly progress: number;
  /** The end of the progress, in the same units. */
  readonly total?: number;
  /** What the source says it is doing. Untrusted. */
  readonly message?: string;
}

/** Tells the user of a call that the source has shown no progress for a while. */
export interface ToolWait {
  /** Seconds of silence. */
  readonly after_s: number;
  /** One or two sentences for people. */
  readonly message: string;
  /** Whether the call was given up. */
  readonly is_over: boolean;
}

/** The context of one call. A host without users can leave out everything. */
export interface ToolContext {
  /**
   * The user and the conversation. `tenant_id` and `user_id` choose the tokens; all fields own what the call stores,
   * so that another `trace_id` cannot find it.
   */
  readonly scope?: ArtifactScope;
  /**
   * Asks a person for something, and resolves when it is done. An error that it throws ends the call. If left out,
   * calls that need it are refused, and questions of the source are declined.
   *
   * @param reason `external_event` for consent and for a page to open, `await_input` for a question and for the reply of
   *   a model. Nothing asks for approval.
   * @param payload what is asked.
   * @returns for `await_input` an object of the fields, or for a model's reply `{ text, model }`, of which `model` is
   *   left out if a person wrote it; undefined or null if the person declines. For `external_event` nothing, or null if
   *   the person does not open the page.
   */
  readonly pause?: (reason: PauseReason, payload: PausePayload) => Promise<unknown>;
  /** Cancels the call, also at the source. */
  readonly signal?: AbortSignal;
  /** Called with progress that the source reports. */
  readonly onProgress?: (progress: ToolProgress) => void;
  /**
   * Called when the source has been silent for long, and when the call is given up. Starts over after progress.
   * Errors that it throws are ignored.
   */
  readonly onWait?: (wait: ToolWait) => void;
  /** Seconds of silence allowed for this call, 1 to 300, instead of the source's `timeout_s`. */
  readonly timeoutSeconds?: number;
  /** How the result of this call is written, instead of the source's `dialect`. Has no effect where that has none. */
  readonly dialect?: Dialect;
  /**
   * Whether small images of an MCP server stay in the result, for a model that sees them.
   * @defaultValue `false`
   */
  readonly showImages?: boolean;
}

/** A stored part of a result, for a transformer. */
export interface Segment {
  /** The reference. Its JSON does not contain the scope. */
  readonly ref: AnswerRef;
  /** Opens the bytes. Null if they were not stored or are gone. */
  open(): Promise<ReadableStream<Uint8Array> | null>;
}

/** What a transformer gets beside the document. */
export interface TransformerContext extends ToolContext {
  /** The stored parts that the document refers to. */
  readonly segments: readonly Segment[];
  /** Stores and reads further artifacts for the caller. */
  readonly artifacts: ToolArtifacts;
}
