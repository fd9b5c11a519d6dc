/**
 * `npm run bench:shapes -- --against FOLDER/dist`: whole calls of many shapes in both dialects, by this build and by an earlier one of
 * another checkout, in turn in one process. Says which shapes have become slower. Without an earlier build the other side is
 * `JSON.parse` and `JSON.stringify` of the same bytes. `--seed` draws other shapes; `--write` puts the table into the documentation.
 * @module
 */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { root } from "../../run.mjs";
import { keep, lowerQuartile, markdown, writeDown } from "../measure.mjs";
import { shapesOf } from "./documents.mjs";

/** What may be noise. */
const SLOWER = 1.1;

/** Microseconds of CPU time that are measured at a time, at least, and calls at most. */
const BATCH = 10_000;
const MOST_CALLS = 500;

/** Calls at a time that store nothing: one alone is too short to be measured. */
const BURST = 20;

const DIALECTS = ["observation", "mcp"];

const { values } = parseArgs({
  options: {
    against: { type: "string" },
    quick: { type: "boolean" },
    seed: { type: "string", default: "1" },
    write: { type: "boolean" },
  },
});
const rounds = values.quick ? 5 : 15;

/** One build of the library: reduces bytes, and gives the ids of what was stored. */
async function build(dist) {
  const { createSluice, MemoryArtifactStore } = await import(pathToFileURL(join(dist, "node.js")).href);
  const store = new MemoryArtifactStore({ retention: null });
  const sluice = await createSluice({ store });
  return {
    async call(bytes, dialect) {
      const stream = sluice.open({ tool: "work", namespace: "bench", dialect });
      await stream.write(bytes);
      const { artifacts } = await stream.close();
      return artifacts;
    },
    // Each call stores what it has anew.
    forget: (artifacts) => Promise.all(artifacts.map(({ id }) => store.delete(id))),
  };
}

const decoder = new TextDecoder();
const plain = {
  async call(bytes) {
    JSON.stringify(JSON.parse(decoder.decode(bytes)));
    return [];
  },
  async forget() {},
};

const sides = {
  new: await build(join(root, "dist")),
  old: values.against === undefined ? plain : await build(resolve(values.against)),
};

/** CPU time of a call in µs, of as many as it takes to tell. */
async function batch({ call, forget }, bytes, dialect) {
  globalThis.gc?.();
  let [used, calls] = [0, 0];
  while (used < BATCH && calls < MOST_CALLS) {
    const start = process.cpuUsage();
    let artifacts = await call(bytes, dialect);
    let burst = 1;
    for (; artifacts.length === 0 && burst < BURST; burst += 1) artifacts = await call(bytes, dialect);
    const { user, system } = process.cpuUsage(start);
    used += user + system;
    calls += burst;
    await forget(artifacts);
  }
  return used / calls;
}

/** Both sides in turn, each as often first as the other. */
async function compared(bytes, dialect) {
  const times = { new: [], old: [] };
  for (let round = -1; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? ["new", "old"] : ["old", "new"]) {
      const time = await batch(sides[side], bytes, dialect);
      if (round >= 0) times[side].push(time);
    }
  }
  const [ours, theirs] = [lowerQuartile(times.new), lowerQuartile(times.old)];
  return { new: ours, old: theirs, ratio: ours / theirs };
}

/** What looks slower is measured again: noise looks so once. */
async function measured(bytes, dialect) {
  const first = await compared(bytes, dialect);
  if (values.against === undefined || first.ratio <= SLOWER) return first;
  const second = await compared(bytes, dialect);
  return second.ratio < first.ratio ? second : first;
}

const micros = (value) => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en"));

const results = [];
for (const { name, bytes } of shapesOf(Number(values.seed))) {
  process.stderr.write(`measuring ${name} …\n`);
  const result = { name, bytes: bytes.length };
  for (const dialect of DIALECTS) result[dialect] = await measured(bytes, dialect);
  results.push(result);
}

const against = values.against === undefined ? "plain" : "before";
const head = ["shape", "bytes", ...DIALECTS.flatMap((dialect) => [`${dialect}, ${against}`, "now", "×"])];
const cells = ({ old, new: now, ratio }) => [micros(old), micros(now), ratio.toFixed(2)];
const lines = results.map((result) => [
  result.name,
  result.bytes.toLocaleString("en"),
  ...DIALECTS.flatMap((dialect) => cells(result[dialect])),
]);
const table = markdown(head, lines, { numbers: true });
console.log(table);
if (values.against !== undefined) {
  const slower = results.flatMap(({ name, ...seen }) =>
    DIALECTS.filter((dialect) => seen[dialect].ratio > SLOWER).map((dialect) => `${name} (${dialect})`),
  );
  console.log(`Slower by more than 10 %: ${slower.length === 0 ? "none" : slower.join("; ")}.`);
}
keep("bench-shapes.json", { rounds, ...values, results });
if (values.write) writeDown("bench:shapes", table);
