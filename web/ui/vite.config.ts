/**
 * How the elements are built: each an entry with all it needs, so that pages without a bundler can import them too. What
 * draws PDFs is not among it: who wants that installs pdfjs-dist.
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
  // Libraries are left as they are otherwise, and a page without a bundler knows no `process`.
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  build: {
    outDir: here("../../dist/ui"),
    // Declarations lie there too.
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: Object.fromEntries(ENTRIES.map((name) => [name, here(`${name}.ts`)])), formats: ["es"] },
    rolldownOptions: {
      external: [/^pdfjs-dist/],
      output: { chunkFileNames: "parts/[name]-[hash].js" },
    },
  },
});
