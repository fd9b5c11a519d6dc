/**
 * The tool output contract of MCP 2.1 with user storage: found in what a tool answered, checked and normalised by the
 * core. Names are those of the specification.
 * @module
 */
import { compileCore } from "#compile";
import { wrong } from "./call.js";
import createContractModule from "./contract.mjs";
import type { Contract } from "./contract.mjs";
import { Engine, EnginePool, instantiate } from "./engine.js";
import type { ContractWasmSource, ToolContract } from "./tool-contract.js";

/** What a tool's answer is. */
export type ContractReading =
  | {
      /** It carries no contract: it is for the ordinary layers. */
      readonly kind: "other";
    }
  | {
      /** It follows the contract. */
      readonly kind: "contract";
      /** The contract, normalised: defaults are filled in, unknown members are gone. */
      readonly contract: ToolContract;
      /** The same as JSON text, in which numbers have all of their digits. */
      readonly text: string;
    }
  | {
      /** It has `results` and breaks a rule of the contract. */
      readonly kind: "invalid";
      /** Path of the field that breaks it, such as `artifacts[2].mime`. */
      readonly field: string;
      /** What the field must be, such as `must be a media type such as text/csv`. */
      readonly rule: string;
    };

const KINDS = ["other", "contract", "invalid"] as const;

/** Readers by what their module is compiled from: `OWN` stands for the library's own. */
const readers = new WeakMap<object, Promise<EnginePool<Contract>>>();
const OWN = {};

/**
 * Reads what a tool answered. `text` is JSON: of a CallToolResult, reduced to the mcp dialect or not, or of any other
 * value. The contract is `structuredContent` when that is an object with `results`; else the JSON in the text of the
 * only content block; else, where the value is no CallToolResult, the value itself. Text that is no JSON is `other`.
 *
 * `wasm` is needed where contract.wasm is not beside the library. Time and memory are linear in the text. Throws
 * E_INVALID_ARGUMENT for what is no string, E_CORE_LOAD, and E_CORE_TRAP when the reader fails in a way that it should
 * not; the next text is then read by a new one.
 */
export async function readContract(text: string, wasm?: ContractWasmSource): Promise<ContractReading> {
  if (typeof text !== "string") throw wrong("text", "JSON text");
  const pool = await readerFrom(wasm);
  const reader = await pool.take();
  try {
    const kind = KINDS[reader.put(text, (contract) => contract.read())];
    if (kind === "other") return { kind };
    const json = reader.ask(() => undefined);
    if (kind === "contract") return { kind, contract: JSON.parse(json) as ToolContract, text: json };
    return { kind: "invalid", ...(JSON.parse(json) as { field: string; rule: string }) };
  } finally {
    pool.release(reader);
  }
}

// After a failure it is tried again.
async function readerFrom(wasm: ContractWasmSource | undefined): Promise<EnginePool<Contract>> {
  const key = wasm ?? OWN;
  let reader = readers.get(key);
  if (reader === undefined) {
    reader = contractPool(wasm ?? new URL("./contract.wasm", import.meta.url));
    readers.set(key, reader);
    reader.catch(() => readers.delete(key));
  }
  return reader;
}

/** Readers of contracts, made from one compiled module. */
export async function contractPool(source: ContractWasmSource): Promise<EnginePool<Contract>> {
  // `BufferSource` is a word of the DOM's types, which users in Node may not have.
  const compiled = await compileCore(source as BufferSource | Response | URL);
  return new EnginePool(async () => {
    const module = await instantiate(createContractModule, compiled);
    return new Engine(module, new module.Contract());
  });
}
