/**
 * What PDFs need beside the code that draws them: character maps, fonts, decoders. Served from here, as nothing comes from
 * elsewhere.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

const FOLDERS = ["cmaps", "standard_fonts", "wasm", "iccs"];

/** Puts them into `pdf/`. */
export function pdfAssets(): Plugin {
  const home = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
  return {
    name: "sluice-pdf-assets",
    apply: "build",
    generateBundle() {
      const emit = (fileName: string, path: string): void => {
        this.emitFile({ type: "asset", fileName, source: readFileSync(join(home, path)) });
      };
      emit("pdf/pdf.worker.min.mjs", "build/pdf.worker.min.mjs");
      for (const folder of FOLDERS) {
        for (const name of readdirSync(join(home, folder))) {
          if (!name.startsWith("LICENSE")) emit(`pdf/${folder}/${name}`, join(folder, name));
        }
      }
    },
  };
}
