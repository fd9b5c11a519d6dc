/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Sluice for browsers, workers and Node: keeps the bytes of tool results out of a model's context.
 *
 * @example
 * ```ts
 * const sluice = await createSluice({ store: "memory" });
 * const { text, artifacts } = await sluice.transform(result, { tool: "download", namespace: "tableau" });
 * ```
 * @module mcp-sluice
 */
import { createSluiceOver, type WasmModules, type WasmSource } from "./core/sluice.js";
import type { Sluice, SluiceOptions } from "./core/types.js";
import { chooseStore } from "./artifacts/chosen-store.js";
import { withRetention } from "./artifacts/retention/retaining-store.js";

import { checkOptionNames } from "./errors/arguments.js";
import { artifactTools } from "./mcp/artifact-tools.js";
import { withoutInterceptor } from "./mcp/interceptor-config.js";
import { showImages } from "./mcp/shown-media.js";

/**
 * Compiles the core once and gives a Sluice over a store. `wasm` says where the core is when a bundler moved it.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the option that is wrong, E_CONFIG_… with the path of the key that is wrong, and
 * E_CORE_LOAD if the core cannot be compiled.
 *
 * @example
 * const sluice = await createSluice({ store: "memory", config: { guardrail: { max_observation_chars: 20_000 } } });
 */
export async function createSluice(
  options: SluiceOptions & { readonly wasm?: WasmSource | WasmModules } = {},
): Promise<Sluice> {
  checkOptionNames(options, "createSluice", ["config", "onStoreFailure", "stateStore", "store", "wasm"]);
  const { store, config } = withRetention(chooseStore(options.store, options.stateStore), options.config);
  const { onStoreFailure: onFailure = "answer" } = options;
  const access = { store, onFailure, tools: artifactTools, show: showImages } as const;
  return createSluiceOver(access, withoutInterceptor(config), options.wasm);
}

export type { BasicArtifactStore } from "./artifacts/host-store.js";
export { discoverArtifactStore } from "./artifacts/host-store.js";
export { MemoryArtifactStore } from "./artifacts/memory.js";
export type { MemoryStoreOptions } from "./artifacts/memory.js";
export { NoOpArtifactStore } from "./artifacts/no-op.js";
export type { NoOpStoreOptions } from "./artifacts/no-op.js";
export { cleanNamespace } from "./artifacts/reference.js";
export { RetainingArtifactStore } from "./artifacts/retention/retaining-store.js";
export type { RetainingOptions } from "./artifacts/retention/retaining-store.js";
export { sameScope, scopeKey } from "./artifacts/scope.js";
export { ScopedArtifacts } from "./artifacts/scoped.js";
export type { UploadInfo } from "./artifacts/scoped.js";
export type {
  ArtifactFilter,
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  StoredArtifact,
} from "./artifacts/store.js";
export { TieredArtifactStore } from "./artifacts/tiered-store.js";
export type { TieredStoreOptions } from "./artifacts/tiered-store.js";
export type {
  BinaryDetectionConfig,
  GuardrailConfig,
  InlineMediaConfig,
  InterceptorConfig,
  ResourcesConfig,
  RetentionConfig,
  SluiceConfig,
  ToolFieldConfig,
} from "./config/types.js";
export { humanSize } from "./core/amounts.js";
export type {
  AnswerRef,
  ArtifactTool,
  ArtifactToolResult,
  ArtifactToolsOptions,
  CallToolResult,
  Clamp,
  ClampOptions,
  ContentBlock,
  Dialect,
  GatedResult,
  Sluice,
  SluiceOptions,
  SluiceStream,
  Sniffed,
  Transformed,
  TransformOptions,
} from "./core/types.js";
export { SluiceError } from "./errors/error.js";
export type { ErrorCode } from "./errors/error.js";
export { useOpenTelemetry } from "./telemetry/api.js";
export type { OpenTelemetryApi } from "./telemetry/api.js";
