/**
 * Compiling the core in Node: the module is a file beside this one.
 * @module
 */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SluiceError } from "../errors/error.js";

/** Compiles `source`, or the module that was built with this file. Throws E_CORE_LOAD. */
export async function compileCore(source?: BufferSource | Response | URL): Promise<WebAssembly.Module> {
  try {
    if (isResponse(source)) return await WebAssembly.compile(await source.arrayBuffer());
    if (source !== undefined && !(source instanceof URL)) return await WebAssembly.compile(source);
    return await WebAssembly.compile(await readFile(toFile(source ?? new URL("./core.wasm", import.meta.url))));
  } catch (error) {
    throw new SluiceError(
      "E_CORE_LOAD",
      "the WebAssembly core could not be loaded; reinstall mcp-sluice, or run `npm run build` in a checkout",
      {},
      { cause: error },
    );
  }
}

/**
 * The file of a URL. Next.js puts an address of the site, `/_next/static/media/core.1a2b3c.wasm`, in place of that of a module
 * beside this one; it leaves this one's alone.
 */
function toFile(url: URL): URL | string {
  const [, name] = /^\/_next\/.*\/(\w+)[^/]*\.wasm$/.exec(url.pathname) ?? [];
  return name === undefined ? url : join(dirname(fileURLToPath(import.meta.url)), `${name}.wasm`);
}

// Not `instanceof`: naming the class would load all of Node's fetch.
function isResponse(source: unknown): source is Response {
  return typeof (source as Partial<Response> | undefined)?.arrayBuffer === "function";
}
