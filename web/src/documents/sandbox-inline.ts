/**
 * Conversion in the thread that asks, for runtimes that have no other one: in Cloudflare's workerd, which bounds the time and the
 * memory of a request itself. Nothing can be compiled there, so modules are handed in.
 * @module
 */
import type { DocumentModule, DocumentModules } from "../core/engine.js";
import { Codecs } from "./codecs.js";
import { convert, type ConversionFacts, type Libraries } from "./conversion.js";
import { unreadable } from "./document.js";
import { Pdfium } from "./pdfium.js";
import { collectBytes, type ConversionTask, toError, toFailure, LIMITS, overLimit } from "./sandbox.js";

/** Most bytes of a document, and of PDFium's memory: an isolate of workerd has 128 MB for everything. */
const MAX_DOCUMENT = 24 * 1024 * 1024;
const MAX_PDFIUM = 64 * 1024 * 1024;

/** See {@link Sandbox}. */
export async function convertInWorker({
  request,
  input,
  write,
  limits,
  modules,
  signal,
}: ConversionTask): Promise<ConversionFacts> {
  signal?.throwIfAborted();
  const bytes = await collectBytes(input, MAX_DOCUMENT);
  const { output, time } = { ...LIMITS, ...limits };
  const start = Date.now();
  let written = 0;
  // Nothing can end work between two pieces, but for the runtime.
  const writeWithin = async (chunk: Uint8Array): Promise<void> => {
    signal?.throwIfAborted();
    if (Date.now() - start > time) throw overLimit("time");
    written += chunk.length;
    if (written > output) throw overLimit("output");
    await write(chunk);
  };
  let failed: { readonly error: unknown } | undefined;
  try {
    return await convert(bytes, request, librariesOver(modules), async (chunk) => {
      try {
        await writeWithin(chunk);
      } catch (error) {
        failed = { error };
        throw error;
      }
    });
  } catch (error) {
    // What `write` throws is the caller's own. Anything else could quote the document.
    throw failed === undefined ? toError(toFailure(error)) : failed.error;
  }
}

function librariesOver(modules: DocumentModules = {}): Libraries {
  const take = async (name: DocumentModule): Promise<WebAssembly.Module> => {
    const module = modules[name];
    if (module === undefined)
      throw unreadable(
        `This needs a module that was not handed in: import mcp-sluice/documents/${name}.wasm, and pass it as wasm.documents["${name}"].`,
      );
    return module;
  };
  const pdfium = async (): Promise<Pdfium> => Pdfium.load(await take("pdfium"), MAX_PDFIUM);
  return { pdfium, pictures: async () => new Codecs({ compile: take, pdfium }) };
}
