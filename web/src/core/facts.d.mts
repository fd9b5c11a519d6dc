/**
 * The module that tells facts of files, as JavaScript sees it; `wasm/bindings/facts.cpp` is its other side. Views die when memory
 * grows.
 */
import type { CoreModuleOptions } from "./core.mjs";

/** A reader of files with its buffers. */
export interface Facts {
  /** Room for the evidence of a file, which the core writes. */
  input(size: number): Uint8Array;
  /** Describes the file. */
  tell(): void;
  /** Its description; empty where the input is no evidence. */
  output(): Uint8Array;
}

export interface FactsModule {
  readonly Facts: new () => Facts;
  readonly HEAPU8: Uint8Array;
}

export default function createFactsModule(options: CoreModuleOptions): Promise<FactsModule>;
