/**
 * The runners of `npm test`: checks of the sources, Vitest, GoogleTest and the fuzzers. Each returns its counts.
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cores, root, run, tool } from "./run.mjs";
import { build, buildFolder, buildNative } from "./build.mjs";
import { percent, reaches, total } from "./coverage-table.mjs";
import { buildSite, TEST_URL } from "./site.mjs";
import { listTests, SUITES } from "./suites.mjs";

/** Some run at a time: what one says that fails stands together. */
const QUIET = /** @type {const} */ ({ show: "failure" });

/** What is checked, and the command that does it. */
const commands = {
  // First, since it takes longest.
  "documentation: docstrings and links": () => run(process.execPath, ["scripts/docs.mjs"], QUIET),
  "types of sources and tests": () => run(process.execPath, [tool("tsc"), "-p", "tsconfig.json"], QUIET),
  "types of what runs in browsers": () => run(process.execPath, [tool("tsc"), "-p", "tsconfig.web.json"], QUIET),
  "types of the examples": () => run(process.execPath, [tool("tsc"), "-p", "examples/tsconfig.json"], QUIET),
  "lint with type information": () => run(tool("oxlint"), [], QUIET),
  "format of TypeScript and JavaScript": () => run(tool("oxfmt"), ["--check", "."], QUIET),
  "names of functions, words of prose": () => run(process.execPath, ["scripts/names.mjs"], QUIET),
  "format of C++": () => run("clang-format", ["--dry-run", "--Werror", ...cppSources()], QUIET),
  "lock files free of registry addresses": lockFiles,
};

/** Runs them all, as many at a time as there are cores; a failed one does not hide the next. */
export async function checks() {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  await atOnce(Object.entries(commands), async ([name, check]) => {
    const { code } = await check();
    console.log(`${code === 0 ? "ok" : "FAILED"}: ${name}`);
    counts[code === 0 ? "passed" : "failed"] += 1;
  });
  return counts;
}

/** Does something with each, in order, with as many at a time as there are cores. */
async function atOnce(all, work) {
  const queue = [...all];
  const worker = async () => {
    while (queue.length > 0) await work(queue.shift());
  };
  await Promise.all(Array.from({ length: cores }, worker));
}

/** The folders with a lock file. */
const LOCKED = ["", "tests/e2e", "tests/package/runtimes"];

// An address would tie every clone to the registry of whoever ran `npm install` last.
async function lockFiles() {
  const tied = LOCKED.flatMap((folder) => {
    const path = join(folder, "package-lock.json");
    const { packages } = JSON.parse(readFileSync(join(root, path), "utf8"));
    return Object.keys(packages)
      .filter((name) => packages[name].resolved !== undefined)
      .map((name) => `${name} in ${path}`);
  });
  if (tied.length > 0) console.log(`there is "resolved" for ${tied.slice(0, 3).join(", ")}`);
  return { code: tied.length > 0 ? 1 : 0 };
}

/** Whether nothing is done briefly: the tests themselves ask for the same, in `tests/support/full.ts`. */
export const isFull = () => process.env.SLUICE_TESTS === "full";

/** Percent of the library's lines that its tests have to run. */
const WANTED = 85;

/**
 * The library and the command; in the full run with the lines that they run. In the brief one, many files in one
 * process, and a process more than cores: tests that start programs wait for them.
 */
export const libraryTests = () =>
  isFull() ? coveredLibraryTests() : vitest("library", { VITEST_MAX_WORKERS: String(cores + 1) }, ["--no-isolate"]);

async function coveredLibraryTests() {
  const { coverLibrary } = await import("./coverage-library.mjs");
  const report = freshReport("library");
  const { files, failed } = await coverLibrary(join(root, "coverage/library"), reporters(report));
  const counts = countVitest(report, failed);
  const lines = total(files);
  const isEnough = reaches(lines, WANTED);
  console.log(`${isEnough ? "ok" : "FAILED"}: ${percent(lines)} of the library's lines are run, ${WANTED} % is wanted`);
  counts[isEnough ? "passed" : "failed"] += 1;
  return counts;
}

