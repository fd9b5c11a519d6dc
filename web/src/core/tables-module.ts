/**
 * The compiled module that answers questions, loaded when the first one is asked.
 * @module
 */
import { compileSource, type WasmSource } from "./engine.js";
import { SluiceError } from "../errors/error.js";

let compiled: { readonly source: WasmSource | undefined; readonly module: Promise<WebAssembly.Module> } | undefined;

/** Compiles the module that was handed in, or the one beside the library, once. Throws E_CORE_LOAD. */
export async function loadTables(source: WasmSource | undefined): Promise<WebAssembly.Module> {
  if (compiled === undefined || compiled.source !== source) compiled = { source, module: compile(source) };
  const { module } = compiled;
  try {
    return await module;
  } catch (cause) {
    if (compiled.module === module) compiled = undefined;
    throw new SluiceError(
      "E_CORE_LOAD",
      "The part that answers queries could not be loaded: read with rows, lines or search. The program that runs this passes what an import of " +
        "mcp-sluice/tables.wasm gives, or its URL, as `wasm: { core, tables }`.",
      { path: "query" },
      { cause },
    );
  }
}

async function compile(source: WasmSource | undefined): Promise<WebAssembly.Module> {
  // Bundlers find it by this form. Where modules have no address, it throws.
  return compileSource(source ?? new URL("./tables.wasm", import.meta.url));
}
