/**
 * The modules of WebAssembly that read PDF and decode pictures: from which packages they are, and their licences.
 * @module
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(import.meta.url);

/** Each by its name in `documents/wasm/`: its package, its file there, and the libraries that are compiled into it. */
export const DOCUMENT_MODULES = {
  pdfium: {
    package: "@embedpdf/pdfium",
    file: "dist/pdfium.wasm",
    holds: [
      "FreeType (FTL): portions of this software are copyright © The FreeType Project (www.freetype.org). All rights reserved.",
      "libjpeg-turbo (IJG, BSD-3-Clause, zlib): this software is based in part on the work of the Independent JPEG Group.",
      "OpenJPEG (BSD-2-Clause), Little CMS (MIT), Anti-Grain Geometry 2.3 (its own notice: permission to copy, use and modify is granted provided this notice appears), libpng (libpng-2.0), zlib (zlib), Abseil (Apache-2.0), fast_float (MIT), ICU (Unicode-3.0)",
    ],
  },
  "jpeg-decoder": {
    package: "@jsquash/jpeg",
    file: "codec/dec/mozjpeg_dec.wasm",
    holds: ["MozJPEG (IJG, BSD-3-Clause, zlib)"],
  },
  "jpeg-encoder": {
    package: "@jsquash/jpeg",
    file: "codec/enc/mozjpeg_enc.wasm",
    holds: ["MozJPEG (IJG, BSD-3-Clause, zlib)"],
  },
  png: {
    package: "@jsquash/png",
    file: "codec/pkg/squoosh_png_bg.wasm",
    holds: ["png of image-rs (MIT or Apache-2.0)"],
  },
  "webp-decoder": { package: "@jsquash/webp", file: "codec/dec/webp_dec.wasm", holds: ["libwebp (BSD-3-Clause)"] },
};

/** Where a package is installed. */
function findPackage(name) {
  const marker = join("node_modules", name);
  const entry = require.resolve(name);
  return entry.slice(0, entry.lastIndexOf(marker) + marker.length);
}

/** The path of a module's bytes. */
export function locateModule(name) {
  const { package: from, file } = DOCUMENT_MODULES[name];
  return join(findPackage(from), file);
}

/** The licences of all modules, in Markdown. */
export function writeModuleLicences() {
  const parts = Object.entries(DOCUMENT_MODULES).map(([name, { package: from, holds }]) => {
    const { version } = JSON.parse(readFileSync(join(findPackage(from), "package.json"), "utf8"));
    return `## ${name}.wasm\n\nFrom ${from} ${version}. Compiled into it:\n\n${holds.map((each) => `- ${each}`).join("\n")}\n`;
  });
  const texts = [
    ["@embedpdf/pdfium", "LICENSE"],
    ["@embedpdf/pdfium", "LICENSE.pdfium"],
    ["@jsquash/jpeg", "LICENSE"],
  ].map(
    ([from, file]) =>
      `## ${from}: ${file}\n\n\`\`\`\n${readFileSync(join(findPackage(from), file), "utf8").trim()}\n\`\`\`\n`,
  );
  return `# Licences of the modules that read documents\n\n${[...parts, ...texts].join("\n")}`;
}