/** What runs in browsers alone, in a real one. */
export const browserTests = () => vitest("browser");

/** The core, the library and the playground, of what is in the sources now: once, for all runners that use them. */
export const built = once(() => build().then(() => buildSite({ url: TEST_URL })));

/** The playground as it is built. */
export const siteTests = () => built().then(() => vitest("site", { SLUICE_SITE: "built" }));

/** The package as users get it. */
export const packageTests = () => built().then(() => vitest("package"));

function once(work) {
  let done;
  return () => (done ??= work());
}

/** Files whose names say that the full run alone has them. */
const BRIEF = ["--exclude", "**/*.full.test.ts"];

/** Seconds that Vitest may take, in the full run. */
const LONGEST = 3000;

/** A suite of the full run, at full length. */
export async function longSuite(name) {
  const { project } = SUITES[name];
  if (project === "site" || project === "package") await built();
  const env = { SLUICE_TESTS: "full", ...(project === "site" && { SLUICE_SITE: "built" }) };
  return vitest(project, env, listTests(name), `suite-${name}`);
}

async function vitest(project, env = {}, options = [], name = project) {
  const report = freshReport(name);
  const isBrief = !isFull() && env.SLUICE_TESTS !== "full";
  const args = ["run", `--project=${project}`, ...options, ...(isBrief ? BRIEF : []), ...reporters(report)];
  const { code } = await run(process.execPath, [tool("vitest"), ...args], { env, seconds: LONGEST });
  return countVitest(report, code !== 0);
}

/** Where a run leaves its report; what an earlier one left is taken away. */
function freshReport(project) {
  const file = join(root, "build/reports", `vitest-${project}.json`);
  rmSync(file, { force: true });
  return file;
}

const reporters = (file) => ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];

function countVitest(file, hasFailed) {
  if (!existsSync(file)) throw new Error("Vitest left no report");
  const report = JSON.parse(readFileSync(file, "utf8"));
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  // A file that cannot be loaded fails without having a failed test in it.
  const failed = report.numFailedTests || (hasFailed ? Math.max(1, report.numFailedTestSuites) : 0);
  return { passed, failed, skipped };
}

/** The preset of what runs natively: tests, and fuzzers for a short run. */
const NATIVE = "native-debug";

/** Natively, under AddressSanitizer and UndefinedBehaviorSanitizer. */
export const nativeTests = () => gtest(NATIVE, nativeBinary);

/** The same tests and the same core as WebAssembly. */
export const wasmTests = () => gtest("wasm-tests", wasmBinary);

const nativeBinary = (folder) => [join(folder, "sluice_tests")];
const wasmBinary = (folder) => [process.execPath, join(folder, "sluice_tests.cjs")];

/** Parts of the tests for each core, so that one with slow tests does not keep the others waiting. */
const SHARDS_EACH = 8;

async function gtest(preset, command) {
  await buildNative(preset, ["sluice_tests"]);
  const reports = join(root, "build/reports");
  mkdirSync(reports, { recursive: true });
  const binary = command(buildFolder(preset));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const shards = cores * SHARDS_EACH;
  await atOnce(Array(shards).keys(), async (shard) => {
    const each = await runShard(binary, join(reports, `${preset}-${shard}.json`), {
      GTEST_TOTAL_SHARDS: String(shards),
      GTEST_SHARD_INDEX: String(shard),
    });
    for (const key of Object.keys(counts)) counts[key] += each[key];
  });
  return counts;
}

