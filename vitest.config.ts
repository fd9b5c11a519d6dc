import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Where processes that tests start leave a profile, while `npm run coverage` measures. Set here, it reaches them
// and not the workers, which Vitest measures itself.
const profiles = process.env["SLUICE_PROCESS_PROFILES"];

const { imports } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
  imports: Record<string, { node: string }>;
};

// Names like `#hash` stand for compiled files: tests see the sources of those.
const alias = Object.entries(imports).map(([find, { node }]) => ({
  find,
  replacement: fileURLToPath(new URL(node.replace("./dist/", "web/src/").replace(/\.js$/, ".ts"), import.meta.url)),
}));

export default defineConfig({
  resolve: { alias },
  test: {
    // Tests that start processes or push hundreds of megabytes need longer than the usual 5 s.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Each of them takes a core: more at a time only disturb each other's timing.
    maxWorkers: 2,
    env: profiles === undefined ? {} : { NODE_V8_COVERAGE: profiles },
    coverage: { provider: "v8", include: ["web/src/**/*.ts"], reportsDirectory: "coverage/library" },
    projects: [
      {
        extends: true,
        test: {
          name: "library",
          include: ["tests/unit/**/*.test.ts", "tests/e2e/**/*.test.ts"],
          setupFiles: "tests/unit/properties.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "package",
          include: ["tests/package/**/*.test.ts"],
          globalSetup: "tests/package/install.ts",
        },
      },
    ],
  },
});
