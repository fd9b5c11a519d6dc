/**
 * `npm test`: sets up, builds, runs the runners, and says which suites of the full run are stale; the last line is the counts. A runner
 * whose sources have not changed since it passed in this clone is left out. Where `CI` is `true` or `1` none is; the runners that take
 * long run as well, and stale suites that take less than five minutes together.
 * `npm run test:full` runs every suite at full length, and writes down which have passed. Names behind `--` choose runners.
 * @module
 */
import { clearReports, listFiles, listSlowest } from "./reports.mjs";
import {
  browserTests,
  built,
  checks,
  fuzzers,
  libraryTests,
  longSuite,
  nativeTests,
  packageTests,
  siteTests,
  wasmTests,
} from "./runners.mjs";
import { main, setup } from "./setup.mjs";
import { describeStale, findStaleSuites, hashRunner, hasPassed, keepPassed, recordPassed, SUITES } from "./suites.mjs";

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/** Whether nothing is done briefly. */
const full = process.argv.includes("--full");

const isCi = /^(true|1)$/.test(process.env.CI ?? "");

/** Seconds that stale suites may take together, where `CI` is set. */
const STALE_SECONDS = 300;

/** How many of the slowest tests are named. */
const SLOWEST = full || isCi ? 50 : 10;

/**
 * In order: what fails fast comes first, and what is built is there for those behind it. What `isLong` repeats on other ground what
 * the others test, and is left to CI.
 * @type {Record<string, { title: string, run: () => Promise<Counts>, isLong?: boolean }>}
 */
const runners = {
  build: {
    title: "Core, library and playground",
    run: () => built().then(() => ({ passed: 1, failed: 0, skipped: 0 })),
  },
  checks: { title: "Types, lint, format", run: checks },
  vitest: { title: "Library and command", run: libraryTests },
  browser: { title: "Stores and elements in Chromium", run: browserTests },
  site: { title: "The playground, built, in Chromium", run: siteTests, isLong: true },
  package: { title: "The package, installed: Node, pages, workers", run: packageTests, isLong: true },
  native: { title: "C++ under ASan and UBSan", run: nativeTests },
  wasm: { title: "C++ as WebAssembly in node", run: wasmTests, isLong: true },
  fuzz: { title: "Fuzzers, a short run", run: fuzzers, isLong: true },
};

/** Runs one runner. One that crashes, or runs no test, has failed. */
async function count(title, run) {
  const start = Date.now();
  console.log(`\n── ${title}`);
  let counts = { passed: 0, failed: 1, skipped: 0 };
  try {
    counts = await run();
    if (counts.passed + counts.failed === 0) throw new Error("ran no test");
  } catch (error) {
    counts = { ...counts, failed: Math.max(1, counts.failed) };
    console.log(`${title}: ${error.message}`);
  }
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  console.log(`${counts.failed === 0 ? "ok" : "FAILED"}: ${title}: ${line(counts)} (${seconds} s)`);
  return counts;
}

const line = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** The names of the runners to run: those that were asked for, or all that fit. */
function chooseRunners(asked) {
  const names = Object.keys(runners);
  if (asked.length > 0) return names.filter((name) => asked.includes(name));
  if (full || isCi) return names;
  return names.filter((name) => runners[name].isLong !== true && !hasPassed(name));
}

/** Says which runners were left out: those that CI runs, and those whose sources have passed. */
function reportLeft(names) {
  const left = Object.keys(runners).filter((name) => !names.includes(name));
  const long = left.filter((name) => runners[name].isLong === true);
  const unchanged = left.filter((name) => !long.includes(name));
  if (unchanged.length > 0) console.log(`\nunchanged since they passed: ${unchanged.join(", ")}`);
  if (long.length > 0) console.log(`\nleft to CI: ${long.join(", ")}: npm test -- ${long.join(" ")}`);
}

/** The stale suites, if they are to be run at once: if all have passed before, and together take little enough. */
function chooseStale(stale) {
  const seconds = stale.reduce((sum, { last }) => sum + (last?.seconds ?? Infinity), 0);
  return seconds <= STALE_SECONDS ? stale : [];
}

/** Says which suites are stale, and gives those that are to be run. */
function reportStale() {
  const stale = findStaleSuites();
  if (stale.length === 0) return [];
  console.log("\n── Suites of the full run that are stale: npm run test:full runs them");
  for (const suite of stale) console.log(`stale: ${describeStale(suite)}`);
  return isCi ? chooseStale(stale) : [];
}

function reportSlowest() {
  const slowest = listSlowest().slice(0, SLOWEST);
  if (slowest.length === 0) return;
  console.log(`\n── The ${slowest.length} slowest tests`);
  for (const { test, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${test}`);
}

await main(async () => {
  const chosen = process.argv.slice(2).filter((word) => word !== "--full");
  const unknown = chosen.filter((name) => !Object.hasOwn(runners, name));
  if (unknown.length > 0) {
    throw new Error(`No runner is called ${unknown.join(", ")}: choose from ${Object.keys(runners).join(", ")}.`);
  }
  // What the tests themselves ask, in whatever process they run.
  if (full) process.env.SLUICE_TESTS = "full";
  await setup(full ? "full" : "test");
  clearReports();
  const total = { passed: 0, failed: 0, skipped: 0 };
  const add = (counts) => {
    for (const key of Object.keys(total)) total[key] += counts[key];
  };
  const names = chooseRunners(chosen);
  for (const name of names) {
    const { title, run } = runners[name];
    // Before it runs: what is edited meanwhile has not passed.
    const hash = hashRunner(name);
    const counts = await count(title, run);
    if (counts.failed === 0) keepPassed(name, hash);
    add(counts);
  }
  if (full) console.log(`\nwritten down as passed: ${recordPassed(listFiles()).join(", ") || "none"}`);
  const again = full || chosen.length > 0 ? [] : reportStale();
  if (again.length > 0) await setup("full");
  for (const { name } of again) add(await count(SUITES[name].title, () => longSuite(name)));
  reportSlowest();
  if (chosen.length === 0) reportLeft(names);
  console.log(`\n${line(total)}`);
  return total.failed === 0 ? 0 : 1;
});
