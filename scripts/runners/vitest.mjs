/**
 * The tests of the library and the command, counted from Vitest's own report.
 * @module
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root, run, tool } from "../run.mjs";

const REPORT = join(root, "build/reports/vitest.json");

/** Runs them all once. */
export async function vitest() {
  rmSync(REPORT, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${REPORT}`];
  const { code } = await run(process.execPath, [tool("vitest"), "run", ...reporters]);
  if (!existsSync(REPORT)) throw new Error("Vitest left no report");
  const report = JSON.parse(readFileSync(REPORT, "utf8"));
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  // A file that cannot be loaded fails without having a failed test in it.
  const failed = report.numFailedTests || (code === 0 ? 0 : Math.max(1, report.numFailedTestSuites));
  return { passed, failed, skipped };
}
