/**
 * Builds the elements: each an entry with its dependencies, so that pages without a bundler can import it. pdfjs-dist is left
 * out; pages that show PDFs install it.
 * @module
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { published } from "../published.js";

const ENTRIES = ["artifact", "index", "meter", "resources", "result", "theme", "viewer"];
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  resolve: { alias: published() },
  // Pages without a bundler have no `process`.
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  build: {
    outDir: here("../../dist/ui"),
    // The folder also has the declarations.
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: Object.fromEntries(ENTRIES.map((name) => [name, here(`${name}.ts`)])), formats: ["es"] },
    rolldownOptions: {
      external: [/^pdfjs-dist/],
      output: { chunkFileNames: "parts/[name]-[hash].js" },
    },
  },
});
