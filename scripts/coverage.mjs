/**
 * `npm run coverage`: the core by its C++ tests (llvm-cov), the library and its command by theirs (V8). Prints a table for each,
 * writes pages to coverage/, and fails below the required share of lines.
 * @module
 */
import { isAbsolute, join, relative } from "node:path";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { promisify } from "node:util";
import { build, buildFolder, buildNative } from "./build.mjs";
import { percent, printTable, reaches, total } from "./coverage-table.mjs";
import { must, root, run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

const PRESET = "native-coverage";

/** Bytes of llvm-cov's report that are read at most: some fifty times what the core needs. */
const REPORT_LIMIT = 256 * 1024 * 1024;

/**
 * Builds and runs the tests, and writes pages to a folder.
 * @param {string} pages
 * @returns {Promise<import("./coverage-table.mjs").Coverage>}
 * @throws {Error} when the tests end before they leave a profile
 */
async function coverCore(pages) {
  await buildNative(PRESET, ["sluice_tests"]);
  const built = buildFolder(PRESET);
  const program = join(built, "sluice_tests");
  const [raw, profile] = [join(built, "tests.profraw"), join(built, "tests.profdata")];
  rmSync(raw, { force: true });
  const { code } = await run(program, ["--gtest_brief=1"], { show: "failure", env: { LLVM_PROFILE_FILE: raw } });
  await must(await llvm("llvm-profdata"), ["merge", "-sparse", raw, "-o", profile], { show: "failure" });
  const cov = await llvm("llvm-cov");
  // The core alone: neither the tests nor what they are made of.
  const what = [`-instr-profile=${profile}`, program, join(root, "wasm")];
  mkdirSync(pages, { recursive: true });
  const show = ["show", "-format=html", `-output-dir=${pages}`, ...what];
  await must(cov, show, { show: "failure" });
  const { stdout } = await promisify(execFile)(cov, ["export", "-format=lcov", ...what], { maxBuffer: REPORT_LIMIT });
  console.log(
    "Natively: what only WebAssembly compiles (SIMD128 twins, bindings) is not counted; " +
      "what only the compiler runs (constexpr) counts as not run.",
  );
  return { files: readLcov(stdout), failed: code !== 0 };
}

// The profile's format changes with the compiler's version, so the tools that came with it are taken. A name
// without a folder means: none there, look on the PATH.
async function llvm(name) {
  const { stdout } = await promisify(execFile)("clang++", [`-print-prog-name=${name}`]);
  return stdout.trim();
}

// SF:<file>, then DA:<line>,<count> for each line that holds code.
function readLcov(text) {
  return text
    .split("end_of_record")
    .map((record) => ({
      path: /^SF:(.+)$/m.exec(record)?.[1],
      lines: new Map([...record.matchAll(/^DA:(\d+),(\d+)/gm)].map(([, line, count]) => [Number(line), Number(count)])),
    }))
    .filter(({ path }) => path !== undefined)
    .map(({ path, lines }) => ({ path: isAbsolute(path) ? relative(root, path) : path, lines }));
}

/** Percent of the lines that tests have to run, on either side. */
const WANTED = 90;

await main(async () => {
  process.env.SLUICE_TESTS = "full";
  await setup("coverage");
  // Uses packages, which may not be there before.
  const { coverLibrary } = await import("./coverage-library.mjs");
  await build();
  rmSync(join(root, "coverage"), { recursive: true, force: true });
  const told = [];
  const faults = [];
  for (const [name, cover] of Object.entries({ core: coverCore, library: coverLibrary })) {
    console.log(`\n── ${name}`);
    const { files, failed } = await cover(join(root, "coverage", name));
    printTable(files);
    told.push(`${name} ${percent(total(files))}`);
    if (failed) faults.push(`tests of the ${name} failed, as shown above`);
    if (!reaches(total(files), WANTED)) faults.push(`less than ${WANTED} % of the ${name}`);
  }
  console.log(`\n${told.join(", ")} of lines`);
  for (const fault of faults) console.log(`FAILED: ${fault}`);
  return faults.length > 0 ? 1 : 0;
});
