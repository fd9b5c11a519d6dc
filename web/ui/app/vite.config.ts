/**
 * Builds the app for MCP hosts as one script, which `scripts/build.mjs` puts into `app.html`: hosts load a page from a single resource
 * and let it fetch nothing.
 * @module
 */
import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vite";
import elements from "../vite.config.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Grammars of programming languages, which weigh more than everything else. Such text is shown without colours. */
const GRAMMARS = /^@shikijs\/langs\/(?!(?:json|xml|yaml|css|sql|ini|diff|toml)$).*/;

const { resolve, define } = elements;

export default mergeConfig(
  { resolve, define },
  defineConfig({
    root: here("."),
    resolve: {
      alias: [
        { find: GRAMMARS, replacement: here("no-grammar.ts") },
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
