/**
 * Measures one thing after the other, prints a table, and keeps what was seen in `build/`.
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { root } from "../run.mjs";

/** @param {readonly { work: string, measure: () => object | Promise<object> }[]} steps */
export async function report(file, rounds, steps) {
  const results = [];
  for (const { work, measure } of steps) {
    process.stderr.write(`measuring ${work} …\n`);
    results.push({ work, ...(await measure()) });
  }
  print(results);
  const all = { when: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model, rounds, results };
  mkdirSync(join(root, "build"), { recursive: true });
  writeFileSync(join(root, "build", file), `${JSON.stringify(all, null, 2)}\n`);
}

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
