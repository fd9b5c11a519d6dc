/**
 * Instances of compiled modules.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { CoreModuleOptions } from "./core.mjs";

/**
 * Makes an instance of a compiled module with the glue that was built for it.
 *
 * @param name the class that the module has
 * @throws SluiceError E_CORE_LOAD if the module is another one, or of another version, or if there is no memory for it.
 */
export async function instantiate<Module extends object>(
  glue: (options: CoreModuleOptions) => Promise<Module>,
  compiled: object,
  name: keyof Module & string,
): Promise<Module> {
  let cause: unknown;
  try {
    const module = await connect(glue, compiled);
    if (name in module) return module;
  } catch (error) {
    cause = error;
  }
  throw new SluiceError(
    "E_CORE_LOAD",
    "the WebAssembly module could not be started: there is no memory for it, or it is another one than this code was built with: take both from one version of mcp-sluice, and pass each under its own name",
    {},
    { cause },
  );
}

function connect<Module>(glue: (options: CoreModuleOptions) => Promise<Module>, compiled: object): Promise<Module> {
  return new Promise((resolve, reject) => {
    const made = glue({
      // The glue would wait for ever if this failed, or if the module is another's, so the failure is reported here.
      instantiateWasm: (imports, receive) => {
        WebAssembly.instantiate(compiled as WebAssembly.Module, imports as WebAssembly.Imports)
          .then(receive)
          .catch(reject);
        return {};
      },
      locateFile: (name) => name,
      print: () => undefined,
      printErr: () => undefined,
    });
    made.then(resolve, reject);
  });
}
