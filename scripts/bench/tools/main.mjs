/**
 * `npm run bench:tools`: the targets of ToolNode. `--quick` runs fewer rounds.
 * @module
 */
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { MemoryArtifactStore } from "../../../dist/node.js";
import { ToolNode } from "../../../dist/tools-node.js";
import { median, report } from "../measure.mjs";

const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));
const EVERYTHING = fileURLToPath(
  new URL("../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

/** Most time in seconds that connecting may take. */
const CONNECT = 2;

/** Most time in ms that a call may take longer. */
const ADDED = 2;

/** Calls that a source is given at a time. */
const LIMIT = 10;

/** The servers that are connected, with their arguments. */
const SERVERS = { small: [SERVER], everything: [EVERYTHING, "stdio"] };

async function connected([script, ...args], config = {}) {
  const connection = [process.execPath, script, ...args].map((word) => `"${word}"`).join(" ");
  const node = new ToolNode(
    { name: "bench", transport: "mcp", connection, ...config },
    { store: new MemoryArtifactStore() },
  );
  await node.connect();
  return node;
}

async function bare([script, ...args]) {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [script, ...args] }));
  await client.listTools();
  return client;
}

async function timed(work) {
  const start = performance.now();
  const result = await work();
  return { time: performance.now() - start, result };
}

/** From nothing to the list of tools, in turn with the SDK's client. The first has the core to load too. */
async function connect(server, rounds) {
  const seen = [];
  for (let round = 0; round < rounds; round += 1) {
    const ours = await timed(() => connected(server));
    await ours.result.close();
    const plain = await timed(() => bare(server));
    await plain.result.close();
    seen.push({ ours: ours.time, plain: plain.time });
  }
  const times = seen.map(({ ours }) => ours);
  const seconds = median(times) / 1000;
  const plain = median(seen.map((each) => each.plain)) / 1000;
  return {
    seen: `${seconds.toFixed(2)} s, at most ${(Math.max(...times) / 1000).toFixed(2)} s (${plain.toFixed(2)} s without us)`,
    bar: `< ${CONNECT} s`,
    met: seconds < CONNECT,
    rounds: seen,
  };
}

/** What a call of 1 KB takes longer, call by call in turn, each over a server of its own. */
async function overhead(calls) {
  const node = await connected(SERVERS.small);
  const client = await bare(SERVERS.small);
  const ours = [];
  const plain = [];
  for (let call = 0; call < calls; call += 1) {
    plain.push((await timed(() => client.callTool({ name: "small", arguments: {} }))).time);
    ours.push((await timed(() => node.call("small"))).time);
  }
  await node.close();
  await client.close();
  // What is compiled first is not what hosts wait for.
  const settled = calls / 10;
  const [with_, without] = [median(ours.slice(settled)), median(plain.slice(settled))];
  const added = with_ - without;
  return {
    seen: `+${added.toFixed(2)} ms (${with_.toFixed(2)} ms against ${without.toFixed(2)} ms)`,
    bar: `< ${ADDED} ms`,
    met: added < ADDED,
    ours: with_,
    plain: without,
  };
}

/** So many calls at once: each is answered, and the server never has more than the limit. */
async function concurrent(calls) {
  const node = await connected(SERVERS.small, { max_concurrency: LIMIT });
  const numbers = Array.from({ length: calls }, (_, number) => number);
  const { time, result } = await timed(() => Promise.all(numbers.map((number) => node.call("slow", { number }))));
  const most = Number((await node.call("most")).value);
  await node.close();
  const lost = result.filter(({ value }, number) => value !== String(number)).length;
  return {
    seen: `${most} at a time, ${lost} lost, ${time.toFixed(0)} ms`,
    bar: `≤ ${LIMIT} at a time, none lost`,
    met: most <= LIMIT && lost === 0,
    most,
    lost,
    time,
  };
}

const rounds = process.argv.includes("--quick") ? 3 : 9;

const steps = [
  { work: "connecting a local stdio server", measure: () => connect(SERVERS.small, rounds) },
  { work: "connecting server-everything", measure: () => connect(SERVERS.everything, rounds) },
  { work: "a call of 1 KB", measure: () => overhead(200 * rounds) },
  { work: "200 calls over a limit of 10", measure: () => concurrent(200) },
];

await report("bench-tools.json", rounds, steps);
