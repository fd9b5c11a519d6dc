/**
 * The lines of the library and the command that their tests run, by V8 profiles of Vitest's workers and of the processes that tests
 * start. Those run dist/, which is made once more with source maps: the same code.
 * @module
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import coverage from "istanbul-lib-coverage";
import report from "istanbul-lib-report";
import reports from "istanbul-reports";
import { fileURLToPath, pathToFileURL } from "node:url";
import v8 from "@bcoe/v8-coverage";
import { convert } from "ast-v8-to-istanbul";
import { parseAstAsync } from "vite";
import { published } from "./library.mjs";
import { must, root, run, tool } from "./run.mjs";

/** Milliseconds that a test may take: profiles slow those that move hundreds of megabytes. */
const LIMIT = 300_000;

/** Names of pages are short, whatever checkout they are made in. */
const SOURCES = join(root, "web/src");

/**
 * Runs the tests, and writes pages to a folder.
 * @param {string} pages
 * @param {string[]} [options] more of Vitest's
 * @returns {Promise<import("./coverage-table.mjs").Coverage>}
 * @throws {Error} when Vitest leaves no report
 */
export async function coverLibrary(pages, options = []) {
  // Outside of the checkout: some of the processes run as a user who may not write there.
  const profiles = mkdtempSync(join(tmpdir(), "sluice-coverage-"));
  chmodSync(profiles, 0o777);
  try {
    await emitMaps();
    const workers = await coverWorkers(pages, profiles, options);
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
async function coverWorkers(folder, profiles, options) {
  const measured = ["--coverage", "--coverage.reporter=json", "--coverage.reportOnFailure"];
  const args = [
    "run",
    "--project=library",
    `--testTimeout=${LIMIT}`,
    ...measured,
    `--coverage.reportsDirectory=${folder}`,
    ...options,
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

const DIST = join(root, "dist");
const MAPPED = join(root, "build/coverage-maps");

/** Compiles the sources with maps. */
async function emitMaps() {
  const options = ["--outDir", MAPPED, "--sourceMap", "--inlineSources", "--incremental", "false"];
  await must(process.execPath, [tool("tsc"), "-p", "tsconfig.build.json", ...options]);
}

/**
 * Reads the profiles in a folder.
 * @param {string} folder
 * @returns {Promise<{ data: import("istanbul-lib-coverage").CoverageMapData, processes: number }>} `data` by source
 *   file; `processes` is the number of those that ran something of dist/
 * @throws {Error} when dist/ is not what the maps were made of
 */
async function coverProcesses(folder) {
  const profiles = readdirSync(folder)
    .map((name) => oursOnly(readProfile(join(folder, name))))
    .filter(({ result }) => result.length > 0);
  const data = {};
  for (const script of v8.mergeProcessCovs(profiles).result) Object.assign(data, await inSources(script));
  return { data, processes: profiles.length };
}

// A process that is killed while it writes leaves half a profile.
function readProfile(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return { result: [] };
  }
}

// What is bundled of others has no source here.
function oursOnly({ result }) {
  const folder = `${pathToFileURL(DIST).href}/`;
  const isOurs = (url) => url.startsWith(folder) && existsSync(join(MAPPED, `${url.slice(folder.length)}.map`));
  return { result: result.filter(({ url }) => isOurs(url)) };
}

const MAP_COMMENT = /\/\/# sourceMappingURL=\S+\s*$/;

async function inSources(script) {
  const file = fileURLToPath(script.url);
  const name = relative(DIST, file);
  const mapped = join(MAPPED, name);
  const inputMap = JSON.parse(readFileSync(`${mapped}.map`, "utf8"));
  const { code, map: sourceMap } = await published(
    name,
    readFileSync(mapped, "utf8").replace(MAP_COMMENT, ""),
    inputMap,
  );
  if (readFileSync(file, "utf8") !== code) {
    throw new Error(`${relative(root, file)} is not what its source compiles to: run this again, and change nothing`);
  }
  // Sources are named from the folder of the map, which is not the folder of the script.
  sourceMap.sources = sourceMap.sources.map((source) => join(mapped, "..", source));
  return convert({ code, sourceMap, ast: parseAstAsync(code), coverage: script, wrapperLength: 0 });
}
