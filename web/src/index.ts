/**
 * Sluice for browsers, workers and Node: keeps the bytes of tool results out of a model's context.
 *
 * @example
 * ```ts
 * const sluice = await createSluice({ store: new MemoryArtifactStore() });
 * const { text, artifacts } = await sluice.transform(result, { tool: "download", namespace: "tableau" });
 * ```
 * @module
 */
import { NoOpArtifactStore } from "./artifacts/no-op.js";
import { createSluiceOver, type WasmSource } from "./core/create.js";
import type { Sluice, SluiceOptions } from "./core/sluice.js";

/**
 * Compiles the core once and gives a Sluice over a store. `wasm` says where the core is when a bundler moved it.
 * Throws E_CORE_LOAD, and E_CONFIG_… with the path of the key that is wrong.
 */
export async function createSluice(options: SluiceOptions & { readonly wasm?: WasmSource } = {}): Promise<Sluice> {
  return createSluiceOver(options.store ?? new NoOpArtifactStore(), options.config, options.wasm);
}

export { MemoryArtifactStore } from "./artifacts/memory.js";
export { NoOpArtifactStore } from "./artifacts/no-op.js";
export type {
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
} from "./artifacts/store.js";
export type { WasmSource } from "./core/create.js";
export type {
  Clamp,
  Dialect,
  Sluice,
  SluiceConfig,
  SluiceOptions,
  SluiceStream,
  Sniffed,
  Transformed,
  TransformOptions,
} from "./core/sluice.js";
export { SluiceError } from "./errors/error.js";
export type { ErrorCode, ErrorPlace } from "./errors/error.js";
