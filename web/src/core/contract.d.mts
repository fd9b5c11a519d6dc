/**
 * The module that reads contracts, as JavaScript sees it; `wasm/bindings/contract.cpp` is its other side. Views die when
 * memory grows.
 */
import type { CoreModuleOptions } from "./core.mjs";

/** A reader of contracts with its buffers. */
export interface Contract {
  /** Room for the text that is read, as UTF-8. */
  input(size: number): Uint8Array;
  /** Reads: 0 where there is no contract, 1 for one. */
  read(): number;
  /** The contract as JSON; after `dropped`, what was left out of it, or nothing. */
  output(): Uint8Array;
  /** Puts what was left out into `output`. */
  dropped(): void;
  /** Of Embind. The library does not call it: an instance is dropped with its memory. */
  delete(): void;
}

export interface ContractModule {
  readonly Contract: new () => Contract;
  readonly HEAPU8: Uint8Array;
}

export default function createContractModule(options: CoreModuleOptions): Promise<ContractModule>;
