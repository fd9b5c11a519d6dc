/**
 * What takes too long for `npm test`: suites that `npm run test:full` runs. `tests/full-run.json`, which is committed, says of each
 * which sources it last passed for, so that `npm test` can tell which are stale and a release refuses them. And which runners of
 * `npm test` have passed for the sources of this clone, so that a brief run can leave them out.
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./run.mjs";

/** Where it is written down. */
const RECORD = "tests/full-run.json";

/** Rooms of the library, from the ground up. */
const ROOMS =
  "errors json config telemetry artifacts query core redis http jsonrpc documents mcp tools planner files server cli".split(
    " ",
  );

/** The sources of a room and of all below it. */
const upTo = (room) => ROOMS.slice(0, ROOMS.indexOf(room) + 1).map((each) => `web/src/${each}`);

const PAGES = ["web/ui", "web/playground"];

/** What every suite depends on. */
const COMMON = ["wasm", "tests/support", "package-lock.json", "vitest.config.ts"];

/**
 * Each suite: its project of Vitest, the folders of its `*.full.test.ts`, and the sources that it covers. A file belongs to the first
 * whose folder it is in. `properties` are all other tests, with as many draws and rounds as the full run has.
 * @type {Record<string, { title: string, project: string, folders: string[], covers: string[] }>}
 */
export const SUITES = {
  stores: { title: "Stores", project: "library", folders: ["tests/unit/artifacts/"], covers: upTo("artifacts") },
  files: {
    title: "Users' files",
    project: "library",
    folders: ["tests/unit/files/", "tests/unit/tools/user-files/"],
    covers: upTo("files"),
  },
  serve: {
    title: "sluice serve",
    project: "library",
    folders: ["tests/unit/server/", "tests/unit/cli/serve/"],
    covers: upTo("cli"),
  },
  command: { title: "The command", project: "library", folders: ["tests/unit/cli/"], covers: upTo("cli") },
  servers: { title: "Real servers and hosts", project: "library", folders: ["tests/e2e/"], covers: upTo("cli") },
  library: { title: "The rest of the library", project: "library", folders: ["tests/unit/"], covers: upTo("cli") },
  properties: { title: "Property tests at full length", project: "library", folders: [], covers: upTo("cli") },
  browser: {
    title: "Elements in Chromium",
    project: "browser",
    folders: ["tests/browser/"],
    covers: [...upTo("mcp"), ...PAGES],
  },
  site: {
    title: "The playground in Chromium",
    project: "site",
    folders: ["tests/site/"],
    covers: [...upTo("cli"), ...PAGES],
  },
  package: {
    title: "The package in other runtimes",
    project: "package",
    folders: ["tests/package/"],
    covers: [...upTo("cli"), ...PAGES, "scripts", "package.json"],
  },
};

/** @typedef {{ tree: string, date: string, seconds: number, passed: number }} Passed */

/** What was written down. @returns {Partial<Record<string, Passed>>} */
function readRecord() {
  const path = join(root, RECORD);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}

/** Files below some paths that git tracks, or would. */
function listFiles(paths) {
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...paths];
  const listed = execFileSync("git", words, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 });
  return [...new Set(listed.split("\0"))].filter((path) => path !== "" && existsSync(join(root, path))).toSorted();
}

const isFull = (path) => path.endsWith(".full.test.ts");

/** The suite of a test file that takes long, or of any other at full length. */
function findSuite(path) {
  if (!isFull(path)) return "properties";
  return Object.keys(SUITES).find((name) => SUITES[name].folders.some((folder) => path.startsWith(folder)));
}

/** The test files of a suite. */
export function listTests(name) {
  const { project, folders } = SUITES[name];
  const from = folders.length === 0 ? ["tests/unit/", "tests/e2e/"] : folders;
  const tests = listFiles(from).filter((path) => path.endsWith(".test.ts") && !path.includes("/node_modules/"));
  return project === "library" || folders.length > 0 ? tests.filter((path) => findSuite(path) === name) : tests;
}

