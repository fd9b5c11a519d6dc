/**
 * `npm run bench:calls`: 1,000 calls of mixed real results, the same mix in every run. Each is parsed and written by `JSON.parse` and
 * `JSON.stringify`, then reduced in both dialects, in turn in one process. `--write` puts the table into the documentation.
 * @module
 */
import { parseArgs } from "node:util";
import { createSluice, MemoryArtifactStore } from "../../../dist/node.js";
import { inFolder, keep, markdown, median, writeDown } from "../measure.mjs";
import { numbers } from "../random.mjs";
import { realResults } from "./results.mjs";

const CALLS = 1000;
const SEED = 26;

const { values } = parseArgs({ options: { quick: { type: "boolean" }, write: { type: "boolean" } } });
const rounds = values.quick ? 3 : 9;

/** Keeps nothing from call to call: each stores what it has as the first one did. */
const store = new MemoryArtifactStore({ retention: null });
const sluice = await createSluice({ store });

/** What is compared. Each gives what it took in µs, and the text that it made. */
const WAYS = {
  plain({ text }) {
    const start = performance.now();
    const made = JSON.stringify(JSON.parse(text));
    return { time: (performance.now() - start) * 1000, made };
  },
  observation: (shape) => reduced(shape, "observation"),
  mcp: (shape) => reduced(shape, "mcp"),
};

async function reduced({ bytes, tool, namespace }, dialect) {
  const start = performance.now();
  const stream = sluice.open({ tool, namespace, dialect });
  await stream.write(bytes);
  const { text: made, artifacts } = await stream.close();
  const time = (performance.now() - start) * 1000;
  for (const { id } of artifacts) await store.delete(id);
  return { time, made };
}

/** All results, with the times of each way, round by round. */
async function measured(shapes) {
  const { one } = numbers(SEED);
  const mix = Array.from({ length: CALLS }, () => one(shapes));
  const totals = [];
  // The first rounds compile.
  for (let round = -2; round < rounds; round += 1) {
    process.stderr.write(`round ${round + 3} of ${rounds + 2} …\n`);
    const total = { plain: 0, observation: 0, mcp: 0 };
    for (const shape of mix) {
      for (const [way, go] of Object.entries(WAYS)) {
        const { time, made } = await go(shape);
        shape[way].chars = made.length;
        if (round >= 0) shape[way].times.push(time);
        total[way] += time;
      }
    }
    if (round >= 0) totals.push(total);
  }
  return { totals, mix };
}

const shapeOf = ({ name, server, tool, text }) => {
  const seen = Object.fromEntries(Object.keys(WAYS).map((way) => [way, { times: [], chars: 0 }]));
  return { name, namespace: server, tool, text, bytes: Buffer.from(text), ...seen };
};

const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 0 });
const micros = (value) => (value < 10 ? value.toFixed(1) : number(value));
const times = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(0));

/** One line of the table: medians of a shape, or of whole rounds. */
function lineOf({ name, bytes, calls, plain, observation, mcp, chars }) {
  const cells = [micros(plain), micros(observation), micros(mcp), times(observation / plain), times(mcp / plain)];
  return [name, number(bytes), number(calls), ...cells, number(chars.observation), number(chars.mcp)];
}

const typical = (shape, way) => median(shape[way].times);

function rowsOf(shapes, { totals, mix }) {
  const rows = shapes.map((shape) => ({
    name: shape.name,
    bytes: shape.bytes.length,
    calls: mix.filter((each) => each === shape).length,
    plain: typical(shape, "plain"),
    observation: typical(shape, "observation"),
    mcp: typical(shape, "mcp"),
    chars: { observation: shape.observation.chars, mcp: shape.mcp.chars },
  }));
  const sum = (what) => rows.reduce((all, row) => all + what(row) * row.calls, 0);
  const all = {
    name: "all",
    bytes: sum(({ bytes }) => bytes),
    calls: CALLS,
    plain: median(totals.map(({ plain }) => plain)),
    observation: median(totals.map(({ observation }) => observation)),
    mcp: median(totals.map(({ mcp }) => mcp)),
    chars: { observation: sum(({ chars }) => chars.observation), mcp: sum(({ chars }) => chars.mcp) },
  };
  return [...rows, all];
}

const HEAD = [
  "result",
  "bytes",
  "calls",
  "plain",
  "observation",
  "mcp",
  "×",
  "×, mcp",
  "characters",
  "characters, mcp",
];

await inFolder(async (folder) => {
  process.stderr.write("calling the servers …\n");
  const shapes = (await realResults(folder)).map(shapeOf);
  const rows = rowsOf(shapes, await measured(shapes));
  const table = markdown(HEAD, rows.map(lineOf), { numbers: true });
  console.log(table);
  keep("bench-calls.json", { rounds, rows });
  if (values.write) writeDown("bench:calls", table);
});
