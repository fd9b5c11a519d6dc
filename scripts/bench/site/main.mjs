/**
 * `npm run bench:site`: what is promised about the playground. `--quick` takes fewer rounds.
 * @module
 */
import { report } from "../report.mjs";
import { firstVisit } from "./visits.mjs";

const rounds = process.argv.includes("--quick") ? 3 : 9;
const visit = await firstVisit(rounds);

await report("bench-site.json", rounds, [
  { work: "the page can be seen and used", measure: () => visit.shell },
  { work: "the first result is on screen", measure: () => visit.result },
  { work: "the page, gzipped", measure: () => visit.page },
  { work: "all before the first result, gzipped", measure: () => visit.all },
]);
