/**
 * The fifteen things that a first-time visitor checks, by the site's tests that have their tags: how many pass, and the worst of each
 * number that they measured.
 * @module
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runnerImport } from "vite";
import { root, run, tool } from "../../run.mjs";

const { CHECKS } = (await runnerImport(join(root, "tests/site/visitor-checks.ts"))).module;

/** Seconds that all of them may take. */
const LONGEST = 3600;

/**
 * One row for each check.
 * @param {readonly object[]} elsewhere measurements, as tests/site/measured.ts has them, that were made by something else
 */
export async function checks(elsewhere) {
  const tests = await tested();
  const measurements = [...elsewhere, ...tests.flatMap(({ meta }) => meta.measurements ?? [])];
  return Object.entries(CHECKS).map(([tag, name]) => {
    const own = tests.filter(({ tags }) => tags.includes(tag));
    const passed = own.filter(({ status }) => status === "passed").length;
    const numbers = worst(measurements.filter(({ check }) => check === tag));
    return {
      work: `${tag.replace("check-", "")}. ${name}`,
      seen: [
        ...numbers.map((each) => `${each.what}: ${amount(each.seen, each)}`),
        `${passed} of ${own.length} tests`,
      ].join("; "),
      bar: [...numbers.map((each) => amount(each.most ?? each.least, each)), "all"].join("; "),
      met: own.length > 0 && passed === own.length && numbers.every(isMet),
      numbers,
    };
  });
}

/** The tests of all checks, one file after the other: what takes time is measured. */
async function tested() {
  const report = join(root, "build/reports/bench-site.json");
  rmSync(report, { force: true });
  const args = [
    "--tags-filter=check-*",
    "--no-file-parallelism",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ];
  await run(process.execPath, [tool("vitest"), "run", "--project=site", ...args], {
    show: "failure",
    env: { SLUICE_SITE: "built", SLUICE_TESTS: "full" },
    seconds: LONGEST,
  });
  if (!existsSync(report)) throw new Error("Vitest left no report");
  return JSON.parse(readFileSync(report, "utf8")).testResults.flatMap(({ assertionResults }) => assertionResults);
}

/** Of all measurements of one thing, the one furthest from what it should be, in the order in which they began. */
function worst(measurements) {
  const found = new Map();
  for (const each of measurements) {
    const other = found.get(each.what);
    if (other === undefined || (each.most === undefined ? each.seen < other.seen : each.seen > other.seen))
      found.set(each.what, each);
  }
  return [...found.values()];
}

const isMet = ({ seen, most = Infinity, least = -Infinity }) => seen <= most && seen >= least;

const amount = (number, { unit }) => `${number.toLocaleString("en")} ${unit}`.trim();
