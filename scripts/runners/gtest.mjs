/**
 * The C++ tests: one GoogleTest binary, counted from its reports.
 * @module
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildFolder, buildNative } from "../build.mjs";
import { cores, root, run } from "../run.mjs";

/** Natively, under AddressSanitizer and UndefinedBehaviorSanitizer. */
export const nativeTests = () => gtest("native-debug", nativeBinary, cores);

/** The same tests and the same core as WebAssembly; it sees no environment, so there are no shards. */
export const wasmTests = () => gtest("wasm-tests", wasmBinary, 1);

const nativeBinary = (folder) => [join(folder, "sluice_tests")];
const wasmBinary = (folder) => [process.execPath, join(folder, "sluice_tests.cjs")];

async function gtest(preset, command, shards) {
  await buildNative(preset, ["sluice_tests"]);
  const reports = join(root, "build/reports");
  mkdirSync(reports, { recursive: true });
  const binary = command(buildFolder(preset));
  const counts = await Promise.all(
    Array.from({ length: shards }, (_, shard) =>
      runShard(binary, join(reports, `${preset}-${shard}.json`), {
        GTEST_TOTAL_SHARDS: String(shards),
        GTEST_SHARD_INDEX: String(shard),
      }),
    ),
  );
  return counts.reduce((sum, { passed, failed, skipped }) => ({
    passed: sum.passed + passed,
    failed: sum.failed + failed,
    skipped: sum.skipped + skipped,
  }));
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
