/**
 * The tests in TypeScript, counted from Vitest's own reports; each runner is a project of vitest.config.ts.
 * @module
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "../build.mjs";
import { root, run, tool } from "../run.mjs";
import { buildSite } from "../site.mjs";

/** The library and the command. */
export const libraryTests = () => vitest("library");

/** What runs in browsers alone, in a real one. */
export const browserTests = () => vitest("browser");

/** The playground as it is built: of what is in the sources now. */
export const siteTests = () => build().then(() => vitest("site"));

/** The package as users get it: of what is in the sources now. */
export const packageTests = () =>
  build()
    .then(buildSite)
    .then(() => vitest("package"));

async function vitest(project) {
  const file = join(root, "build/reports", `vitest-${project}.json`);
  rmSync(file, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const { code } = await run(process.execPath, [tool("vitest"), "run", `--project=${project}`, ...reporters]);
  if (!existsSync(file)) throw new Error("Vitest left no report");
  const report = JSON.parse(readFileSync(file, "utf8"));
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  // A file that cannot be loaded fails without having a failed test in it.
  const failed = report.numFailedTests || (code === 0 ? 0 : Math.max(1, report.numFailedTestSuites));
  return { passed, failed, skipped };
}
