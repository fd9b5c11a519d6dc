/**
 * Bytes on their way into a store, looked at by the core as they pass.
 * @module
 */
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import { createSluiceOver, type WasmSource } from "../core/create.js";
import type { Sluice } from "../core/sluice.js";
import { standIn } from "../artifacts/unstored.js";

/** What is found out of bytes. */
export interface Described {
  /** What kind of file they are. */
  readonly mime_type: string;
  /** In one line, as the core says it. */
  readonly description: string;
}

/** Looks at the bytes of one file; disposed of when that was stored, or failed to be. */
export interface Describer extends Disposable {
  /** The next of them; they are not kept. */
  push(bytes: Uint8Array): void;
  /** What they are, once all have passed. */
  finish(): Described;
}

/** Makes one for each file; a core has to be loaded for it. */
export type OpenDescriber = () => Promise<Describer>;

/** Has a core look, which is loaded for the first file. */
export function coreDescriber(wasm: WasmSource | undefined): OpenDescriber {
  let core: Promise<Sluice> | undefined;
  return async () => {
    core ??= createSluiceOver({ store: new NoOpArtifactStore(), standIn, onFailure: "throw" }, {}, wasm);
    return (await core).look();
  };
}
