/**
 * What the runners left in `build/reports`: how long each test took, and how each file of tests ended.
 * @module
 */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { root } from "./run.mjs";

const FOLDER = join(root, "build/reports");

/** Takes away what earlier runs left. */
export function clearReports() {
  rmSync(FOLDER, { recursive: true, force: true });
}

function readReports(prefix) {
  const names = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.startsWith(prefix)) : [];
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(FOLDER, name), "utf8")));
}

/** How each file of Vitest's ended. */
export function listFiles() {
  return readReports("vitest-")
    .flatMap(({ testResults }) => testResults)
    .map(({ name, status, startTime, endTime, assertionResults }) => ({
      path: relative(root, name).split(sep).join("/"),
      isGood: status === "passed",
      passed: assertionResults.filter((each) => each.status === "passed").length,
      seconds: (endTime - startTime) / 1000,
    }));
}

/** Each test with its seconds, the slowest first. */
export function listSlowest() {
  const ours = readReports("vitest-").flatMap(({ testResults }) =>
    testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, duration }) => ({
        test: `${relative(root, name)}: ${fullName.trim()}`,
        seconds: (duration ?? 0) / 1000,
      })),
    ),
  );
  const native = ["native-debug", "wasm-tests"].flatMap((preset) =>
    readReports(preset).flatMap(({ testsuites = [] }) =>
      testsuites.flatMap(({ testsuite }) =>
        testsuite.map(({ classname, name, time }) => ({
          test: `${preset}: ${classname}.${name}`,
          seconds: Number.parseFloat(time),
        })),
      ),
    ),
  );
  return [...ours, ...native].toSorted((one, other) => other.seconds - one.seconds);
}
