/**
 * Options of an interceptor, and what they make: its store, core and guards.
 * @module
 */
import { chooseStore, type StoreOption } from "../artifacts/chosen-store.js";
import { withRetention } from "../artifacts/retention/retaining-store.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { MAX_INLINE_SIZE } from "../config/schema.mjs";
import type { SluiceConfig } from "../config/types.js";
import { createSluiceOver, type WasmModules, type WasmSource } from "../core/sluice.js";
import { limitStoreTime } from "../core/store-access.js";
import { checkNamespace, wrong } from "../errors/arguments.js";
import { readToolName } from "./artifact-reader/definition.js";
import { DescriptionGuard, MIN_RUN } from "./description-guard.js";
import { findHost, HOST_WORDS, type HostProfile } from "./host-profiles.js";
import { readInterceptor, refuseAutoRead, withoutInterceptor } from "./interceptor-config.js";
import { type InterceptorEvent, ignoreErrors } from "./interceptor-event.js";
import { type InterceptorDeps, type LinkMode, McpInterceptor } from "./interceptor.js";
import type { SchemaMode } from "./schemas/schemas.js";
import { showImages } from "./shown-media.js";

/** Options for an interceptor. */
export interface InterceptorOptions {
  /** The artifact store. Without one nothing is stored, and results say so. */
  readonly store?: StoreOption;
  /** Configuration that overrides the defaults. */
  readonly config?: SluiceConfig;
  /**
   * The server's name: prefix of artifact ids and of the tools that read and edit them.
   * @defaultValue `"artifact"`
   */
  readonly namespace?: string;
  /** The owner of the artifacts. Defaults to no owner. */
  readonly scope?: ArtifactScope;
  /**
   * When to add `resource_link` blocks to results.
   * @defaultValue `"never"`
   */
  readonly links?: LinkMode;
  /**
   * Whether small images stay in place, for models that can see. They do for clients that are known to show them.
   * @defaultValue `false`
   */
  readonly showImages?: boolean;
  /**
   * The host that the client is part of, in a word of `docs/hosts.md` such as `openai-agents`.
   * @defaultValue what the client says of itself
   */
  readonly host?: string;
  /**
   * The server's name in the host's configuration, which hosts put in front of the names of its tools.
   * @defaultValue what the client says of it, if it does
   */
  readonly serverName?: string;
  /**
   * How tools' schemas are changed.
   * @defaultValue `"widen"`
   */
  readonly schemas?: SchemaMode;
  /** Called when something is stored, put into arguments, or fails. Exceptions it throws are ignored. */
  readonly onEvent?: (event: InterceptorEvent) => void;
  /** Location of the core, for bundlers that move it. */
  readonly wasm?: WasmSource | WasmModules;
}

/** The names of all options. */
export const INTERCEPTOR_OPTIONS: readonly (keyof InterceptorOptions)[] = [
  "config",
  "host",
  "links",
  "namespace",
  "onEvent",
  "schemas",
  "scope",
  "serverName",
  "showImages",
  "store",
  "wasm",
];

/** Creates an interceptor. Throws like {@link interceptorDeps}. */
export async function createInterceptor(options: InterceptorOptions): Promise<McpInterceptor> {
  refuseAutoRead(options.config);
  return new McpInterceptor({ ...(await interceptorDeps(options)), side: "client" });
}

/** Creates the dependencies of interceptors. Throws E_CORE_LOAD, E_CONFIG_…, E_INVALID_ARGUMENT. */
export async function interceptorDeps(options: InterceptorOptions): Promise<InterceptorDeps> {
  const { store, config } = withRetention(chooseStore(options.store, undefined), options.config);
  const { on_store_failure, arguments: forms, share } = readInterceptor(config);
  const longest = config?.max_inline_size ?? MAX_INLINE_SIZE;
  const onFailure = on_store_failure === "error" ? "throw" : "answer";
  return {
    sluice: await createSluiceOver(
      { store, onFailure, readTool: readToolName, show: showImages },
      withoutInterceptor(config),
      options.wasm,
    ),
    store: limitStoreTime(store),
    scope: options.scope ?? {},
    namespace: checkNamespace(options.namespace),
    forms,
    share,
    links: options.links ?? "never",
    showImages: options.showImages ?? false,
    schemas: options.schemas ?? "widen",
    hasOwnLimit: options.config?.max_inline_size !== undefined,
    descriptions: new DescriptionGuard(options.wasm),
    least: Math.min(MIN_RUN, longest, config?.binary_detection?.min_size_for_detection ?? MIN_RUN),
    longest,
    ...(options.host !== undefined && { host: requireHost(options.host) }),
    serverName: options.serverName,
    onEvent: ignoreErrors(options.onEvent),
  };
}

/** Throws E_INVALID_ARGUMENT for a word that the table does not have. */
function requireHost(word: string): HostProfile {
  const host = findHost(word);
  if (host === undefined) throw wrong("host", `one of ${HOST_WORDS.join(", ")}`);
  return host;
}
