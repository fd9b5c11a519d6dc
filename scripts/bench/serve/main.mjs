/**
 * `npm run bench:serve`: what is promised about `sluice serve` under load, on loopback. `--quick` takes a tenth of it.
 * @module
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inFolder, pdfOf } from "../measure.mjs";
import { report } from "../report.mjs";
import { Served } from "./client.mjs";
import { downloads } from "./downloads.mjs";
import { listeners } from "./listeners.mjs";
import { sessions } from "./sessions.mjs";

const share = process.argv.includes("--quick") ? 10 : 1;

/** 10 MB, as it is said. */
const bytes = pdfOf(10).subarray(0, 10_000_000);

/** Each step has a server of its own: memory that one left behind is not another's. */
const served = (use) =>
  inFolder(async (folder) => {
    const file = join(folder, "plain");
    writeFileSync(file, bytes);
    const server = await Served.start(join(folder, "store"), file);
    try {
      return await use(server);
    } finally {
      await server.stop();
    }
  });

const counts = { downloads: 500 / share, listeners: share === 1 ? 2000 : 208, sessions: 1000 / share };

await report("bench-serve.json", 1, [
  {
    work: `${counts.downloads} downloads of 10 MB at once`,
    measure: () => served((server) => downloads(server, bytes, counts.downloads)),
  },
  {
    work: `${counts.listeners} listeners to events`,
    measure: () => served((server) => listeners(server, counts.listeners)),
  },
  {
    work: `${counts.sessions} sessions of 100 artifacts`,
    measure: () => served((server) => sessions(server, counts.sessions, 100)),
  },
]);
