/**
 * Builds the elements with their dependencies, so that pages without a bundler can import them. pdfjs-dist is none of them: pages
 * that show PDFs hand it over.
 * @module
 */
import { join } from "node:path";
import { defineConfig } from "vite";
import { viteRoot } from "../../scripts/module-paths.mjs";
import { listPublished } from "../published.js";

const here = (path: string): string => join(viteRoot, "web/ui", path);
const packages = (path: string): string => join(viteRoot, "node_modules", path);

/** Lit as it is for Node, which runs in browsers too: its other build asks for a DOM when it is loaded. */
const lit = [
  { find: /^@lit\/reactive-element$/, replacement: packages("@lit/reactive-element/node/reactive-element.js") },
  { find: /^lit-html$/, replacement: packages("lit-html/node/lit-html.js") },
  { find: /^lit-html\/(.*)$/, replacement: packages("lit-html/node/$1") },
  { find: /^@lit-labs\/ssr-dom-shim$/, replacement: here("../lit-shims.ts") },
];

export default defineConfig({
  root: here("."),
  resolve: { preserveSymlinks: true, alias: [...listPublished(), ...lit] },
  // Pages without a bundler have no `process`.
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  build: {
    outDir: here("../../dist/ui"),
    // The folder also has the declarations.
    emptyOutDir: false,
    target: "es2022",
    license: { fileName: "LICENSES.md" },
    lib: { entry: { index: here("index.ts") }, formats: ["es"] },
    rolldownOptions: {
      output: {
        chunkFileNames: "parts/[name]-[hash].js",
        // White space too, which Vite keeps in libraries for those who bundle them: of these nothing can be left out.
        minify: { compress: true, mangle: { keepNames: true }, codegen: true },
      },
    },
  },
});
