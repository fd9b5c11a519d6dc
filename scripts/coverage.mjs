/**
 * `npm run coverage`: the core by its C++ tests (llvm-cov), the library and its command by theirs (V8). Prints a table for each,
 * writes pages to coverage/, and fails below the required share of lines.
 * @module
 */
import { dirname, isAbsolute, join, relative } from "node:path";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { promisify } from "node:util";
import { build, buildFolder, buildNative } from "./build.mjs";
import { must, root, run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

/** Percent of its lines below which a file is named, with the lines that no test runs. */
const NAMED_BELOW = 85;

/** Stretches of lines told of one file; the pages show all. */
const STRETCHES = 12;

/**
 * @typedef {object} CoveredFile
 * @property {string} path from the checkout's root
 * @property {Map<number, number>} lines how often each line that holds code was run
 * @typedef {{ files: CoveredFile[], failed: boolean }} Coverage of one side; `failed`: some test of it did
 * @typedef {{ lines: number, covered: number }} Total
 */

/**
 * @param {CoveredFile[]} files
 * @returns {Total}
 */
function total(files) {
  const counts = files.flatMap((file) => [...file.lines.values()]);
  return { lines: counts.length, covered: counts.filter((count) => count > 0).length };
}

/**
 * Whether tests run at least this percentage of the lines.
 * @param {Total} total
 */
const reaches = ({ lines, covered }, wanted) => covered * 100 >= lines * wanted;

/**
 * `94.3 %`, rounded down: what is too little never looks as if it were enough.
 * @param {Total} total
 */
function percent({ lines, covered }) {
  const tenths = lines === 0 ? 1000 : Math.floor((covered * 1000) / lines);
  return `${(tenths / 10).toFixed(1)} %`;
}

/** @param {CoveredFile[]} files */
function printTable(files) {
  const sorted = files.toSorted((a, b) => a.path.localeCompare(b.path, "en"));
  const folders = [...new Set(sorted.map(({ path }) => dirname(path)))];
  const width = Math.max(...folders.map((folder) => folder.length));
  const row = (name, lines, covered, share) =>
    console.log([name.padEnd(width), lines.padStart(7), covered.padStart(7), share.padStart(8)].join("  "));
  const counted = (name, within) => {
    const sum = total(within);
    row(name, String(sum.lines), String(sum.covered), percent(sum));
  };
  row("folder", "lines", "run", "share");
  for (const folder of folders) {
    counted(
      folder,
      sorted.filter(({ path }) => dirname(path) === folder),
    );
  }
  counted("total", sorted);
  for (const file of sorted.filter((one) => !reaches(total([one]), NAMED_BELOW))) {
    console.log(`${file.path}: ${percent(total([file]))}, not run: ${notRun(file.lines)}`);
  }
}

// `3-7, 12`: lines without code neither end a stretch nor are one.
function notRun(lines) {
  const stretches = [];
  let open;
  for (const [line, count] of [...lines].toSorted(([a], [b]) => a - b)) {
    if (count > 0) open = undefined;
    else if (open === undefined) stretches.push((open = { from: line, to: line }));
    else open.to = line;
  }
  const told = stretches.slice(0, STRETCHES).map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
  return [...told, ...(stretches.length > STRETCHES ? ["…"] : [])].join(", ");
}

const PRESET = "native-coverage";

/** Bytes of llvm-cov's report that are read at most: some fifty times what the core needs. */
const REPORT_LIMIT = 256 * 1024 * 1024;

/**
 * Builds and runs the tests, and writes pages to a folder.
 * @param {string} pages
 * @returns {Promise<import("./coverage.mjs").Coverage>}
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
