/**
 * Checks of the sources themselves; each counts as one test.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, run, tool } from "../run.mjs";
import { cppSources } from "../sources.mjs";

/** What is checked, and the command that does it. */
const commands = {
  "types of sources and tests": () => run(process.execPath, [tool("tsc"), "-p", "tsconfig.json"]),
  "types of what runs in browsers": () => run(process.execPath, [tool("tsc"), "-p", "tsconfig.web.json"]),
  "types of the examples": () => run(process.execPath, [tool("tsc"), "-p", "examples/tsconfig.json"]),
  "lint with type information": () => run(tool("oxlint"), []),
  "format of TypeScript and JavaScript": () => run(tool("oxfmt"), ["--check", "."]),
  "format of C++": () => run("clang-format", ["--dry-run", "--Werror", ...cppSources()]),
  "lock file free of registry addresses": lockFile,
  "documentation: docstrings and links": () => run(process.execPath, ["scripts/docs.mjs"]),
};

/** Runs them all; a failed one does not hide the next. */
export async function checks() {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, check] of Object.entries(commands)) {
    const { code } = await check();
    console.log(`${code === 0 ? "ok" : "FAILED"}: ${name}`);
    counts[code === 0 ? "passed" : "failed"] += 1;
  }
  return counts;
}

// An address would tie every clone to the registry of whoever ran `npm install` last.
async function lockFile() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const tied = Object.keys(packages).filter((name) => packages[name].resolved !== undefined);
  if (tied.length > 0) console.log(`package-lock.json has "resolved" for ${tied.slice(0, 3).join(", ")}`);
  return { code: tied.length > 0 ? 1 : 0 };
}
