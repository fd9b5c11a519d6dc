/**
 * `npm run drill`: a day of `sluice serve` in minutes, and what is left of it. `-- --scale 0.02` makes it smaller, `-- --twice` has a
 * second day in the same processes, `-- --part folder` (or `bucket`, `disk`) runs one part, `-- --write` puts the figures into
 * docs/drill.md, with those of parts that ran before at the same scale. Exits with 1 when something does not hold.
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dayOf } from "./day.mjs";
import { fullDisk } from "./disk.mjs";
import { verdicts } from "./judge.mjs";
import { keptWith, print, summaryOf, writeFigures } from "./report.mjs";
import { Stack } from "./stack.mjs";

/**
 * Sessions and large downloads of a whole day. A session has twenty artifacts. What S3 does costs a service on the same two cores
 * some forty times what a folder does, so most of the day is over a folder, and S3 fails in the other part.
 */
const PARTS = {
  folder: { sessions: 9_700, downloads: 500 },
  bucket: { sessions: 300, downloads: 60 },
};

/** Sessions at the same time. */
const AT_ONCE = 24;

/** Seconds of rest, in which what is idle is let go: longer than idle connections are kept. */
const REST = 35;

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    part: { type: "string", multiple: true, default: ["folder", "bucket", "disk"] },
    twice: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
const scale = Number(values.scale);
if (!(scale > 0 && scale <= 10)) throw new Error("--scale is a number above 0, such as 0.02");

const begun = performance.now();
const say = (what) =>
  process.stderr.write(`${((performance.now() - begun) / 1000).toFixed(0).padStart(5)} s  ${what}\n`);

/** One part: a day, or two in a row. */
async function part(name, folder) {
  const { sessions, downloads } = PARTS[name];
  const asked = {
    scale,
    sessions: Math.ceil(sessions * scale),
    downloads: Math.ceil(downloads * scale),
    atOnce: AT_ONCE,
    rest: scale < 0.1 ? 6 : REST,
    say: (what) => say(`${name}: ${what}`),
  };
  const stack = await Stack.started(join(folder, name), { store: name });
  try {
    const days = [];
    for (let day = 1; day <= (values.twice ? 2 : 1); day += 1) {
      const seen = await dayOf(stack, asked);
      const isSecond = day > 1;
      const title = `${name}${isSecond ? ", the second day" : ""}`;
      days.push({ part: name, isSecond, ...summaryOf(title, seen, verdicts(seen), days[0]) });
    }
    return days;
  } finally {
    await stack[Symbol.asyncDispose]();
  }
}

const folder = mkdtempSync(join(tmpdir(), "sluice-drill-"));
const ended = async () => {
  rmSync(folder, { recursive: true, force: true });
};
process.once("SIGINT", () => process.exit(130));
try {
  const days = [];
  for (const name of values.part) {
    mkdirSync(join(folder, name), { recursive: true });
    if (name === "disk") days.push({ part: name, name, verdicts: (await fullDisk(join(folder, name), say)).rows });
    else if (Object.hasOwn(PARTS, name)) days.push(...(await part(name, folder)));
    else throw new Error(`--part is folder, bucket or disk, and not ${name}`);
  }
  print({ scale, days });
  const all = keptWith({ scale, days });
  if (values.write) writeFigures(all);
  if (days.some(({ verdicts: rows }) => rows.some(({ met }) => !met))) process.exitCode = 1;
} finally {
  await ended();
}
// Connections that are kept for later are not waited for.
process.exit();
