/**
 * How the service worker is built: one file, which every browser takes, beside the page.
 * @module
 */
import { join } from "node:path";
import { defineConfig } from "vite";
import { viteRoot } from "../../scripts/module-paths.mjs";
import { listPackages } from "../../scripts/packages-in.mjs";
import { listPublished } from "../published.js";

const here = (path: string): string => join(viteRoot, "web/playground", path);

export default defineConfig({
  root: here("."),
  publicDir: false,
  resolve: { preserveSymlinks: true, alias: listPublished() },
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  plugins: [listPackages("service-worker")],
  build: {
    outDir: here("../../build/site"),
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: here("sw.ts"), formats: ["iife"], name: "sluiceServiceWorker", fileName: () => "sw.js" },
  },
});
