/**
 * Instances of WebAssembly modules with the glue that was built for them.
 * @module
 */
import type { CoreModuleOptions } from "./core.mjs";
import { SluiceError } from "../errors/error.js";

/** Memory in bytes beyond which an instance is not kept: WebAssembly memory never shrinks. */
export const MAX_KEPT_MEMORY = 64 * 1024 * 1024;

/** Makes an instance of a compiled module. */
export async function instantiate<Module>(
  glue: (options: CoreModuleOptions) => Promise<Module>,
  compiled: WebAssembly.Module,
): Promise<Module> {
  return new Promise((resolve, reject) => {
    const made = glue({
      // The glue would wait for ever when this fails: the failure is reported here.
      instantiateWasm: (imports, receive) => {
        WebAssembly.instantiate(compiled, imports).then(receive, reject);
        return {};
      },
      locateFile: (name) => name,
      print: () => undefined,
      printErr: () => undefined,
    });
    made.then(resolve, reject);
  });
}

/** The error of an instance that is of no further use. */
export function trapped(cause?: unknown): SluiceError {
  return new SluiceError(
    "E_CORE_TRAP",
    "the core failed on this input and was replaced; the input is untouched: pass it on as it is, and report it",
    {},
    { cause },
  );
}
