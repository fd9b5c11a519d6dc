/**
 * The tool output contract of MCP 2.1 with user storage: its types, and how it is found in what a tool answered, checked and
 * normalised by the core. Names are those of the specification.
 * @module
 */
import { compileCore } from "#compile";
import { wrong } from "../errors/arguments.js";
import createContractModule from "./contract.mjs";
import type { Contract } from "./contract.mjs";
import { Engine, EnginePool, instantiate } from "./engine.js";
import type { WasmSource } from "./sluice.js";

/**
 * An object of the tool's own (§1.1). Where it was too large to stand in a reduced answer it is a string instead: the
 * reference to it, `artifact://…?type=application/json&size=…`.
 */
export type ContractObject = Readonly<Record<string, unknown>> | string;

/** What a file is for (§6.1). */
export type FileCategory = "report" | "dataset" | "visualization" | "draft";

/** How a file is shown (§6.1). */
export type FileViewer = "image" | "pdf" | "html" | "code" | "data";

/** Why a file is not yet done (§7.1). */
export type DeferredReason = "needs_editing" | "draft" | "incomplete" | "awaiting_approval";

/** What a tool answers (§1.1). */
export interface ToolContract {
  /** The concise result for model and user; empty where the tool gave none, and `{ result }` of anything but an object. */
  readonly results: ContractObject;
  /** Small facts beside it: metrics, parameters, provenance. */
  readonly meta_data?: ContractObject;
  /** Whether the call may be made again. */
  readonly retryable?: boolean;
  /** The files that it made, at most 256; empty where there are none. */
  readonly artifacts: readonly ContractArtifact[];
  /** Files that are not yet done, at most 256; empty where there are none. */
  readonly deferred_artifacts: readonly DeferredArtifact[];
  /** How to show them; the defaults where the tool says nothing. */
  readonly display: Display;
}

/** A file that a tool made (§6.1). It has `b64` or `path`, never both. */
export interface ContractArtifact {
  /** As the tool calls it: 1 to 1,024 characters of any kind. */
  readonly name: string;
  /**
   * The bytes in base64, in the standard alphabet with padding; or, where the core diverted them, the reference to them,
   * which begins with `artifact://`. Whether the caller may read what it names is not checked here.
   */
  readonly b64?: string;
  /** The file on the server's machine: 1 to 4,096 characters, otherwise as the tool wrote it. */
  readonly path?: string;
  /** The media type: `type/subtype` in lower case, and its parameters; left out where the tool gave none. */
  readonly mime?: string;
  /** One line for people, at most 2,000 characters, none of them hidden. */
  readonly description?: string;
  /** How to show it. */
  readonly viewer?: FileViewer;
  /** What it is for. */
  readonly category?: FileCategory;
  /** Whether to show it at once. */
  readonly auto_open: boolean;
}

/** A file that is kept for later and not part of the answer (§7.1). It has `path` or `b64`, never both. */
export interface DeferredArtifact {
  /** As the tool calls it: 1 to 1,024 characters of any kind. */
  readonly name: string;
  /** The bytes, as of a {@link ContractArtifact}. */
  readonly b64?: string;
  /** The file on the server's machine: 1 to 4,096 characters, otherwise as the tool wrote it. */
  readonly path?: string;
  /** The media type: `type/subtype` in lower case, and its parameters; left out where the tool gave none. */
  readonly mime?: string;
  /** One line for people, at most 2,000 characters, none of them hidden. */
  readonly description?: string;
  /** Why it is deferred. */
  readonly reason?: DeferredReason;
  /** What the user may do next: 1 to 20 lines of at most 500 characters, none of them hidden. */
  readonly next_actions?: readonly string[];
  /** What it is for. */
  readonly category?: FileCategory;
  /** Hours until it is gone: 1 to 8,760. */
  readonly expires_hours: number;
}

/** How files are shown (§8.1). */
export interface Display {
  /** Whether to open the canvas at once. */
  readonly open_canvas: boolean;
  /** The name of the file to show first: one of `artifacts` or `deferred_artifacts`. */
  readonly primary_file?: string;
  /** How it is laid out beside what is shown already. */
  readonly mode?: "replace" | "append" | "split";
  /** What becomes of the files. */
  readonly storage_action: "store" | "store_and_open" | "temporary";
  /** What files without a category are for. */
  readonly category_hint?: FileCategory;
  /** One line to show when the files are stored, at most 500 characters, none of them hidden. */
  readonly notification?: string;
}

/** What the reader of contracts is compiled from, where it is not the file beside the library: contract.wasm. */
export type ContractWasmSource = WasmSource;

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
 * E_INVALID_ARGUMENT for what is no string, E_CORE_LOAD, and E_CORE_TRAP when the reader fails in a way that it should
 * not; the next text is then read by a new one.
 */
export async function readContract(text: string, wasm?: ContractWasmSource): Promise<ContractReading> {
  if (typeof text !== "string") throw wrong("text", "JSON text");
  const pool = await readerFrom(wasm);
  const reader = await pool.take();
  try {
    reader.give(text);
    if (reader.call("read") === 0) return { kind: "other" };
    const json = reader.text();
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
  // `BufferSource` is a word of the DOM's types, which users in Node may not have.
  const compiled = await compileCore(source as BufferSource | Response | URL);
  return new EnginePool(async () => {
    const module = await instantiate(createContractModule, compiled);
    return new Engine(module, new module.Contract());
  });
}
