/**
 * Finds the tool output contract in what a tool answered, and has the core check and normalise it. What a contract is made of
 * is in `contract-types.ts`.
 * @module
 */
import { wrong } from "../errors/arguments.js";
import createContractModule from "./contract.mjs";
import type { Contract } from "./contract.mjs";
import { compileSource, Engine, EnginePool } from "./engine.js";
import { instantiate } from "./instantiate.js";
import type { ToolContract, ContractWasmSource } from "./contract-types.js";

/** A field of a result that was left out, or changed, and why. */
export interface DroppedField {
  /** Its path, such as `artifacts[2].mime`. */
  readonly field: string;
  /** The rule, such as `must be a media type such as text/csv`. */
  readonly rule: string;
}

/** What a tool's answer is. */
export type ContractReading =
  | {
      /** It carries no contract: it is for the ordinary layers. */
      readonly kind: "other";
    }
  | {
      /** It is a contract. */
      readonly kind: "contract";
      /** The contract, normalised: defaults are filled in, what breaks a rule is gone. */
      readonly contract: ToolContract;
      /** The same as JSON text, in which numbers have all of their digits. */
      readonly text: string;
      /** What of it was left out: the first 16 fields. */
      readonly dropped: readonly DroppedField[];
      /** How many fields were. */
      readonly droppedCount: number;
    };

/** What the module says of what was left out. */
interface Dropped {
  readonly count: number;
  readonly fields: readonly DroppedField[];
}

const NONE = '{"count":0,"fields":[]}';

/** Readers by what their module is compiled from: `OWN` stands for the library's own. */
const readers = new WeakMap<object, Promise<EnginePool<Contract>>>();
const OWN = {};

/**
 * Reads what a tool answered. `text` is JSON: of a CallToolResult, reduced to the mcp dialect or not, or of any other
 * value. The contract is `structuredContent` when that is one; else the JSON in the text of the only content block; else, where
 * the value is no CallToolResult, the value itself. Text that is no JSON is `other`.
 *
 * An object is a contract when `artifacts` or `deferred_artifacts` lists an object with a `name`, and `b64` or an absolute
 * `path`; or when it has no members but those of a contract, and `results` is an object or such a list has any path. A field
 * that breaks a rule is left out alone; a file without a usable name or content is left out, and the others stay.
 *
 * `wasm` is needed where contract.wasm is not beside the library. Time and memory are linear in the text. Throws
 * E_INVALID_ARGUMENT for anything but a string, E_CORE_LOAD, and E_CORE_TRAP when the reader fails in a way that it should
 * not; the next text is then read by a new one.
 */
export async function readContract(text: string, wasm?: ContractWasmSource): Promise<ContractReading> {
  if (typeof text !== "string") throw wrong("text", "JSON text");
  const pool = await readerFrom(wasm);
  const reader = await pool.take();
  try {
    reader.give(text);
    if (reader.call("read") === 0) return { kind: "other" };
    const json = reader.ask("output");
    const told = reader.ask("dropped");
    const { fields: dropped, count: droppedCount } = JSON.parse(told === "" ? NONE : told) as Dropped;
    return { kind: "contract", contract: JSON.parse(json) as ToolContract, text: json, dropped, droppedCount };
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
  const compiled = await compileSource(source);
  return new EnginePool(async () => {
    const module = await instantiate(createContractModule, compiled, "Contract");
    return new Engine(module, new module.Contract());
  });
}
