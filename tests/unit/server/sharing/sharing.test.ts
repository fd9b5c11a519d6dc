/** The same contents in sessions of several processes, stored, ended, expired and collected at once. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileArtifactStore } from "../../../../web/src/node.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import { BUCKET, CREDENTIALS, TestS3 } from "../../artifacts/s3/ceph.js";
import { bundled, type Program } from "./bundled.js";
import { amount, isFull } from "../../../support/full.js";

const PROCESSES = ["1", "2", "3"];
const SECONDS = String(amount(4, 12));
let program: Program;
let root: string;
beforeAll(async () => {
  program = await bundled("program");
  root = await mkdtemp(join(tmpdir(), "sluice-sharing-"));
});
afterAll(async () => {
  await program[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

/** What went wrong, and whether enough went well for that to mean something. */
function outcomeOf(lines: readonly string[]): object {
  const same = lines.filter((line) => line === "same").length;
  const taken = lines.filter((line) => /^took [1-9]/.test(line)).length;
  const wrong = lines.filter((line) => !/^(?:same|late|took \d+)$/.test(line));
  return { wrong, isEnough: same > amount(20, 60) && taken > 0 };
}

test("in a folder, a download is what was stored, whoever ends, expires or collects the same meanwhile", async () => {
  const folder = join(root, "store");
  const all = await Promise.all(PROCESSES.map((seed) => program.run(folder, seed, SECONDS)));
  expect(outcomeOf(all.flat())).toEqual({ wrong: [], isEnough: true });
  // What is left goes with the time, and nothing is left of it.
  const store = new FileArtifactStore(folder, { sweepAfter: 0 });
  await new RetainingArtifactStore(store, { ttl_seconds: 1 }, { clock: () => Date.now() + 60_000 }).collect();
  await store.gc();
  const blobs = (await readdir(join(folder, "blobs"), { recursive: true })).filter((name) => name.length > 10);
  expect(blobs).toEqual([]);
});

test.runIf(isFull)("in a bucket it is the same", async () => {
  await using s3 = await TestS3.started();
  const place = { bucket: BUCKET, prefix: s3.prefix(), endpoint: s3.endpoint, credentials: CREDENTIALS };
  const all = await Promise.all(PROCESSES.slice(1).map((seed) => program.run(JSON.stringify(place), seed, SECONDS)));
  expect(outcomeOf(all.flat())).toEqual({ wrong: [], isEnough: true });
});
