/**
 * The numbers of the README, measured: a table, and `build/bench.json`. What is compared runs in turn in one go,
 * so that a ratio holds when the machine's speed drifts. `--quick` takes fewer rounds.
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { root } from "../run.mjs";
import { compareBytes, growth } from "./bytes.mjs";
import { commandStart } from "./command-start.mjs";
import { firstUse } from "./first-use.mjs";
import { size } from "./module-size.mjs";
import { rows } from "./rows.mjs";
import { small } from "./small.mjs";

const rounds = process.argv.includes("--quick") ? 3 : 9;

const steps = [
  { work: "64 MiB of bytes, stored and hashed", measure: () => compareBytes(64, rounds) },
  { work: "memory at 64 MiB", measure: () => growth(64) },
  { work: "memory at 256 MiB", measure: () => growth(256) },
  { work: "2 KB that needs nothing", measure: () => small() },
  { work: "first use", measure: () => firstUse(rounds) },
  { work: "start of the command", measure: () => commandStart(rounds) },
  { work: "12,000 rows", measure: () => rows(rounds) },
  { work: "module and glue", measure: () => size() },
];

const results = [];
for (const { work, measure } of steps) {
  process.stderr.write(`measuring ${work} …\n`);
  results.push({ work, ...(await measure()) });
}

print(results);
const report = { when: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model, rounds, results };
mkdirSync(join(root, "build"), { recursive: true });
writeFileSync(join(root, "build/bench.json"), `${JSON.stringify(report, null, 2)}\n`);

/** One row for each measurement: what was seen, the bar, whether it was met. */
function print(measured) {
  const head = ["work", "seen", "bar", ""];
  const lines = measured.map(({ work, seen, bar, met }) => [work, seen, bar, met ? "met" : "NOT met"]);
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column].length)));
  for (const line of [head, ...lines])
    console.log(
      line
        .map((cell, i) => cell.padEnd(widths[i]))
        .join("  ")
        .trimEnd(),
    );
}
