/**
 * `npm run bench:hosts`: what models get of results, by host and by kind of result, as tables in Markdown. The hosts are the adapters
 * that the tests install, in front of a model that only records.
 * @module
 */
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { inFolder } from "../measure.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const load = async (name) => (await runnerImport(path(`../../../tests/e2e/hosts/${name}`))).module;

const { HOSTS } = await load("adapters.ts");
const { FakeModel } = await load("fake-model.ts");
const { toolResult } = await load("prompts.ts");

const SERVER = path("server.mjs");
const COMMAND = path("../../../dist/cli/main.js");

const KINDS = ["image", "pdf", "csv", "error", "several"];

const proxied = (store, ...options) => {
  const proxy = [COMMAND, "proxy", "--store", store, ...options, "--"];
  return [...proxy, process.execPath, SERVER];
};

/** How the server is started, by what the table says of it. */
const WAYS = {
  "without Sluice": () => [SERVER],
  "behind `sluice proxy`": (store) => proxied(store),
  "behind `sluice proxy --inline-images`": (store) => proxied(store, "--inline-images"),
};

/** What a host's model is given as the result of one call, in words. */
async function given(open, args, tool) {
  const model = await FakeModel.start();
  const host = await open(model.url, [{ command: process.execPath, args }]);
  try {
    model.follow({ call: tool, args: {} }, { say: "done" });
    await host.ask("Go on.");
    return inWords(toolResult(model.prompts[1]));
  } catch (error) {
    return `throws: ${String(error.message).split("\n", 1)[0].slice(0, 60)}`;
  } finally {
    await host[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  }
}

function inWords({ text, images }) {
  const shown = images > 0 ? `${images} shown, ` : "";
  const encoded = /[A-Za-z0-9+/]{400}/.test(text) ? ", bytes as text" : "";
  return `${shown}${Array.from(text).length.toLocaleString("en")}${encoded}`;
}

const line = (cells) => `| ${cells.join(" | ")} |`;

await inFolder(async (store) => {
  for (const [way, argsFor] of Object.entries(WAYS)) {
    console.log(`\nCharacters that a model reads, ${way}:\n`);
    console.log(line(["host", ...KINDS]));
    console.log(line(["---", ...KINDS.map(() => "---")]));
    for (const [name, open] of Object.entries(HOSTS)) {
      const cells = [];
      for (const kind of KINDS) cells.push(await given(open, argsFor(store), kind));
      console.log(line([name, ...cells]));
    }
  }
});
