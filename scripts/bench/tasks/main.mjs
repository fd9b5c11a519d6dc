/**
 * `npm run bench:tasks`: thirty tasks over servers' results, each solved by a script in three ways, as a table in Markdown. `--only ID`
 * takes one task (or several, with commas); `--model NAME --base-url URL` lets a model solve them behind Sluice instead, through an
 * OpenAI-compatible API whose key is in `OPENAI_API_KEY`; `--json FILE` says where to write what was seen, else `build/tasks.json`;
 * `--command FILE` tries an installed package: `node_modules/mcp-sluice/dist/cli/main.js`.
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../run.mjs";
import { inFolder, median } from "../measure.mjs";
import { askModel } from "./model.mjs";
import { TASKS } from "./tasks.mjs";
import { Bench, WAYS } from "./ways.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    json: { type: "string" },
    command: { type: "string" },
    model: { type: "string" },
    "base-url": { type: "string", default: "https://api.openai.com/v1" },
  },
});

const number = (value) => value.toLocaleString("en");
const share = (part, whole) => `${((100 * part) / whole).toFixed(part / whole < 0.001 ? 3 : 2)} %`;
const line = (cells) => `| ${cells.join(" | ")} |`;
const mark = ({ isSolved, why }) => (isSolved ? "yes" : `no (${why})`);

function chosen() {
  if (values.only === undefined) return TASKS;
  const ids = values.only.split(",");
  const unknown = ids.filter((id) => !TASKS.some((task) => task.id === id));
  if (unknown.length > 0)
    throw new Error(`There is no task ${unknown.join(", ")}. There are: ${TASKS.map(({ id }) => id).join(", ")}`);
  return TASKS.filter(({ id }) => ids.includes(id));
}

function total(results, way) {
  return {
    solved: results.filter((result) => result[way].isSolved).length,
    calls: results.reduce((sum, result) => sum + result[way].calls, 0),
    tokens: results.reduce((sum, result) => sum + result[way].tokens, 0),
  };
}

const COLUMNS = ["calls", "tokens", "solved"];

function print(results, definitions) {
  const head = ["a", "b", "c"].flatMap((letter) => COLUMNS.map((column) => `(${letter}) ${column}`));
  console.log(line(["task", ...head, "(c) of (a)"]));
  console.log(line(["---", ...WAYS.flatMap(() => ["--:", "--:", "---"]), "--:"]));
  for (const result of results) {
    const seen = WAYS.flatMap((way) => [result[way].calls, number(result[way].tokens), mark(result[way])]);
    console.log(line([`\`${result.id}\``, ...seen, share(result.sluice.tokens, result.context.tokens)]));
  }
  const totals = WAYS.map((way) => total(results, way));
  const sums = totals.flatMap(({ calls, tokens, solved }) => [number(calls), number(tokens), solved]);
  console.log(line([`all ${results.length}`, ...sums, share(totals[2].tokens, totals[0].tokens)]));
  const shares = results.map(({ context, sluice }) => sluice.tokens / context.tokens);
  console.log(
    `\n(c) of (a), of single tasks: ${share(median(shares), 1)} in the middle, ${share(Math.max(...shares), 1)} at most.`,
  );
  const { read, edit, instructions } = definitions;
  console.log(
    `Once, whatever is asked: ${number(read + edit + instructions)} tokens (artifact_read ${read}, artifact_edit ${edit}, instructions ${instructions}).`,
  );
}

async function scripted(bench, tasks) {
  const results = [];
  for (const task of tasks) {
    const result = { id: task.id };
    for (const way of WAYS) {
      process.stderr.write(`${task.id}: ${way} …\n`);
      result[way] = await bench.solve(task, way);
    }
    results.push(result);
  }
  const definitions = await bench.definitions();
  print(results, definitions);
  return { results, definitions };
}

async function asked(bench, tasks) {
  const results = [];
  for (const task of tasks) {
    process.stderr.write(`${task.id}: ${values.model} …\n`);
    const options = { model: values.model, baseUrl: values["base-url"], apiKey: process.env.OPENAI_API_KEY };
    results.push({ id: task.id, ...(await askModel(bench, task, options)) });
  }
  console.log(line(["task", "solved", "calls", "tokens of prompts", "tokens written", "answer"]));
  console.log(line(["---", "---", "--:", "--:", "--:", "---"]));
  for (const { id, isSolved, calls, prompt, written, said } of results) {
    const answer = said.replaceAll(/\s+/g, " ").slice(0, 60).replaceAll("|", "\\|");
    console.log(line([`\`${id}\``, isSolved ? "yes" : "no", calls, number(prompt), number(written), answer]));
  }
  const solved = results.filter(({ isSolved }) => isSolved).length;
  console.log(`\n${solved} of ${results.length} solved by ${values.model}.`);
  return { model: values.model, results };
}

await inFolder(async (folder) => {
  const tasks = chosen();
  const data = join(folder, "data");
  mkdirSync(data);
  const bench = new Bench(data, join(folder, "store"), values.command);
  try {
    const seen = await (values.model === undefined ? scripted(bench, tasks) : asked(bench, tasks));
    mkdirSync(join(root, "build"), { recursive: true });
    writeFileSync(values.json ?? join(root, "build/tasks.json"), `${JSON.stringify(seen, null, 2)}\n`);
  } finally {
    await bench.close();
  }
});
