/**
 * Compiling the core in browsers and workers: the module is fetched from beside this one.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** Compiles `source`, or the module that was built with this file. Throws E_CORE_LOAD. */
export async function compileCore(source?: BufferSource | Response | URL): Promise<WebAssembly.Module> {
  try {
    if (source !== undefined && !(source instanceof Response) && !(source instanceof URL)) {
      return await WebAssembly.compile(source);
    }
    const response =
      source instanceof Response ? source : await fetch(source ?? new URL("./core.wasm", import.meta.url));
    if (!response.ok) throw new Error(`status ${response.status}`);
    // A server that does not know the type of .wasm files is no reason to fail.
    return response.headers.get("content-type") === "application/wasm"
      ? await WebAssembly.compileStreaming(response)
      : await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    throw new SluiceError(
      "E_CORE_LOAD",
      "the WebAssembly core could not be loaded; where a bundler moved it, pass its URL or bytes as `wasm` " +
        "(in Cloudflare Workers what an import of mcp-sluice/core.wasm gives; " +
        'with Vite 7 and older `optimizeDeps: { exclude: ["mcp-sluice"] }` keeps it in its place; a package that is linked needs `server.fs.allow`)',
      {},
      { cause: error },
    );
  }
}
