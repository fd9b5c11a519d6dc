/**
 * What a host gives a ToolNode, and its checks.
 * @module
 */
import type { StoreOption } from "../artifacts/chosen-store.js";
import type { WasmModules, WasmSource } from "../core/sluice.js";
import type { Dialect } from "../core/types.js";
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTests } from "../errors/arguments.js";
import type { McpClientIdentity } from "./auth/mcp-discovery.js";
import type { OAuthManager } from "./auth/oauth-manager.js";
import { wrong } from "./errors.js";
import { ToolRegistry } from "./registry.js";
import type { UserFileHandling } from "./user-files.js";
import { type Variables, toVariables } from "./config/variables.js";
import type { ToolNodeEvent } from "./event.js";

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
  readonly wasm?: WasmSource | WasmModules;
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
};

/** Throws a ToolNodeError E_TOOL_CONFIG that names the wrong or unknown option. */
export function checkToolNode(options: ToolNodeOptions): void {
  checkOptions(options, OPTIONS, "a ToolNode", (sentence) => wrong(sentence));
}

/** The variables of the options, or `others` if there are none. */
export function variablesIn({ variables }: ToolNodeOptions, others: Variables): Variables {
  if (variables === undefined) return others;
  return typeof variables === "function" ? variables : toVariables(variables);
}
