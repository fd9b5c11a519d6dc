/**
 * The lines of the library and the command that their tests run, by V8's counters: in Vitest's workers, and in the
 * processes that tests start.
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import coverage from "istanbul-lib-coverage";
import report from "istanbul-lib-report";
import reports from "istanbul-reports";
import { root, run, tool } from "../run.mjs";
import { coverProcesses, emitMaps } from "./processes.mjs";

/** Milliseconds that a test may take: profiles slow those that move hundreds of megabytes. */
const LIMIT = 300_000;

/** Names of pages are short, whatever checkout they are made in. */
const SOURCES = join(root, "web/src");

/**
 * Runs the tests, and writes pages to a folder.
 * @param {string} pages
 * @returns {Promise<import("./table.mjs").Coverage>}
 * @throws {Error} when Vitest leaves no report
 */
export async function coverLibrary(pages) {
  // Outside of the checkout: some of the processes run as a user who may not write there.
  const profiles = mkdtempSync(join(tmpdir(), "sluice-coverage-"));
  chmodSync(profiles, 0o777);
  try {
    await emitMaps();
    const workers = await coverWorkers(pages, profiles);
    const map = coverage.createCoverageMap(workers.data);
    const { data, processes } = await coverProcesses(profiles);
    map.merge(data);
    mkdirSync(pages, { recursive: true });
    reports.create("html", { projectRoot: SOURCES }).execute(report.createContext({ dir: pages, coverageMap: map }));
    console.log(`With ${processes} runs of the command; what is killed, or bundled by a test, is not counted.`);
    const files = map.files().map((file) => ({
      path: relative(root, file),
      lines: lineCounts(map.fileCoverageFor(file)),
    }));
    return { files, failed: workers.failed };
  } finally {
    rmSync(profiles, { recursive: true });
  }
}

// Files that no test imports are in the answer, too.
async function coverWorkers(folder, profiles) {
  const measured = ["--coverage", "--coverage.reporter=json", "--coverage.reportOnFailure"];
  const args = [
    "run",
    "--project=library",
    `--testTimeout=${LIMIT}`,
    ...measured,
    `--coverage.reportsDirectory=${folder}`,
  ];
  const { code } = await run(process.execPath, [tool("vitest"), ...args], {
    env: { SLUICE_PROCESS_PROFILES: profiles },
    seconds: 3600,
  });
  const data = JSON.parse(readFileSync(join(folder, "coverage-final.json"), "utf8"));
  return { data, failed: code !== 0 };
}

const lineCounts = (file) =>
  new Map(Object.entries(file.getLineCoverage()).map(([line, count]) => [Number(line), count]));
