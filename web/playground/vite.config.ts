/**
 * How the playground's pages are built: static files that work from any sub-path.
 * @module
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { published } from "../published.js";
import { pdfAssets } from "./pdf-assets-plugin.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  base: "./",
  resolve: {
    alias: [
      ...published(),
      { find: /^@modelcontextprotocol\/(?:client|server)\/_shims$/, replacement: here("mcp-shims.ts") },
    ],
  },
  worker: { format: "es" },
  build: {
    outDir: here("../../build/site"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ["index.html", "callback.html"].map(here),
    },
  },
  plugins: [pdfAssets()],
});
