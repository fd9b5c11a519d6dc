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
 * signs people in, and what keeps large files apart, come through the same entries of the package, and only where they are wanted.
 */
const WORKER_BEGIN = {
  name: "worker-begin",
  tags: ["$initial" as const],
  test: (id: string): boolean =>
    /node_modules|dist\//.test(id) &&
    !/dist\/(?:index|tools)\.js|dist\/tools\/auth\/|dist\/artifacts\/tiered\/|oauth4webapi/.test(id),
};

/** The same of the page: what the sign-in's own page needs stays apart. */
const PAGE_BEGIN = {
  name: "page-begin",
  tags: ["$initial" as const],
  test: (id: string): boolean => /\/(?:app|dist|node_modules)\//.test(id) && !/callback/.test(id),
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
      output: { codeSplitting: { groups: [PAGE_BEGIN] } },
    },
  },
  plugins: [pdfAssets()],
});
