/**
 * What a host gives a ToolNode and each call, and the events that it is told of.
 * @module
 */
import type { StoreOption } from "../artifacts/chosen-store.js";
import type { ToolArtifacts } from "../artifacts/scoped.js";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { WasmSource } from "../core/sluice.js";
import type { AnswerRef, Dialect, PdfAddresses, Sluice, Transformed } from "../core/types.js";
import type { SluiceError } from "../errors/error.js";
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTests } from "../errors/arguments.js";
import type { McpClientIdentity } from "./auth/mcp-discovery.js";
import type { OAuthManager } from "./auth/oauth-manager.js";
import { type ToolNodeError, wrong } from "./errors.js";
import type { PromptMessage } from "./prompts.js";
import { ToolRegistry } from "./registry.js";
import type { JsonSchema, LeftOutTool } from "./source.js";
import type { FileRefusal, ResultDisplay, UserFileHandling } from "./user-files.js";
import { type Variables, variablesOf } from "./config/variables.js";

/** Options of a ToolNode. All are optional. */
export interface ToolNodeOptions<D extends Dialect = Dialect> {
  /** The registry to share tool names with. Defaults to a new one. */
  readonly registry?: ToolRegistry;
  /** Where artifacts are stored. Without a store nothing is kept, and observations say so. */
  readonly store?: StoreOption;
  /** A host's state store. It is asked for an artifact store when `store` is not given. */
  readonly stateStore?: unknown;
  /** Holds users' tokens, for `auth_type: "oauth2_user"`. */
  readonly authManager?: OAuthManager;
  /**
   * How this program identifies itself to OAuth providers that an MCP server names. With it, those providers need no
   * configuration.
   */
  readonly oauthClient?: McpClientIdentity;
  /** Manages users' files, for `user_files: true`: a `UserFiles` of `mcp-sluice/files`. */
  readonly userFiles?: UserFileHandling;
  /** Values of `${VAR}`: a function or an object. Defaults to the environment in Node, and to nothing elsewhere. */
  readonly variables?: Variables | Readonly<Record<string, string | undefined>>;
  /**
   * How results are written. `"observation"` is what a model sees. `"mcp"` is the reduced result, which no guardrail
   * shortens and `restore` can undo, for hosts that show both. Tools for resources and artifacts always answer with
   * observations. Has no effect with an `output_transformer`.
   * @defaultValue `"observation"`
   */
  readonly dialect?: D;
  /**
   * Whether `pause` of a call also answers for a model (MCP, "Sampling"). Servers are told, and ask in the middle of a
   * call.
   * @defaultValue `false`
   */
  readonly sampling?: boolean;
  /** Called for every event. Errors that it throws are ignored. */
  readonly onEvent?: (event: ToolNodeEvent) => void;
  /**
   * Called with what an MCP server process writes to standard error, which is untrusted. The end of it is also in
   * `errorOutput` of errors. Standard error of commands is part of their results.
   */
  readonly onErrorOutput?: (chunk: Uint8Array) => void;
  /** The `fetch` to use. Defaults to the platform's. A wrapper that sets headers must keep the headers it is given. */
  readonly fetch?: typeof globalThis.fetch;
  /** Where the WASM core is, if a bundler moved it. */
  readonly wasm?: WasmSource;
  /** Where PDF.js is on a page. Without it PDFs are not read there. */
  readonly pdf?: PdfAddresses;
}

/** What a source is created with. */
export interface SourceParts extends Pick<ToolNodeOptions, "fetch" | "onErrorOutput" | "sampling"> {
  /** Returns the command that starts a program for a single user. Left out where users share programs. */
  readonly command?: UserFileHandling["command"];
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly variables: Variables;
  /** Values that errors must not contain. */
  readonly secrets: readonly string[];
}

/** Options that are `ANYTHING` here are checked where they are used. */
const OPTIONS: OptionTests<ToolNodeOptions> = {
  registry: ["a ToolRegistry", (value) => value instanceof ToolRegistry],
  store: ANYTHING,
  stateStore: ANYTHING,
  authManager: OBJECT,
  oauthClient: OBJECT,
  userFiles: OBJECT,
  variables: ["a function or an object of strings", (value) => typeof value === "function" || OBJECT[1](value)],
  dialect: ['"observation" or "mcp"', (value) => value === "observation" || value === "mcp"],
  sampling: ["true or false", (value) => typeof value === "boolean"],
  onEvent: FUNCTION,
  onErrorOutput: FUNCTION,
  fetch: FUNCTION,
  wasm: ANYTHING,
  pdf: ANYTHING,
};

