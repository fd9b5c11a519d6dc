/** The lock of a collector, in every state in which it may be found. */
import { mkdir, mkdtemp, readdir, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { isStale, temporaryName } from "../../../web/src/artifacts/file/plain.js";

const HOUR = 3_600_000;
let root: string;
let lock: string;
let store: FileArtifactStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sluice-lock-"));
  lock = join(root, "collector.lock");
  store = new FileArtifactStore(root);
  await store.putText("x");
});
afterEach(() => rm(root, { recursive: true }));

const work = (): Promise<string> => Promise.resolve("done");

/** A lock with these words in it, written so many milliseconds ago. */
async function locked(words: string, age: number): Promise<void> {
  await writeFile(lock, words);
  const then = new Date(Date.now() - age);
  await utimes(lock, then, then);
}

const mine = temporaryName();
const ofDead = mine.replace(/-\d+-/, "-4194305-");
const ofOtherHost = mine.replace(/^[0-9a-f]{8}/, "00000000");

test.each([
  ["of a living process", mine, 2 * HOUR, null],
  ["of a dead one", ofDead, 0, "done"],
  ["of a dead one, from before the clock was put back", ofDead, -2 * HOUR, "done"],
  ["of another host", ofOtherHost, 2 * HOUR, null],
  ["of another host, a day old", ofOtherHost, 25 * HOUR, "done"],
  ["that is being written", "", 0, null],
  ["that nobody wrote", "", HOUR, "done"],
  ["that is cut short", mine.slice(0, 9), HOUR, "done"],
  ["of no process, just now", "anything", 0, null],
  ["of no process", "anything", HOUR, "done"],
])("a lock %s", async (_, words, age, outcome) => {
  await locked(words, age);
  expect(await store.exclusively(work)).toBe(outcome);
  expect((await readdir(root)).includes("collector.lock")).toBe(outcome === null);
  expect(await readdir(join(root, "tmp"))).toEqual([]);
});

describe("what is no lock", () => {
  test.each([
    ["a folder", () => mkdir(lock), "E_STORE_DENIED"],
    ["a symbolic link", () => symlink("/etc/passwd", lock), "E_STORE_DENIED"],
    ["a gigabyte", () => writeFile(lock, "").then(() => truncate(lock, 1e9)), "E_STORE_CORRUPT"],
  ])("%s is a coded error without a path, and costs no put", async (_, make, code) => {
    await make();
    const failure = await store.exclusively(work).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "SluiceError", code });
    expect(String(failure)).not.toContain(root);
    expect(await store.putText("y")).toMatchObject({ size_bytes: 1 });
  });

  test("that takes the lock's place during the work does not cost its outcome", async () => {
    const outcome = await store.exclusively(async () => {
      await rm(lock);
      await mkdir(lock);
      return "done";
    });
    expect(outcome).toBe("done");
  });
});

test("work that fails gives the lock back, and its own error", async () => {
  await expect(store.exclusively(() => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
  expect(await store.exclusively(work)).toBe("done");
});

test("threads that differ by a moment about when their process began are one process", async () => {
  const begun = mine.split("-")[2] ?? "";
  for (const off of [-20, -1, 1, 20]) {
    const theirs = mine.replace(`-${begun}-`, `-${(parseInt(begun, 36) + off).toString(36)}-`);
    expect(isStale(theirs, 2 * HOUR)).toBe(false);
  }
  const worker = new Worker("require('worker_threads').parentPort.postMessage(Date.now() - process.uptime() * 1000)", {
    eval: true,
  });
  const there = await new Promise<number>((resolve) => worker.once("message", resolve));
  expect(Math.abs(there - parseInt(begun, 36))).toBeLessThan(1_000);
});
