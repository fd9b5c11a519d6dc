/**
 * How long the command takes to begin.
 * @module
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../run.mjs";
import { median } from "./measure.mjs";

/** Milliseconds, at most. */
const LIMIT = 120;

/** Starting node with the command and nothing to do, in turn with starting node alone. */
export function commandStart(rounds) {
  const times = [];
  const bare = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(timed(["-e", "0"]));
    times.push(timed([join(root, "dist/cli/main.js"), "--version"]));
  }
  const time = median(times);
  const seen = `${time.toFixed(0)} ms, node alone ${median(bare).toFixed(0)}`;
  return { seen, bar: `< ${LIMIT} ms`, met: time < LIMIT, times };
}

function timed(args) {
  const from = performance.now();
  execFileSync(process.execPath, args);
  return performance.now() - from;
}
