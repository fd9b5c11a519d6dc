/**
 * The module that reads tools' contracts: compiled when it is first needed, replaced after a trap.
 * @module
 */
import createContractModule from "./contract.mjs";
import type { Contract, ContractModule } from "./contract.mjs";
import { instantiate, MAX_KEPT_MEMORY, trapped } from "./instance.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const KINDS = ["other", "contract", "invalid"] as const;

/** What a text is, and the JSON that says more of it: the contract, or the rule that it breaks. */
export interface RawReading {
  readonly kind: (typeof KINDS)[number];
  readonly json: string;
}

interface Instance {
  readonly module: ContractModule;
  readonly contract: Contract;
}

/** Reads texts with instances of one compiled module. */
export class ContractReader {
  readonly #compiled: WebAssembly.Module;
  #idle: Instance | undefined;

  constructor(compiled: WebAssembly.Module) {
    this.#compiled = compiled;
  }

  /** Reads JSON text. Throws E_CORE_TRAP when the module fails in a way that it should not. */
  async read(text: string): Promise<RawReading> {
    const bytes = encoder.encode(text);
    return this.use((contract) => {
      contract.input(bytes.length).set(bytes);
      const kind = KINDS[contract.read()];
      if (kind === undefined) throw new RangeError("the module gave no kind of reading");
      return { kind, json: decoder.decode(contract.output()) };
    });
  }

  /** Calls into an instance, which is then used again unless the call threw. Throws E_CORE_TRAP. */
  async use<T>(call: (contract: Contract) => T): Promise<T> {
    const instance = this.#idle ?? (await this.#make());
    this.#idle = undefined;
    try {
      const result = call(instance.contract);
      if (instance.module.HEAPU8.length <= MAX_KEPT_MEMORY) this.#idle = instance;
      return result;
    } catch (error) {
      throw trapped(error);
    }
  }

  async #make(): Promise<Instance> {
    const module = await instantiate(createContractModule, this.#compiled);
    return { module, contract: new module.Contract() };
  }
}
