/** The same contents in sessions of several processes, stored, ended, expired and collected at once. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FileArtifactStore } from "../../../../web/src/node.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import { BUCKET, CREDENTIALS, TestS3 } from "../../artifacts/s3/ceph.js";
import { emptyFolder } from "../../../support/folder.js";
import { amount } from "../../../support/full.js";
import { linesIn, printed, programOf } from "../../../support/program.js";

const PROCESSES = ["1", "2", "3"];
const SECONDS = String(amount(3, 12));
const MOST_ROUNDS = 8;
const program = programOf(new URL("program.ts", import.meta.url));

async function run(...words: readonly string[]): Promise<readonly string[]> {
  const child = program.start(...words);
  const text = await printed(child);
  if (child.exitCode !== 0) throw new Error(`the program ended with ${String(child.exitCode)}`);
  return linesIn(text);
}

/** Whether enough went well for what went wrong to mean something. */
function isEnough(lines: readonly string[]): boolean {
  const same = lines.filter((line) => line === "same").length;
  return same > amount(20, 60) && lines.some((line) => /^took [1-9]/.test(line));
}

/** What went wrong in processes over one place; again while a busy machine did too little. */
async function outcomeOf(place: string, seeds: readonly string[]): Promise<object> {
  const lines: string[] = [];
  for (let round = 0; round < MOST_ROUNDS && !isEnough(lines); round += 1) {
    lines.push(...(await Promise.all(seeds.map((seed) => run(place, seed, SECONDS)))).flat());
  }
  const wrong = lines.filter((line) => !/^(?:same|late|took \d+)$/.test(line));
  return { wrong, isEnough: isEnough(lines) };
}

// Eight rounds of twelve seconds, and three processes to start for each.
const PATIENCE = { timeout: 300_000 };

test(
  "in a folder, a download is what was stored, whoever ends, expires or collects the same meanwhile",
  PATIENCE,
  async () => {
    const folder = join(await emptyFolder(), "store");
    expect(await outcomeOf(folder, PROCESSES)).toEqual({ wrong: [], isEnough: true });
    // What is left goes with the time, and nothing is left of it.
    const store = new FileArtifactStore(folder, { sweepAfter: 0 });
    await new RetainingArtifactStore(store, { ttl_seconds: 1 }, { clock: () => Date.now() + 60_000 }).collect();
    await store.gc();
    const blobs = (await readdir(join(folder, "blobs"), { recursive: true })).filter((name) => name.length > 10);
    expect(blobs).toEqual([]);
  },
);

test("in a bucket it is the same", PATIENCE, async () => {
  await using s3 = await TestS3.started();
  const place = { bucket: BUCKET, prefix: s3.prefix(), endpoint: s3.endpoint, credentials: CREDENTIALS };
  expect(await outcomeOf(JSON.stringify(place), PROCESSES.slice(1))).toEqual({ wrong: [], isEnough: true });
});
