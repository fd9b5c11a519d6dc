/**
 * Bytes on their way into a store, looked at by the core as they pass.
 * @module
 */
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import { createSluiceOver, type WasmSource } from "../core/create.js";
import type { FileLook, Sluice } from "../core/sluice.js";

/** Has a core look at each file, which is loaded for the first one. */
export function coreDescriber(wasm: WasmSource | undefined): () => Promise<FileLook> {
  let core: Promise<Sluice> | undefined;
  return async () => {
    core ??= createSluiceOver({ store: new NoOpArtifactStore(), onFailure: "throw" }, {}, wasm);
    return (await core).look();
  };
}
