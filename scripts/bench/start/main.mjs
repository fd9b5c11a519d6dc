/**
 * `npm run bench:start`: how long a host waits for a server, plain and behind `sluice proxy` in turn, and the processor time of both until
 * tools are listed. `--quick` runs fewer rounds.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../../run.mjs";
import { inFolder, lowerQuartile, median, report } from "../measure.mjs";

/** Seconds that `initialize` may be answered later. */
const LATER = 0.15;

/** Times the processor time of the server alone, at most. A process of Node that does nothing is once that of the first one. */
const WORK = { "a server of one file": 3, "server-everything": 2 };

const rounds = process.argv.includes("--quick") ? 5 : 25;

const PROXY = [process.execPath, join(root, "dist/cli/main.js"), "proxy", "--store"];

/** Servers: one that loads nothing, and one with the official SDK. */
const SERVERS = {
  "a server of one file": join(root, "scripts/bench/proxy/server.mjs"),
  "server-everything": join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"),
};

const INITIALIZE = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** Seconds until a command answers `initialize`, and of the processor until it has listed its tools and ended. */
async function start(command) {
  const from = performance.now();
  // The shell counts what the command and its children took.
  const timed = ["-c", 'TIMEFORMAT="%U %S"; time "$@" 2>/dev/null', "bash", ...command];
  const child = spawn("bash", timed, { stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send(INITIALIZE);
  await lines.next();
  const initialize = (performance.now() - from) / 1000;
  send({ method: "notifications/initialized" });
  send({ id: 1, method: "tools/list", params: {} });
  await lines.next();
  child.stdin.end();
  await once(child, "close");
  const [user, system] = said.trim().split(/\s+/).map(Number);
  return { initialize, processor: user + system };
}

/** Plain and behind in turn, so that both see the same machine. */
async function compare(server, folder) {
  const plain = [process.execPath, server, "stdio"];
  const behind = [...PROXY, folder, "--", ...plain];
  for (const command of [plain, behind]) await start(command);
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    times.push({ plain: await start(plain), behind: await start(behind) });
  }
  return times;
}

const seconds = (number) => `${number.toFixed(2)} s`;

await inFolder(async (folder) => {
  const steps = Object.entries(SERVERS).flatMap(([name, server]) => {
    let times;
    return [
      {
        work: `initialize, ${name}`,
        measure: async () => {
          times = await compare(server, folder);
          // What else runs on the machine only ever adds.
          const later = lowerQuartile(times.map(({ plain, behind }) => behind.initialize - plain.initialize));
          const ratio = median(times.map(({ plain, behind }) => behind.initialize / plain.initialize));
          const alone = median(times.map(({ plain }) => plain.initialize));
          const seen = `${seconds(later)} later than ${seconds(alone)}, ${ratio.toFixed(2)} ×`;
          return { seen, bar: `≤ ${seconds(LATER)} later`, met: later <= LATER, times };
        },
      },
      {
        work: `processor time, ${name}`,
        measure: () => {
          const ratio = median(times.map(({ plain, behind }) => behind.processor / plain.processor));
          const [alone, both] = ["plain", "behind"].map((way) => median(times.map((each) => each[way].processor)));
          const seen = `${seconds(both)} against ${seconds(alone)}, ${ratio.toFixed(2)} ×`;
          return { seen, bar: `≤ ${WORK[name]} ×`, met: ratio <= WORK[name], ratio };
        },
      },
    ];
  });
  await report("bench-start.json", rounds, steps);
});
