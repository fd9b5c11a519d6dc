/**
 * The libFuzzer targets; a run of one target counts as one test.
 * @module
 */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildFolder, buildNative } from "../build.mjs";
import { cores, root, run } from "../run.mjs";

/** Seconds for each target in `npm test`. */
const SHORT = Number(process.env.SLUICE_FUZZ_SECONDS ?? 10);

/** Names of the targets: `gate` for tests/fuzz/gate_fuzz.cpp. */
export const fuzzTargets = () =>
  readdirSync(join(root, "tests/fuzz"))
    .filter((name) => name.endsWith("_fuzz.cpp"))
    .map((name) => name.replace("_fuzz.cpp", ""))
    .toSorted((a, b) => a.localeCompare(b, "en"));

/** A short run of each, as many at a time as there are cores. */
export async function fuzzers() {
  const targets = fuzzTargets();
  await buildNative(
    "native-fuzz",
    targets.map((target) => `${target}_fuzz`),
  );
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const queue = [...targets];
  const worker = async () => {
    for (let target = queue.shift(); target !== undefined; target = queue.shift()) {
      const { code, runs, output } = await fuzz(target, { seconds: SHORT, show: "none" });
      const good = code === 0 && runs > 0;
      // Without the hundreds of lines that tell of each new input.
      if (!good) console.log(output.replaceAll(/^#\d+.*\n/gm, ""));
      console.log(`${good ? "ok" : "FAILED"}: ${target}: ${runs} inputs in ${SHORT} s`);
      counts[good ? "passed" : "failed"] += 1;
    }
  };
  await Promise.all(Array.from({ length: cores }, worker));
  return counts;
}

/**
 * Runs one target. What it learns is kept in build/fuzz-corpus, seeds in tests/fuzz/corpus are only
 * read, and an input that fails is written to build/fuzz-failures.
 * @returns {Promise<{ code: number, output: string, runs: number }>} `runs` is the number of inputs tried
 */
export async function fuzz(target, { seconds, show = "all", seed = 1 }) {
  const corpus = join(root, "build/fuzz-corpus", target);
  const failures = join(root, "build/fuzz-failures");
  const seeds = join(root, "tests/fuzz/corpus", target);
  const words = join(root, "tests/fuzz", `${target}.dict`);
  for (const folder of [corpus, failures]) mkdirSync(folder, { recursive: true });
  const args = [
    `-max_total_time=${seconds}`,
    `-seed=${seed}`,
    // An input that takes this long is a hang, even on a busy machine.
    "-timeout=30",
    "-rss_limit_mb=2048",
    "-print_final_stats=1",
    `-artifact_prefix=${failures}/${target}-`,
    ...(existsSync(words) ? [`-dict=${words}`] : []),
    corpus,
    ...(existsSync(seeds) ? [seeds] : []),
  ];
  const program = join(buildFolder("native-fuzz"), "fuzz", `${target}_fuzz`);
  const { code, output } = await run(program, args, { show, seconds: seconds + 120 });
  return { code, output, runs: Number(/number_of_executed_units:\s*(\d+)/.exec(output)?.[1] ?? 0) };
}
