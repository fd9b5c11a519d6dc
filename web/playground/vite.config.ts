/**
 * How the playground's pages are built: static files that work from any sub-path.
 * @module
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { published } from "../published.js";
import { pdfAssets } from "./pdf-assets-plugin.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * The libraries that the worker begins with, in one file, also those that a later part needs too: several compress less. What
 * signs people in comes through the same entry of the package, and only for servers that want it.
 */
const WORKER_BEGIN = {
  name: "worker-begin",
  tags: ["$initial" as const],
  test: (id: string): boolean =>
    /node_modules|dist\//.test(id) && !/dist\/tools\.js|dist\/tools\/auth\/|oauth4webapi/.test(id),
};

export default defineConfig({
  root: here("."),
  base: "./",
  resolve: {
    alias: [
      ...published(),
      { find: /^@modelcontextprotocol\/(?:client|server)\/_shims$/, replacement: here("mcp-shims.ts") },
    ],
  },
  worker: {
    format: "es",
    rolldownOptions: { output: { codeSplitting: { groups: [WORKER_BEGIN] } } },
  },
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
