/** The lock of a collector, in every state in which it may be found. */
import { mkdir, readdir, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { TemporaryFolder } from "../../../web/src/artifacts/file/temporaries.js";
import { endedOwner } from "./ended.js";
import { emptyFolder } from "../../support/folder.js";

const HOUR = 3_600_000;
let root: string;
let lock: string;
let store: FileArtifactStore;
beforeEach(async () => {
  root = await emptyFolder();
  lock = join(root, "collector.lock");
  store = new FileArtifactStore(root);
  await store.putText("x");
});

const work = (): Promise<string> => Promise.resolve("done");

/** A lock with these words in it, written so many milliseconds ago. */
async function locked(words: string, age: number): Promise<void> {
  await writeFile(lock, words);
  const then = new Date(Date.now() - age);
  await utimes(lock, then, then);
}

const ofOtherMachine = `${"1".repeat(12)}-${"1".repeat(16)}`;

test.each([
  ["of another machine", ofOtherMachine, 2 * HOUR, null],
  ["of another machine, a day old", ofOtherMachine, 25 * HOUR, "done"],
  ["that is being written", "", 0, null],
  ["that nobody wrote", "", HOUR, "done"],
  ["that is cut short", ofOtherMachine.slice(0, 9), HOUR, "done"],
  ["of no process, just now", "anything", 0, null],
  ["of no process", "anything", HOUR, "done"],
])("a lock %s", async (_, words, age, outcome) => {
  await locked(words, age);
  expect(await store.exclusively(work)).toBe(outcome);
  expect((await readdir(root)).includes("collector.lock")).toBe(outcome === null);
  expect(await readdir(join(root, "tmp"))).toEqual([]);
});

test("a lock of a process that lives holds, whatever the clock says, and that of one that ended does not", async () => {
  const theirs = await new TemporaryFolder(join(root, "tmp")).path();
  for (const age of [0, 2 * HOUR, -2 * HOUR]) {
    await locked(theirs.owner, age);
    expect(await store.exclusively(work)).toBeNull();
  }
  await theirs.release();
  expect(await store.exclusively(work)).toBe("done");
  await locked(await endedOwner(join(root, "tmp")), 0);
  expect(await store.exclusively(work)).toBe("done");
});

test("a lock holds while its work is done, also against others of the same process", async () => {
  const inner = await store.exclusively(() =>
    Promise.all([store.exclusively(work), new FileArtifactStore(root).exclusively(work)]),
  );
  expect(inner).toEqual([null, null]);
  expect(await store.exclusively(work)).toBe("done");
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
