/**
 * `npm test`: sets up, builds, runs all runners, ends with one line of counts. What takes long is done briefly or skipped;
 * `npm run test:full` does all of it, and so does `npm test` where `CI` is `true` or `1`. Names behind `--` choose runners.
 * @module
 */
import {
  browserTests,
  built,
  checks,
  fuzzers,
  libraryTests,
  nativeTests,
  packageTests,
  siteTests,
  wasmTests,
} from "./runners.mjs";
import { main, setup } from "./setup.mjs";

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/** Whether nothing is done briefly. */
const full = process.argv.includes("--full") || /^(true|1)$/.test(process.env.CI ?? "");

/** In order: what fails fast comes first, and what is built is there for those behind it. @type {Record<string, { title: string, run: () => Promise<Counts> }>} */
const runners = {
  build: {
    title: "Core, library and playground",
    run: () => built().then(() => ({ passed: 1, failed: 0, skipped: 0 })),
  },
  checks: { title: "Types, lint, format", run: checks },
  vitest: { title: "Library and command", run: libraryTests },
  browser: { title: "Stores and elements in Chromium", run: browserTests },
  site: { title: "The playground, built, in Chromium", run: siteTests },
  package: { title: "The package, installed: Node, pages, workers", run: packageTests },
  native: { title: "C++ under ASan and UBSan", run: nativeTests },
  wasm: { title: "C++ as WebAssembly in node", run: wasmTests },
  fuzz: { title: "Fuzzers, a short run", run: fuzzers },
};

/** Runs one runner. One that crashes, or runs no test, has failed. */
async function count(title, run) {
  const start = Date.now();
  console.log(`\n── ${title}`);
  let counts = { passed: 0, failed: 1, skipped: 0 };
  try {
    counts = await run();
    if (counts.passed + counts.failed === 0) throw new Error("ran no test");
  } catch (error) {
    counts = { ...counts, failed: Math.max(1, counts.failed) };
    console.log(`${title}: ${error.message}`);
  }
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  console.log(`${counts.failed === 0 ? "ok" : "FAILED"}: ${title}: ${line(counts)} (${seconds} s)`);
  return counts;
}

const line = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

await main(async () => {
  const chosen = process.argv.slice(2).filter((word) => word !== "--full");
  const unknown = chosen.filter((name) => !Object.hasOwn(runners, name));
  if (unknown.length > 0) {
    throw new Error(`No runner is called ${unknown.join(", ")}: choose from ${Object.keys(runners).join(", ")}.`);
  }
  // What the tests themselves ask, in whatever process they run.
  if (full) process.env.SLUICE_TESTS = "full";
  await setup("test", { full });
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const name of Object.keys(runners).filter((each) => chosen.length === 0 || chosen.includes(each))) {
    const { title, run } = runners[name];
    const counts = await count(title, run);
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
  console.log(`\n${line(total)}`);
  return total.failed === 0 ? 0 : 1;
});
