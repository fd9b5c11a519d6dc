/**
 * `npm run bench:tools`: what is promised about ToolNode. `--quick` takes fewer rounds.
 * @module
 */
import { report } from "../report.mjs";
import { concurrent, connect, overhead, SERVERS } from "./sources.mjs";

const rounds = process.argv.includes("--quick") ? 3 : 9;

const steps = [
  { work: "connecting a local stdio server", measure: () => connect(SERVERS.small, rounds) },
  { work: "connecting server-everything", measure: () => connect(SERVERS.everything, rounds) },
  { work: "a call of 1 KB", measure: () => overhead(200 * rounds) },
  { work: "200 calls over a limit of 10", measure: () => concurrent(200) },
];

await report("bench-tools.json", rounds, steps);
