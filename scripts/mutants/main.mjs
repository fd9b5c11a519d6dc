/**
 * How many small faults the tests notice: `npm run mutants -- [--seed N] [--count N] [--only FILE] [--out FILE]`.
 * Changes one place of a copy of the checkout at a time, runs the tests of its room, and names those that nothing noticed.
 * `--only` takes what `--out` wrote and tries its survivors alone: the way to see what other tests make of them.
 * @module
 */
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cppSources } from "../runners.mjs";
import { cores, root } from "../run.mjs";
import { main } from "../setup.mjs";
import { chosen, cppMutants, typeScriptMutants } from "./sites.mjs";

/** Rooms whose sources are changed, each as often as the others. */
const ROOMS = ["core", "artifacts", "mcp"];

/** The share of C++. */
const CPP_SHARE = 0.1;

/** Milliseconds after which tests that a change made hang have noticed it. */
const LIMIT = 300_000;

const listed = (...options) =>
  execFileSync("git", ["ls-files", ...options], { cwd: root, encoding: "utf8" }).split("\n");

/** What is not tracked and that tests need. */
const BUILT = [
  "dist",
  "tests/e2e/node_modules",
  ...listed("--others", "--ignored", "--exclude-standard", "web/src").filter((file) => file !== ""),
];

function wholeNumber(text) {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`"${text}" is no whole number.`);
  return Number(text);
}

function drawn(seed, count) {
  const cpp = Math.round(count * CPP_SHARE);
  const each = Math.round((count - cpp) / ROOMS.length);
  const inRooms = ROOMS.flatMap((room) =>
    chosen(
      sourcesOf(room).flatMap((file) => typeScriptMutants(root, file)),
      each,
      seed,
    ),
  );
  const sources = cppSources(["wasm/src"]).filter((file) => file.endsWith(".cpp"));
  return [
    ...inRooms,
    ...chosen(
      sources.flatMap((file) => cppMutants(root, file)),
      cpp,
      seed,
    ),
  ];
}

const sourcesOf = (room) => filesUnder(root, `web/src/${room}`, /(?<!\.d)\.m?ts$/).filter((file) => isTracked(file));

const filesUnder = (base, folder, name) =>
  readdirSync(join(base, folder), { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file}`)
    .filter((file) => name.test(file))
    .toSorted();

const tracked = new Set(listed());
const isTracked = (file) => tracked.has(file);

/** Those that no test notices; tried in as many copies of the checkout as there are cores. */
async function survivorsOf(mutants, folder) {
  const survivors = [];
  const queue = [...mutants];
  const work = async (name) => {
    const copy = copied(join(folder, name));
    if (name === "0") await unchanged(copy, mutants);
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const isNoticed = await noticed(copy, mutant);
      const place = `${mutant.file}:${mutant.line}`;
      console.log(`${isNoticed ? "noticed " : "SURVIVED"} ${place}: ${oneLine(mutant.was)} → ${oneLine(mutant.text)}`);
      if (!isNoticed) survivors.push(mutant);
    }
  };
  await Promise.all(Array.from({ length: cores }, (_, at) => work(String(at))));
  return survivors;
}

/** What fails as it is would notice everything. */
async function unchanged(copy, mutants) {
  for (const room of ROOMS.filter((name) => mutants.some(({ file }) => file.startsWith(`web/src/${name}/`)))) {
    const isGood = await vitestPasses(copy, filesUnder(copy, `tests/unit/${room}`, /\.test\.ts$/));
    if (!isGood) throw new Error(`The tests of ${room} fail without any change.`);
  }
}

const oneLine = (text) => text.replaceAll(/\s+/g, " ").slice(0, 60);

function copied(copy) {
  for (const file of [...tracked, ...BUILT]) {
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(copy, file), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  mkdirSync(join(copy, "build"));
  return copy;
}

async function noticed(copy, mutant) {
  const path = join(copy, mutant.file);
  const source = readFileSync(path, "utf8");
  writeFileSync(path, source.slice(0, mutant.start) + mutant.text + source.slice(mutant.end));
  try {
    return mutant.file.endsWith(".ts") ? await noticedByVitest(copy, mutant.file) : await noticedByGoogleTest(copy);
  } finally {
    writeFileSync(path, source);
  }
}

/** First the tests that import the file, which notice most, then the others of its room. */
async function noticedByVitest(copy, file) {
  const [, , room] = file.split("/");
  const tests = filesUnder(copy, `tests/unit/${room}`, /\.test\.ts$/);
  const imported = `${file.slice("web/src/".length, -3)}.js"`;
  const near = tests.filter((test) => readFileSync(join(copy, test), "utf8").includes(imported));
  const rest = tests.filter((test) => !near.includes(test));
  return (near.length > 0 && !(await vitestPasses(copy, near))) || !(await vitestPasses(copy, rest));
}

const vitestPasses = (copy, tests) =>
  passes(copy, process.execPath, [
    join(copy, "node_modules/vitest/vitest.mjs"),
    "run",
    "--project=library",
    "--bail=1",
    "--maxWorkers=1",
    ...tests,
  ]);

/** A change that does not compile is noticed by the compiler. */
async function noticedByGoogleTest(copy) {
  const folder = join(copy, "build/mutants");
  if (!existsSync(folder)) {
    await passes(copy, "cmake", [
      "-S",
      copy,
      "-B",
      folder,
      "-G",
      "Ninja",
      "-DCMAKE_BUILD_TYPE=Release",
      "-DSLUICE_TESTS=ON",
    ]);
  }
  const isBuilt = await passes(copy, "cmake", ["--build", folder, "--target", "sluice_tests"]);
  return !isBuilt || !(await passes(copy, join(folder, "sluice_tests"), ["--gtest_brief=1", "--gtest_fail_fast"]));
}

function passes(copy, command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: copy, stdio: "ignore", detached: true });
    const limit = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), LIMIT);
    const end = (code) => {
      clearTimeout(limit);
      resolve(code === 0);
    };
    child.once("error", () => end(1));
    child.once("exit", end);
  });
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      count: { type: "string", default: "300" },
      only: { type: "string" },
      out: { type: "string" },
    },
  });
  const [seed, count] = [values.seed, values.count].map(wholeNumber);
  const mutants = values.only === undefined ? drawn(seed, count) : JSON.parse(readFileSync(values.only, "utf8"));
  const folder = mkdtempSync(join(tmpdir(), "sluice-mutants-"));
  try {
    const survivors = await survivorsOf(mutants, folder);
    console.log(`\n${mutants.length - survivors.length} of ${mutants.length} noticed, seed ${seed}`);
    if (values.out !== undefined) writeFileSync(values.out, JSON.stringify(survivors, null, 2));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
});
