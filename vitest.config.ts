import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { findChromium } from "./scripts/chromium.mjs";
import { CHECKS } from "./tests/site/visitor-checks.js";

// Where processes that tests start leave a profile, while `npm run coverage` measures. Set here, it reaches them
// and not the workers, which Vitest measures itself.
const profiles = process.env["SLUICE_PROCESS_PROFILES"];

const { imports, exports } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
  imports: Record<string, { node: string; default: string }>;
  exports: Record<string, { default?: string }>;
};

/** The source of a file in dist/. */
function sourceOf(compiled: string): string {
  const source = compiled.replace("./dist/ui/", "web/ui/").replace("./dist/", "web/src/").replace(/\.js$/, ".ts");
  return fileURLToPath(new URL(source, import.meta.url));
}

/** Names like `#hash` stand for compiled files: tests see the sources of those. */
function internal(condition: "node" | "default"): { find: string; replacement: string }[] {
  return Object.entries(imports).map(([find, choices]) => ({ find, replacement: sourceOf(choices[condition]) }));
}

/** And so does the name of the package, in what is made of it. */
const entries = Object.entries(exports)
  .filter(([, { default: file }]) => file?.endsWith(".js") === true)
  .map(([name, { default: file = "" }]) => ({
    find: new RegExp(`^mcp-sluice${name.slice(1)}$`),
    replacement: sourceOf(file),
  }));

/** What the sources for browsers are made of. */
const BUNDLED = [
  "@embedpdf/pdfium",
  "@humanwhocodes/momoa",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/sdk/server/index.js",
  "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js",
  "@modelcontextprotocol/sdk/types.js",
  "@shikijs/core",
  "@shikijs/engine-javascript",
  "@tanstack/virtual-core",
  "@uwdata/flechette",
  "@zip.js/zip.js/lib/zip-core-custom.js",
  "axe-core",
  "diff",
  "fast-check",
  "fzstd",
  "hash-wasm",
  "htmlparser2",
  "hyparquet",
  "hyparquet-compressors",
  "idb",
  "js-yaml",
  "lit",
  "lit/directives/live.js",
  "lit/directives/repeat.js",
  "lit/directives/unsafe-svg.js",
  "modern-tar",
  "numfmt",
  "oauth4webapi",
  "papaparse",
  "pdfjs-dist",
  "postal-mime",
  "string-argv",
  "url-template",
  "zod",
];

export default defineConfig({
  test: {
    // Tests that start processes or push hundreds of megabytes need longer than the usual 5 s.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What a test waits for comes late on a machine that does much else.
    expect: { poll: { timeout: 20_000 } },
    // Each of them takes a core: more at a time only disturb each other's timing.
    maxWorkers: 2,
    // A browser may take long to start while everything else does too. Read here alone, not from a project.
    browser: { connectTimeout: 300_000 },
    env: profiles === undefined ? {} : { NODE_V8_COVERAGE: profiles },
    coverage: { provider: "v8", include: ["web/src/**/*.ts"], reportsDirectory: "coverage/library" },
    projects: [
      {
        extends: true,
        resolve: { alias: internal("node") },
        test: {
          name: "library",
          include: ["tests/unit/**/*.test.ts", "tests/e2e/**/*.test.ts"],
          setupFiles: ["tests/support/patience.ts", "tests/unit/properties.ts"],
        },
      },
      {
        extends: true,
        resolve: { alias: internal("node") },
        test: {
          name: "package",
          include: ["tests/package/**/*.test.ts"],
          setupFiles: "tests/support/patience.ts",
          globalSetup: "tests/package/install.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "site",
          tags: Object.entries(CHECKS).map(([name, description]) => ({ name, description })),
          // One process runs many files with one browser; each visitor has a context of their own.
          isolate: false,
          // Some tests wait half a minute for a limit to pass.
          testTimeout: 180_000,
          hookTimeout: 180_000,
          include: ["tests/site/**/*.test.ts"],
          setupFiles: "tests/support/patience.ts",
          globalSetup: "tests/site/build.ts",
        },
      },
      {
        extends: true,
        resolve: { alias: [...internal("default"), ...entries] },
        // One that is found later would load the page of the tests anew, and the run would not end.
        optimizeDeps: { include: BUNDLED, noDiscovery: true },
        test: {
          name: "browser",
          include: ["tests/browser/**/*.test.ts"],
          setupFiles: ["tests/support/patience.ts", "tests/unit/properties.ts"],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: { executablePath: findChromium() ?? "chromium" } }),
            instances: [{ browser: "chromium" }],
          },
        },
      },
    ],
  },
});
