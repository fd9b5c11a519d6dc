/**
 * Builds the app for MCP hosts as one script, which `scripts/build.mjs` puts into `app.html`: hosts load a page from a single resource
 * and let it fetch nothing.
 * @module
 */
import { join } from "node:path";
import { defineConfig, mergeConfig } from "vite";
import { viteRoot } from "../../../scripts/module-paths.mjs";
import elements from "../vite.config.js";

const here = (path: string): string => join(viteRoot, "web/ui/app", path);

/** What colours code, which would be half of the page: every host loads it, and most artifacts are no code. Text stays plain. */
const COLOURS = /^@shikijs\/.*/;

/** Previews that would be another third of it. */
const PREVIEWS = /^\.\/(?:archive|html-page|markdown-page)\.js$/;

const { resolve, define } = elements;

export default mergeConfig(
  { resolve, define },
  defineConfig({
    root: here("."),
    resolve: {
      alias: [
        { find: PREVIEWS, replacement: here("plain-previews.ts") },
        { find: COLOURS, replacement: here("no-colours.ts") },
        { find: /^@modelcontextprotocol\/client\/_shims$/, replacement: here("../../mcp-shims.ts") },
      ],
    },
    build: {
      write: false,
      target: "es2022",
      license: { fileName: "LICENSES.md" },
      lib: { entry: here("artifact-app.ts"), formats: ["iife"], name: "sluiceArtifactApp", fileName: "app" },
      rolldownOptions: { output: { minify: { compress: true, mangle: true, codegen: true } } },
    },
  }),
);
