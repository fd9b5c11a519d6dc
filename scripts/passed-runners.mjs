/**
 * Which sources a runner of `npm test` last passed for in this clone: a brief run leaves one out whose sources have not changed since.
 * @module
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./run.mjs";
import { COVERED_BY_BROWSER, hashFiles } from "./suites.mjs";

const RECORD = join(root, "build/passed-runners.json");

/** The runners that are left out, by what each covers. The others cover nearly everything. */
const COVERS = {
  browser: COVERED_BY_BROWSER,
  native: ["wasm", "tests/cpp", "tests/fuzz", "cmake", "CMakeLists.txt", "CMakePresets.json"],
};

/** @returns {Record<string, string>} */
function readRecord() {
  return existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, "utf8")) : {};
}

/** Whether a runner has passed for the sources as they are. */
export function hasPassed(name) {
  return Object.hasOwn(COVERS, name) && readRecord()[name] === hashFiles(COVERS[name]);
}

/** Writes down that a runner has passed. */
export function keepPassed(name) {
  if (!Object.hasOwn(COVERS, name)) return;
  mkdirSync(dirname(RECORD), { recursive: true });
  writeFileSync(RECORD, `${JSON.stringify({ ...readRecord(), [name]: hashFiles(COVERS[name]) }, null, 2)}\n`);
}
