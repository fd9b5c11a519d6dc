/**
 * `npm run bench`: the numbers of the README, as a table and in `build/bench.json`. What is compared runs in turn, so that a ratio
 * holds when the speed of the machine drifts. `--quick` runs fewer rounds.
 * @module
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { createSluice, MemoryArtifactStore } from "../../dist/node.js";
import { root } from "../run.mjs";
import { BUDGETS, coreBrotli, coreSize, kilo } from "../size.mjs";
import { documents, gateAlone } from "./gate.mjs";
import { apart, median, report, smallResult } from "./measure.mjs";

/** Least ratio of the plain time to ours. */
const RATIO = 2.5;

/** Most growth of the process, in MiB. */
const GROWTH = 40;

/** Time of both ways in turn, each round in a process of its own. */
async function compareBytes(mebibytes, rounds) {
  const times = await apart("bytes-child.mjs", "compare", mebibytes, rounds);
  const ratios = times.map(({ plain, ours }) => plain / ours);
  const ratio = median(ratios);
  const ours = median(times.map((time) => time.ours));
  const plain = median(times.map((time) => time.plain));
  return {
    seen: `${ratio.toFixed(2)} × faster (${ours.toFixed(0)} ms against ${plain.toFixed(0)} ms)`,
    bar: `≥ ${RATIO} ×`,
    met: ratio >= RATIO,
    ratio,
    ratios,
    ours,
    plain,
  };
}

/** How much the process grew while a document was fed that was made as it went. */
async function growth(mebibytes) {
  const { grown } = await apart("bytes-child.mjs", "grow", mebibytes);
  const mib = grown / 1048576;
  return { seen: `+${mib.toFixed(1)} MiB`, bar: `< ${GROWTH} MiB`, met: mib < GROWTH, mib };
}

/** Microseconds, at most. */
const SMALL_LIMITS = { observation: 30, mcp: 12 };
const CALLS = 3000;

/** Median time of `transform` on a 2 KB CallToolResult, both dialects, and of its text parsed and written again, which tells the machine. */
async function small() {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const result = smallResult();
  const medians = {};
  for (const dialect of ["observation", "mcp"]) {
    const times = [];
    for (let call = 0; call < CALLS; call += 1) {
      const start = performance.now();
      await sluice.transform(result, { tool: "list_workbooks", namespace: "tableau", dialect });
      times.push((performance.now() - start) * 1000);
    }
    medians[dialect] = median(times.slice(CALLS / 10));
  }
  const text = JSON.stringify(result);
  const plain = [];
  for (let call = 0; call < CALLS; call += 1) {
    const start = performance.now();
    JSON.stringify(JSON.parse(text));
    plain.push((performance.now() - start) * 1000);
  }
  medians.plain = median(plain.slice(CALLS / 10));
  return {
    seen: `${medians.observation.toFixed(0)} µs observation, ${medians.mcp.toFixed(0)} µs mcp; JSON.parse and JSON.stringify take ${medians.plain.toFixed(0)}`,
    bar: `≤ ${SMALL_LIMITS.observation} µs, ≤ ${SMALL_LIMITS.mcp} µs`,
    met: Object.entries(SMALL_LIMITS).every(([dialect, limit]) => medians[dialect] <= limit),
    bytes: text.length,
    ...medians,
  };
}

/** Files and functions of ours, at most. */
const PATHS = { small: { files: 6, functions: 30 }, stored: { files: 15, functions: 80 } };

/** How long the way of one call is, by the files and functions of ours that it runs. */
async function path(which) {
  const { files, functions } = await apart("path-child.mjs", which);
  const bar = PATHS[which];
  return {
    seen: `${files} files, ${functions} functions`,
    bar: `≤ ${bar.files} files, ${bar.functions} functions`,
    met: files <= bar.files && functions <= bar.functions,
    files,
    functions,
  };
}

/** Milliseconds, at most. */
const FIRST_USE_LIMIT = 80;

/** Loading the library, compiling the core and one transform, each round in a process of its own. */
async function firstUse(rounds) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) times.push((await apart("first-use-child.mjs")).time);
  const time = median(times);
  return { seen: `${time.toFixed(0)} ms`, bar: `< ${FIRST_USE_LIMIT} ms`, met: time < FIRST_USE_LIMIT, times };
}

/** Milliseconds over starting node alone, at most. */
const START_LIMIT = 25;

/** Starting node with the command and nothing to do, in turn with starting node alone. */
function commandStart(rounds) {
  const times = [];
  const bare = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(timed(["-e", "0"]));
    times.push(timed([join(root, "dist/cli/main.js"), "--version"]));
  }
  const more = median(times.map((time, round) => time - bare[round]));
  const seen = `${more.toFixed(0)} ms over node alone, which takes ${median(bare).toFixed(0)}`;
  return { seen, bar: `≤ ${START_LIMIT} ms`, met: more <= START_LIMIT, times, bare };
}

function timed(args) {
  const from = performance.now();
  execFileSync(process.execPath, args);
  return performance.now() - from;
}

/** The same rows through the gate and answered, against `JSON.parse` and `JSON.stringify` of the same. */
async function manyRows(rounds) {
  const bytes = documents["12,000 rows"].bytes();
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const decoder = new TextDecoder();
  const times = [];
  for (let round = -2; round < rounds * 5; round += 1) {
    const start = performance.now();
    const stream = sluice.open({ namespace: "bench" });
    await stream.write(bytes);
    await stream.close();
    const middle = performance.now();
    JSON.stringify(JSON.parse(decoder.decode(bytes)));
    if (round >= 0) times.push({ ours: middle - start, plain: performance.now() - middle });
  }
  const ratio = median(times.map(({ ours, plain }) => plain / ours));
  return {
    seen: `${ratio.toFixed(2)} × faster (${median(times.map(({ ours }) => ours)).toFixed(1)} ms)`,
    bar: "> 1 ×",
    met: ratio > 1,
    bytes: bytes.length,
    ratio,
  };
}

/** Bytes of module and glue, gzipped, and with Brotli. */
function size() {
  const [gzipped, brotli] = [coreSize(), coreBrotli()];
  return {
    seen: `${kilo(gzipped)} gzipped, ${kilo(brotli)} with Brotli`,
    bar: `< ${kilo(BUDGETS.core)}`,
    met: gzipped < BUDGETS.core,
    gzipped,
    brotli,
  };
}

const rounds = process.argv.includes("--quick") ? 3 : 9;

const steps = [
  { work: "64 MiB of bytes, stored and hashed", measure: () => compareBytes(64, rounds) },
  { work: "memory at 64 MiB", measure: () => growth(64) },
  { work: "memory at 256 MiB", measure: () => growth(256) },
  { work: "2 KB that needs nothing", measure: () => small() },
  { work: "way of 2 KB that needs nothing", measure: () => path("small") },
  { work: "way of a file that is stored", measure: () => path("stored") },
  { work: "first use", measure: () => firstUse(rounds) },
  { work: "start of the command", measure: () => commandStart(rounds) },
  ...Object.entries(documents).map(([name, document]) => ({
    work: `gate alone: ${name}`,
    measure: () => gateAlone(document, rounds),
  })),
  { work: "12,000 rows, answered", measure: () => manyRows(rounds) },
  { work: "module and glue", measure: () => size() },
];

await report("bench.json", rounds, steps);
