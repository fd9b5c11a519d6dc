/** What `main.mjs` counts: our files and functions that a call of `transform` runs, by V8's precise coverage of it: `small` or `stored`; `--list` names them. */
import { Session } from "node:inspector/promises";
import { createSluice, MemoryArtifactStore } from "../../dist/node.js";
import { pdfOf, resultOf, smallResult } from "./measure.mjs";

const RESULTS = {
  small: smallResult(),
  stored: JSON.parse(resultOf(pdfOf(1).subarray(0, 24_000))),
};
const dist = new URL("../../dist/", import.meta.url).href;
/** What Emscripten writes. */
const GLUE = /\/core\/[\w-]+\.mjs$/;
/** What sets the fields of a class is a function to V8 alone. */
const SYNTHETIC = /^<.*>$/;

const [which, list] = process.argv.slice(2);
const sluice = await createSluice({ store: new MemoryArtifactStore() });
const call = () => sluice.transform(RESULTS[which], { tool: "list_workbooks", namespace: "tableau" });
await call();

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await session.post("Profiler.takePreciseCoverage");
const { artifacts } = await call();
const { result } = await session.post("Profiler.takePreciseCoverage");
const run = {};
for (const { url, functions } of result) {
  if (!url.startsWith(dist) || GLUE.test(url)) continue;
  const names = functions.filter(({ ranges }) => ranges[0].count > 0).map(({ functionName }) => functionName);
  const own = names.filter((name) => !SYNTHETIC.test(name));
  if (own.length > 0) run[url.slice(dist.length)] = own;
}
if (list === "--list") console.error(run);
const files = Object.keys(run).length;
console.log(JSON.stringify({ files, functions: Object.values(run).flat().length, artifacts: artifacts.length }));
