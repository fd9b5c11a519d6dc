/** A worker of Cloudflare's runtime, where no bytes may be compiled: the core, and what reads files, come as modules. */
import core from "mcp-sluice/core.wasm";
import jpegEncoder from "mcp-sluice/documents/jpeg-encoder.wasm";
import pdfium from "mcp-sluice/documents/pdfium.wasm";
import png from "mcp-sluice/documents/png.wasm";
import facts from "mcp-sluice/facts.wasm";
import tables from "mcp-sluice/tables.wasm";
import { readDocuments } from "./documents.js";
import { smoke } from "./smoke.js";

// oxlint-disable-next-line import/no-default-export -- what the runtime calls
export default {
  async test() {
    const report = await smoke({ wasm: core });
    const documents = await readDocuments({
      wasm: { core, facts, tables, documents: { pdfium, png, "jpeg-encoder": jpegEncoder } },
    });
    console.log(JSON.stringify({ ...report, documents }));
  },
};
