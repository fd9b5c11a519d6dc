/**
 * The module that tells facts of PDFs, as JavaScript sees it: the same as that for all files. `wasm/bindings/pdf.cpp` is its other side.
 */
import type { CoreModuleOptions } from "./core.mjs";
import type { FactsModule } from "./facts.mjs";

export default function createPdfModule(options: CoreModuleOptions): Promise<FactsModule>;