async function runShard([program, ...args], report, shard) {
  rmSync(report, { force: true });
  const { code } = await run(program, [...args, "--gtest_brief=1", `--gtest_output=json:${report}`], {
    show: "failure",
    env: { UBSAN_OPTIONS: "print_stacktrace=1", ...shard },
  });
  const counts = existsSync(report) ? countReport(report) : { passed: 0, failed: 0, skipped: 0 };
  // A crash, or a leak found at exit, fails the run even where no single test did.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

function countReport(report) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const suites = JSON.parse(readFileSync(report, "utf8")).testsuites ?? [];
  for (const test of suites.flatMap((suite) => suite.testsuite)) {
    if (test.failures) counts.failed += 1;
    else if (test.result === "COMPLETED") counts.passed += 1;
    // Skipped by itself, or DISABLED_.
    else counts.skipped += 1;
  }
  return counts;
}

/** Seconds for each target. */
const secondsEach = () => Number(process.env.SLUICE_FUZZ_SECONDS ?? (isFull() ? 10 : 2));

/** Names of the targets: `gate` for tests/fuzz/gate_fuzz.cpp. */
export const fuzzTargets = () =>
  readdirSync(join(root, "tests/fuzz"))
    .filter((name) => name.endsWith("_fuzz.cpp"))
    .map((name) => name.replace("_fuzz.cpp", ""))
    .toSorted((a, b) => a.localeCompare(b, "en"));

/** A short run of each, as many at a time as there are cores, linked with what the tests are linked with. */
export async function fuzzers() {
  const targets = fuzzTargets();
  await buildNative(
    NATIVE,
    targets.map((target) => `${target}_fuzz`),
  );
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const seconds = secondsEach();
  await atOnce(targets, async (target) => {
    const { code, runs, output } = await fuzz(target, { preset: NATIVE, seconds, show: "none" });
    const good = code === 0 && runs > 0;
    // Without the hundreds of lines that tell of each new input.
    if (!good) console.log(output.replaceAll(/^#\d+.*\n/gm, ""));
    console.log(`${good ? "ok" : "FAILED"}: ${target}: ${runs} inputs in ${seconds} s`);
    counts[good ? "passed" : "failed"] += 1;
  });
  return counts;
}

/**
 * Runs one target of a preset. What it learns is kept in build/fuzz-corpus, seeds in tests/fuzz/corpus are only
 * read, and an input that fails is written to build/fuzz-failures.
 * @returns {Promise<{ code: number, output: string, runs: number }>} `runs` is the number of inputs tried
 */
export async function fuzz(target, { preset, seconds, show = "all", seed = 1 }) {
  const corpus = join(root, "build/fuzz-corpus", target);
  const failures = join(root, "build/fuzz-failures");
  const seeds = join(root, "tests/fuzz/corpus", target);
  const words = join(root, "tests/fuzz", `${target}.dict`);
  for (const folder of [corpus, failures]) mkdirSync(folder, { recursive: true });
  const args = [
    `-max_total_time=${seconds}`,
    `-seed=${seed}`,
    // An input that takes this long is a hang, even on a busy machine.
    "-timeout=30",
    "-rss_limit_mb=2048",
    "-print_final_stats=1",
    `-artifact_prefix=${failures}/${target}-`,
    ...(existsSync(words) ? [`-dict=${words}`] : []),
    corpus,
    ...(existsSync(seeds) ? [seeds] : []),
  ];
  const program = join(buildFolder(preset), "fuzz", `${target}_fuzz`);
  const { code, output } = await run(program, args, { show, seconds: seconds + 120 });
  return { code, output, runs: Number(/number_of_executed_units:\s*(\d+)/.exec(output)?.[1] ?? 0) };
}

/** Paths from the checkout's root of all `.h` and `.cpp` files under `folders`. */
export function cppSources(folders = ["wasm", "tests/cpp", "tests/fuzz"]) {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true })
        .filter((name) => /\.(h|cpp)$/.test(name))
        .map((name) => join(folder, name)),
    )
    .toSorted((a, b) => a.localeCompare(b, "en"));
}
