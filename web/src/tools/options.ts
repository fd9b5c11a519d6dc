/**
 * What a ToolNode is given beside its configuration.
 * @module
 */
import type { ArtifactStore } from "../artifacts/store.js";
import type { WasmSource } from "../core/create.js";
import type { Dialect, Sluice } from "../core/sluice.js";
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTests } from "../errors/options.js";
import type { McpClientIdentity } from "./auth/mcp-discovery.js";
import type { OAuthManager } from "./auth/oauth-manager.js";
import type { ToolNodeEvent } from "./event.js";
import { wrong } from "./problem.js";
import { ToolRegistry } from "./registry.js";
import type { UserFileHandling } from "./user-files/handling.js";
import { variablesOf, type Variables } from "./variables.js";

/** What a ToolNode is given beside its configuration; all of it may be left out. */
export interface ToolNodeOptions {
  /** The tools that it shares names with; one of its own when left out. */
  readonly registry?: ToolRegistry;
  /** Where artifacts go; without one nothing is kept, and observations say so. */
  readonly store?: ArtifactStore;
  /** A host's state store, which may bring an artifact store: asked for it where `store` is left out. */
  readonly stateStore?: unknown;
  /** Users' tokens, for `auth_type: "oauth2_user"`. */
  readonly authManager?: OAuthManager;
  /**
   * Who this program is to the providers of MCP servers that tell of theirs: with it a user's provider need not be
   * configured.
   */
  readonly oauthClient?: McpClientIdentity;
  /** Keeps users' files, for `user_files: true`: a `UserFiles` of `mcp-sluice/files`. */
  readonly userFiles?: UserFileHandling;
  /**
   * Values of `${VAR}`, by name or as an object of them. Given, they alone count; left out, those of the environment in Node,
   * and none elsewhere.
   */
  readonly variables?: Variables | Readonly<Record<string, string | undefined>>;
  /**
   * How results are written: `"observation"`, when left out, is what a model sees; `"mcp"` the reduced result, which no
   * guardrail shortens and `restore` undoes, for hosts that show both. Tools for resources and artifacts answer in
   * observations all the same. With an `output_transformer` it changes nothing.
   */
  readonly dialect?: Dialect;
  /** Told of what happens. What it throws is lost. */
  readonly onEvent?: (event: ToolNodeEvent) => void;
  /**
   * Given what an MCP server that is a program writes to its standard error, which is untrusted; thrown away when left out. A
   * command's stands in its result.
   */
  readonly onErrorOutput?: (chunk: Uint8Array) => void;
  /**
   * How HTTP is spoken to the source; that of the platform when left out. One that sets headers of its own keeps those it is
   * given.
   */
  readonly fetch?: typeof globalThis.fetch;
  /** Where the core is, when a bundler moved it. */
  readonly wasm?: WasmSource;
}

/** What sources are made of. */
export interface SourceParts extends Pick<ToolNodeOptions, "fetch" | "onErrorOutput"> {
  /** Says how a program is started for one user alone; left out where users share it. */
  readonly command?: UserFileHandling["command"];
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly variables: Variables;
}

/** What is not tested here is tested where it is used. */
const OPTIONS: OptionTests<ToolNodeOptions> = {
  registry: ["a ToolRegistry", (value) => value instanceof ToolRegistry],
  store: ANYTHING,
  stateStore: ANYTHING,
  authManager: OBJECT,
  oauthClient: OBJECT,
  userFiles: OBJECT,
  variables: ["a function or an object of texts", (value) => typeof value === "function" || OBJECT[1](value)],
  dialect: ['"observation" or "mcp"', (value) => value === "observation" || value === "mcp"],
  onEvent: FUNCTION,
  onErrorOutput: FUNCTION,
  fetch: FUNCTION,
  wasm: ANYTHING,
};

/** Throws a ToolNodeError E_TOOL_CONFIG that names the option that is wrong, or that there is not. */
export function checkToolNode(options: ToolNodeOptions): void {
  checkOptions(options, OPTIONS, "a ToolNode", (sentence) => wrong(sentence));
}

/** The variables that the options give; `others` where they give none. */
export function variablesIn({ variables }: ToolNodeOptions, others: Variables): Variables {
  if (variables === undefined) return others;
  return typeof variables === "function" ? variables : variablesOf(variables);
}
