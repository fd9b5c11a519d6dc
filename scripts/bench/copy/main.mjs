/**
 * `npm run bench:copy`: how long `sluice store copy` takes, and how much memory: for many small artifacts, and for a large one.
 * `--small N` and `--large BYTES` say how many and how large; `--bucket s3://B/P` copies to a bucket and back as well, with
 * credentials and AWS_ENDPOINT_URL from the environment.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FileArtifactStore } from "../../../dist/node.js";
import { root } from "../../run.mjs";
import { inFolder } from "../measure.mjs";

const given = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const SMALL = Number(given("small", "20000"));
const LARGE = Number(given("large", "1073741824"));
const BUCKET = given("bucket", undefined);

/** Bytes of a small artifact. */
const BYTES = 1000;
const WRITERS = 16;
/** Of Linux, in a second. */
const TICKS = 100;

/** Copies, and gives the seconds that took, those of the processor, the peak of memory in MB, and the report. */
async function copied(source, target) {
  const began = performance.now();
  const command = [join(root, "dist/cli/main.js"), "store", "copy", source, target, "--json"];
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece) => (text += piece));
  let [peak, processor] = [0, 0];
  const ended = once(child, "close").then(() => "ended");
  while ((await Promise.race([ended, sleep(50)])) !== "ended") {
    const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
    const stat = await readFile(`/proc/${child.pid}/stat`, "utf8").catch(() => "");
    const ticks = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    processor = Math.max(processor, ticks.reduce((sum, each) => sum + each, 0) / TICKS);
  }
  const seconds = (performance.now() - began) / 1000;
  const [{ copied: number, passes, faults }] = JSON.parse(text).stores;
  return { seconds, processor, peak, number, passes, faults: faults.length };
}

async function filled(folder) {
  const store = new FileArtifactStore(folder);
  const buffer = Buffer.alloc(BYTES, "x");
  let next = 0;
  const write = async () => {
    while (next < SMALL) {
      const number = next++;
      const bytes = Buffer.from(buffer);
      bytes.write(String(number));
      await store.putBytes(bytes, { filename: `file ${number}`, scope: { user_id: `u${number % 100}` } });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

async function large(folder) {
  const writer = await new FileArtifactStore(folder).openWriter({ filename: "large.bin" });
  const piece = Buffer.alloc(1024 * 1024);
  for (let at = 0; at < LARGE; at += piece.length) {
    piece.writeUInt32BE(at / piece.length);
    await writer.write(piece.subarray(0, Math.min(piece.length, LARGE - at)));
  }
  await writer.close();
}

function row(what, { seconds, processor, peak, number, passes, faults }) {
  const times = `${seconds.toFixed(1)} s | ${processor.toFixed(1)} s`;
  console.log(`| ${what} | ${number} in ${passes} passes, ${faults} faults | ${times} | ${Math.round(peak)} MB |`);
}

console.log("| copy | copied | time | of the processor | memory |\n| --- | --- | --- | --- | --- |");
await inFolder(async (folder) => {
  for (const { name, fill } of [
    { name: `${SMALL} small artifacts`, fill: filled },
    { name: `one artifact of ${Math.round(LARGE / 1024 ** 2)} MiB`, fill: large },
  ]) {
    const source = join(folder, name, "source");
    await fill(source);
    const target = join(folder, name, "target");
    row(`${name}, folder to folder`, await copied(source, target));
    row("once more", await copied(source, target));
    if (BUCKET === undefined) continue;
    const bucket = `${BUCKET}/${fill.name}`;
    row(`${name}, folder to bucket`, await copied(source, bucket));
    row("once more", await copied(source, bucket));
    row(`${name}, bucket to folder`, await copied(bucket, join(folder, name, "back")));
  }
});
