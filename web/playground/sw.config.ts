/**
 * How the service worker is built: one file, which every browser takes, beside the page.
 * @module
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { listPackages } from "../../scripts/packages-in.mjs";
import { published } from "../published.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  publicDir: false,
  resolve: { alias: published() },
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  plugins: [listPackages("service-worker")],
  build: {
    outDir: here("../../build/site"),
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: here("sw.ts"), formats: ["iife"], name: "sluiceServiceWorker", fileName: () => "sw.js" },
  },
});