/** A hash of all that a suite covers. */
function hashTree(name) {
  const tests = name === "properties" ? ["tests/unit"] : SUITES[name].folders;
  return hashFiles([...COMMON, ...SUITES[name].covers, ...tests]);
}

/** A hash of all files below some paths, as they are in the working tree. */
function hashFiles(paths) {
  const hash = createHash("sha256");
  for (const path of listFiles(paths)) {
    hash.update(
      `${path}\0${createHash("sha256")
        .update(readFileSync(join(root, path)))
        .digest("hex")}\n`,
    );
  }
  return hash.digest("hex").slice(0, 32);
}

/**
 * The suites whose sources have changed since they last passed.
 * @returns {{ name: string, title: string, last: Passed | undefined }[]}
 */
export function findStaleSuites() {
  const record = readRecord();
  return Object.entries(SUITES)
    .map(([name, { title }]) => ({ name, title, last: record[name] }))
    .filter(({ name, last }) => last?.tree !== hashTree(name));
}

/** What is said of a suite that is stale. */
export function describeStale({ name, title, last }) {
  const when = last === undefined ? "has never passed" : `last passed on ${last.date}, in ${last.seconds} s`;
  return `${name} (${title}): ${when}`;
}

/**
 * Writes down which suites have passed.
 * @param {{ path: string, passed: number, isGood: boolean, seconds: number }[]} files each test file that ran at full length
 * @returns {string[]} their names
 */
export function recordPassed(files) {
  const ran = new Map(files.map((file) => [file.path, file]));
  const record = readRecord();
  const good = Object.keys(SUITES).filter((name) => {
    const tests = listTests(name);
    return tests.length > 0 && tests.every((path) => ran.get(path)?.isGood === true);
  });
  for (const name of good) {
    const own = listTests(name).map((path) => ran.get(path));
    const sum = (value) => own.reduce((all, file) => all + value(file), 0);
    record[name] = {
      tree: hashTree(name),
      date: new Date().toISOString().slice(0, 10),
      seconds: Math.ceil(sum(({ seconds }) => seconds)),
      passed: sum(({ passed }) => passed),
    };
  }
  const ordered = Object.fromEntries(
    Object.keys(SUITES).flatMap((name) => (record[name] ? [[name, record[name]]] : [])),
  );
  writeFileSync(join(root, RECORD), `${JSON.stringify(ordered, null, 2)}\n`);
  return good;
}

/** Where is written down, in this clone alone, for which sources runners of `npm test` have passed. */
const PASSED_HERE = join(root, "build/passed-runners.json");

/** The runners that a brief run leaves out where they have passed, by what each covers. The others cover nearly everything. */
const COVERED = {
  browser: [...COMMON, ...upTo("mcp"), ...PAGES, "tests/browser"],
  native: ["wasm", "tests/cpp", "tests/fuzz", "cmake", "CMakeLists.txt", "CMakePresets.json"],
};

/** @returns {Record<string, string>} */
function readPassedHere() {
  try {
    return JSON.parse(readFileSync(PASSED_HERE, "utf8"));
  } catch {
    // There is none, or a run was killed while it wrote it: then every runner runs.
    return {};
  }
}

/** A hash of what a runner covers, as it is in the working tree. Undefined for a runner that is never left out. */
export function hashRunner(name) {
  return Object.hasOwn(COVERED, name) ? hashFiles(COVERED[name]) : undefined;
}

/** Whether a runner has passed for the sources as they are. */
export function hasPassed(name) {
  const hash = hashRunner(name);
  return hash !== undefined && readPassedHere()[name] === hash;
}

/** Writes down that a runner has passed for the sources that had this hash when it began. */
export function keepPassed(name, hash) {
  if (hash === undefined) return;
  mkdirSync(dirname(PASSED_HERE), { recursive: true });
  writeFileSync(PASSED_HERE, `${JSON.stringify({ ...readPassedHere(), [name]: hash }, null, 2)}\n`);
}
