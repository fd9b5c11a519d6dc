/**
 * Instances of compiled modules.
 * @module
 */
import type { CoreModuleOptions } from "./core.mjs";

/** Makes an instance of a compiled module with the glue that was built for it. */
export async function instantiate<Module>(
  glue: (options: CoreModuleOptions) => Promise<Module>,
  compiled: object,
): Promise<Module> {
  return new Promise((resolve, reject) => {
    const made = glue({
      // The glue would wait for ever if this failed, so the failure is reported here.
      instantiateWasm: (imports, receive) => {
        WebAssembly.instantiate(compiled as WebAssembly.Module, imports as WebAssembly.Imports).then(receive, reject);
        return {};
      },
      locateFile: (name) => name,
      print: () => undefined,
      printErr: () => undefined,
    });
    made.then(resolve, reject);
  });
}