/** Throws a ToolNodeError E_TOOL_CONFIG that names the wrong or unknown option. */
export function checkToolNode(options: ToolNodeOptions): void {
  checkOptions(options, OPTIONS, "a ToolNode", (sentence) => wrong(sentence));
}

/** The variables of the options, or `others` if there are none. */
export function variablesIn({ variables }: ToolNodeOptions, others: Variables): Variables {
  if (variables === undefined) return others;
  return typeof variables === "function" ? variables : variablesOf(variables);
}

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

/** An event at a source, for logs and for hosts that show it. Events never hold content or tokens. */
export type ToolNodeEvent =
  | {
      /** Binary or large parts of a result were stored. */
      readonly kind: "stored";
      /** The tool that gave the result: `{namespace}.{tool}`. */
      readonly tool: string;
      /** What was stored, or could not be. Each content once. */
      readonly artifacts: readonly AnswerRef[];
    }
  | {
      /** An artifact was put into the arguments of a call. */
      readonly kind: "expanded";
      /** The tool that was called: `{namespace}.{tool}`. */
      readonly tool: string;
      /** The artifact's id. */
      readonly id: string;
      /** The place: names and indexes joined by dots. */
      readonly path: string;
      /** The form it was written in. */
      readonly form: "base64" | "data_uri" | "text" | "path";
    }
  | {
      /** Something failed, but no answer was lost. */
      readonly kind: "failed";
      /** The tool that was called: `{namespace}.{tool}`. */
      readonly tool: string;
      /** The error of the store or the transformer. */
      readonly error: SluiceError;
    }
  | ({
      /** A call of a source with `user_files` named a file that it may not use or that does not exist. */
      readonly kind: "refused";
    } & FileRefusal)
  | {
      /** An attempt failed and will be repeated. */
      readonly kind: "retry";
      /** The error of the attempt. */
      readonly error: ToolNodeError;
      /** The number of the failed attempt, from 1. */
      readonly attempt: number;
      /** Seconds until the next attempt. */
      readonly wait_s: number;
    }
  | ({
      /** A call shows no progress. The call's own `onWait` is told too. */
      readonly kind: "waiting";
      /** The tool that was called: `{namespace}.{tool}`. */
      readonly tool: string;
      /** Identifies the call within this process. */
      readonly call: number;
      /** The context's scope. */
      readonly scope: ArtifactScope;
    } & ToolWait)
  | {
      /** The circuit breaker opened: the source keeps failing and is not called for a while. */
      readonly kind: "left_alone";
    }
  | {
      /** The source answers again. */
      readonly kind: "recovered";
    }
  | {
      /** The source's tools changed. `getTools` returns the current ones. */
      readonly kind: "tools_changed";
      /** The current names of the source's own tools: `{namespace}.{tool}`. */
      readonly names: readonly string[];
      /** Why the new tools could not be taken over. The old ones stay. */
      readonly error?: SluiceError;
    }
  | {
      /**
       * Tools that are not offered: their call templates are not allowed, their names are empty, longer than 256
       * characters or hold invisible characters, or their descriptions are malformed.
       */
      readonly kind: "left_out";
      /** The number of such tools. */
      readonly count: number;
      /** At most 20 of them. */
      readonly tools: readonly LeftOutTool[];
    }
  | {
      /** A resource, or the list of resources, changed. */
      readonly kind: "resource";
      /** Which of the two, and where. */
      readonly event: ResourceEvent;
    };

/** A resource, or the list of resources, changed. Cached copies are already gone. */
export type ResourceEvent = {
  /** The source's name. */
  readonly namespace: string;
  /** The user whose session was notified, where users have their own sessions. */
  readonly scope?: ArtifactScope;
} & (
  | {
      /** One resource changed. */
      readonly kind: "updated";
      /** The URI. */
      readonly uri: string;
    }
  | {
      /** The list of resources or templates changed. */
      readonly kind: "list_changed";
    }
);

/**
 * The result of a tool. `text` is the observation for the model (JSON), or the reduced result if the source's
 * `dialect` is `"mcp"`. `value` is the parsed text: a string, a number, null, an array or an object. With `"mcp"` it is
 * typed as a CallToolResult, which is what MCP servers answer. What other sources and transformers give, and what the
 * tools for resources and artifacts answer, keeps its own form.
 */
export interface ToolResult<D extends Dialect = Dialect> extends Transformed<D> {
  /** Whether the tool reports a failure. The text says which. */
  readonly isError: boolean;
  /** What a viewer should do with the files that the tool made, if the tool says so. Never for a model. */
  readonly display?: ResultDisplay;
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
