/**
 * The numbers of the README, measured: a table, and `build/bench.json`. What is compared runs in turn in one go,
 * so that a ratio holds when the machine's speed drifts. `--quick` takes fewer rounds.
 * @module
 */
import { compareBytes, growth } from "./bytes.mjs";
import { commandStart } from "./command-start.mjs";
import { firstUse } from "./first-use.mjs";
import { size } from "./module-size.mjs";
import { report } from "./report.mjs";
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

await report("bench.json", rounds, steps);
